package catalogue

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

var scriptFlushEntry = Entry{
	Name:     "script-flush",
	Wire:     "SCRIPT FLUSH: the server forgets every cached script, and answers NOSCRIPT to EVALSHA.",
	Survives: "The lock sends the script again, within the same attempt.",
	Default:  faults.Params{Node: faults.RoleAny}, For: ttlTimes(0),
	New: server(serverFault{name: "script-flush", commands: []string{"SCRIPT"}, instant: true, apply: scriptFlush}),
}

// scriptFlush makes a node forget every cached script. It has taken effect when a
// client was answered NOSCRIPT since.
func scriptFlush(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
	const probe = "return 'locktorture'"
	digest, err := testbed.Do(ctx, n, "SCRIPT", "LOAD", probe)
	if err != nil {
		return "", err
	}
	if err := administer(ctx, n, "SCRIPT", "FLUSH"); err != nil {
		return "", err
	}
	if _, err = testbed.Do(ctx, n, "EVALSHA", fmt.Sprint(digest), "0"); err == nil {
		return "", errors.New("SCRIPT FLUSH left a script behind")
	}
	return "", countMisses(ctx, s, n)
}

// countMisses registers a receipt that counts the NOSCRIPT answers that
// clients get from n from here on, until the heal.
func countMisses(ctx context.Context, s *faults.Scope, n testbed.Node) error {
	misses, stop := tapMisses(s, n)
	if before, err := errorsOf(ctx, n, "NOSCRIPT"); err == nil {
		stop()
		misses = func(ctx context.Context) (int64, error) {
			after, err := errorsOf(ctx, n, "NOSCRIPT")
			return after - before, err
		}
		stop = func() {}
	}
	s.ProvedBy(func() bool {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), faults.LookLimit)
		defer cancel()
		count, err := misses(ctx)
		return err == nil && count > 0
	})
	s.OnHeal("refused scripts are counted", "nothing is broken", func(ctx context.Context) (string, error) {
		defer stop()
		count, err := misses(ctx)
		if err != nil || count == 0 {
			return "", err
		}
		return fmt.Sprintf("SCRIPT FLUSH: %s answered NOSCRIPT %d times", n.Name(), count), nil
	})
	return nil
}

// tapMisses counts them on the links, for nodes that keep no such count.
func tapMisses(s *faults.Scope, n testbed.Node) (misses func(context.Context) (int64, error), stop func()) {
	var count atomic.Int64
	var stops []func()
	for _, c := range s.Clients {
		if s.Link == nil {
			break
		}
		if l, ok := s.Link(c.Name(), n.Name()).(link.Tapper); ok {
			stops = append(stops, l.Tap(func(e link.TapEvent) {
				if e.Reply && e.Error && e.Command == "EVALSHA" {
					count.Add(1)
				}
			}))
		}
	}
	return func(context.Context) (int64, error) { return count.Load(), nil }, func() {
		for _, stop := range stops {
			stop()
		}
	}
}

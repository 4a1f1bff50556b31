package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
	"locktorture/lockimpl"
	"locktorture/lockimpl/gallery"
	"locktorture/reports"
	"locktorture/workload/history"
	"locktorture/workload/load"
)

// The canary is a lock that is known to be broken: looking and taking are two
// steps, so that contention alone makes it grant twice. It is planted before
// the load, on the run's own first node, or the master of its key, over the run's own links, and judged by
// a judge of its own with the run's own header. A judge that does not catch it
// would not catch a real one either (V6).
const (
	canaryLock    = "exists-set"
	canaryKey     = "locktorture-canary"
	canaryClients = 6
	canaryHold    = 2 * time.Millisecond
	canaryLimit   = 5 * time.Second
)

// plantCanary runs the canary until it is caught, and records the result.
func (s *session) plantCanary(ctx context.Context) {
	h := s.env.header(s.meta)
	h.Floors, h.Expected, h.Accepted, h.Bounds, h.Quorum, h.Nodes = nil, nil, nil, nil, 1, 1
	judge := checker.New(h, checker.Options{})
	rec := history.NewRecorder(judge)
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, canaryLimit)
	defer cancel()
	err := s.contendForCanary(limited, rec, func() bool { return judge.Live().DoubleGrants > 0 })
	rec.Append(history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseEnd})
	if s.noteTrouble(unlessInterrupted(ctx, errors.Join(err, rec.Err()))); ctx.Err() != nil || err != nil {
		return
	}
	s.canary = canaryVerdict(judge.Finish(context.WithoutCancel(ctx), false), time.Since(began))
	word := "missed"
	if s.canary.Caught {
		word = "caught"
	}
	s.note("canary " + word + ": " + s.canary.String())
}

// canaryVerdict says whether the double grant was proved.
func canaryVerdict(r checker.Report, took time.Duration) *reports.Canary {
	c := &reports.Canary{Mutant: canaryLock}
	for _, f := range r.Violations {
		if f.ID == "S1" {
			c.Caught, c.After = true, took
		}
	}
	return c
}

// contendForCanary has a few clients acquire the broken lock in turns until one sees that time
// is up. Each ends what it has begun.
func (s *session) contendForCanary(ctx context.Context, rec *history.Recorder, over func() bool) error {
	var wg sync.WaitGroup
	errs := make([]error, canaryClients)
	for i := range errs {
		wg.Go(func() { errs[i] = s.canaryClient(ctx, i, rec, over) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (s *session) canaryClient(ctx context.Context, i int, rec *history.Recorder, over func() bool) (err error) {
	key := s.env.cfg.Prefix + canaryKey
	node, err := s.env.keeper(ctx, key)
	if err != nil {
		return fmt.Errorf("plant canary: %w", err)
	}
	locker, err := gallery.ExistsSet()([]lockimpl.Node{s.canaryNode(node, i)})
	if err != nil {
		return fmt.Errorf("plant canary: %w", err)
	}
	defer func() { err = errors.Join(err, locker.Close()) }()
	c := canaryActor{rec: rec, locker: locker, process: rec.NewProcess(), key: key, owner: fmt.Sprintf("canary%d", i), ttl: s.env.cfg.TTL}
	for ctx.Err() == nil && !over() {
		if err := c.cycle(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("plant canary: %w", err)
		}
	}
	return nil
}

// canaryNode is a node as one of the canary's clients sees it: over the
// run's own links, where they are this process's.
func (s *session) canaryNode(node testbed.Node, client int) lockimpl.Node {
	if len(s.env.clients) == 0 {
		return wiring.Direct([]testbed.Node{node})[0]
	}
	l := s.env.link(s.env.clients[client%len(s.env.clients)].Name(), node.Name())
	return wiring.Linked(node, l, l.Dial)
}

// A canaryActor is one client of the canary.
type canaryActor struct {
	rec     *history.Recorder
	locker  lockimpl.Locker
	process int
	key     string
	owner   string
	ttl     time.Duration
}

// cycle acquires the lock, if it is free, holds it and releases it.
func (c *canaryActor) cycle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, canaryLimit)
	defer cancel()
	c.record(history.Acquire, history.Invoke)
	lease, err := c.locker.Acquire(ctx, c.key, c.ttl)
	switch {
	case errors.Is(err, lockimpl.ErrHeld):
		c.record(history.Acquire, history.Fail)
		return load.Sleep(ctx, canaryHold/10)
	case err != nil:
		c.record(history.Acquire, history.Info)
		return err
	}
	c.record(history.Acquire, history.OK)
	err = load.Sleep(ctx, canaryHold)
	c.record(history.Release, history.Invoke)
	if err = errors.Join(err, lease.Release(ctx)); err != nil && !errors.Is(err, lockimpl.ErrLost) {
		c.record(history.Release, history.Info)
		return err
	}
	c.record(history.Release, history.OK)
	return nil
}

func (c *canaryActor) record(op history.Op, kind history.Kind) {
	c.rec.Append(history.Event{Process: c.process, Op: op, Kind: kind, Key: c.key, Owner: c.owner})
}

package run

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
	"locktorture/workload/history/printable"
	"locktorture/workload/store"
)

// cleanLimit bounds the removal of the run's keys from all servers.
const cleanLimit = 30 * time.Second

// admissionKey is where the full lock keeps a node's admission record.
const admissionKey = "lock:node"

// cleanUp removes what the run wrote from servers that live on. They were empty
// when it began. A key that it cannot have written stays, and is named: somebody
// else uses the server.
func (r *environment) cleanUp(ctx context.Context) error {
	if r.bed == nil || r.bed.Name() != testbed.KindExternal {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanLimit)
	defer cancel()
	nodes := append([]testbed.Node{r.bed.Store()}, r.bed.Nodes()...)
	var errs []error
	for _, n := range nodes {
		if err := r.cleanNode(ctx, n); err != nil {
			errs = append(errs, fmt.Errorf("remove the run's keys from %s: %w", n.Addr(), err))
		}
	}
	return errors.Join(errs...)
}

func (r *environment) cleanNode(ctx context.Context, n testbed.Node) (err error) {
	a := wiring.Admin(n)
	defer func() { err = errors.Join(err, a.Close()) }()
	foreign := ""
	for cursor := uint64(0); ; {
		var page []string
		if page, cursor, err = a.Scan(ctx, cursor, "*", 1000).Result(); err != nil {
			return err
		}
		for _, key := range page {
			if !r.wrote(key) {
				foreign = key
			} else if err := a.Unlink(ctx, key).Err(); err != nil {
				return err
			}
		}
		if cursor == 0 {
			break
		}
	}
	if foreign != "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.findings = append(r.findings, fmt.Sprintf("key %s on %s is not of this run, and was left: does somebody else use that server?", printable.Line(foreign), n.Addr()))
	}
	return nil
}

// wrote reports whether a key is one that the run may have written: the guarded
// store's, the canary's, a node's admission record, or any with the name of one
// of the run's resources in it.
func (r *environment) wrote(key string) bool {
	if strings.HasPrefix(key, store.Prefix) || strings.Contains(key, canaryKey) || key == admissionKey {
		return true
	}
	words := strings.FieldsFunc(key, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	for _, w := range words {
		number, is := strings.CutPrefix(w, "k")
		if n, err := strconv.Atoi(number); is && err == nil && n >= 0 && n < r.cfg.Load.Keys {
			return true
		}
	}
	return false
}

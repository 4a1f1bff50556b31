package workload

import (
	"context"
	"fmt"
	"net"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload/history"
	"locktorture/workload/store"
)

// RecordAudit appends the store's own log to the history, one audit event per write, in the
// store's order. Nothing may write to the store meanwhile.
func RecordAudit(ctx context.Context, s *store.Client, rec *history.Recorder) error {
	return s.Audit(ctx, func(entry store.Entry) error {
		rec.Append(auditEvent(&entry))
		return nil
	})
}

func auditEvent(entry *store.Entry) history.Event {
	e := history.Event{
		Process: history.Store, Kind: history.Fail, Op: history.Audit,
		Key: entry.Key, Owner: entry.Owner, Fence: entry.Fence, Value: entry.Value,
		Seq: entry.Seq, Has: history.HasSeq,
	}
	if entry.Accepted {
		e.Kind = history.OK
	}
	if entry.Mode == history.Shared.String() {
		e.Mode = history.Shared
	}
	if entry.Base != 0 {
		e.Base, e.Has = entry.Base, e.Has|history.HasBase
	}
	return e
}

// A Node is a Redis server that can be looked at directly, past every link.
type Node interface {
	Name() string
	Dial(ctx context.Context) (net.Conn, error)
}

// settle is how long after the TTL a key may still expire: the resolution of the servers'
// expiry, and the time for which the last release may be under way.
const settle = 100 * time.Millisecond

// Leftovers looks for lease-bearing keys that outlive their lease. It must be
// called when no client acts any more. It looks twice, at once and when every
// lease has run out, and records a key event for what it finds: the first time
// for what is there, the second time for every key, also an absent one
// (pttl −2). It returns how many were left the second time. A lock that does
// not name its keys gives a *LacksError.
func Leftovers(ctx context.Context, cfg Config, lock lockimpl.Locker, nodes []Node, rec *history.Recorder) (left int, err error) {
	keys, err := leaseKeys(cfg, lock)
	if err != nil {
		return 0, fmt.Errorf("look for leftovers: %w", err)
	}
	if _, err := lookAround(ctx, nodes, keys, rec, false); err != nil {
		return 0, err
	}
	timer := time.NewTimer(cfg.TTL + settle)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return 0, fmt.Errorf("look for leftovers: %w", context.Cause(ctx))
	}
	return lookAround(ctx, nodes, keys, rec, true)
}

// A leaseKey is a lease-bearing key on a node, and the resource it stands for.
type leaseKey struct{ resource, name string }

func leaseKeys(cfg Config, lock lockimpl.Locker) (keys []leaseKey, err error) {
	if lister, can := lock.(lockimpl.KeyLister); can {
		for n := range cfg.Keys {
			for _, name := range lister.LeaseKeys(cfg.Key(n)) {
				keys = append(keys, leaseKey{cfg.Key(n), name})
			}
		}
	}
	if len(keys) == 0 {
		return nil, &LacksError{Ability: "list of the keys that bear its leases"}
	}
	return keys, nil
}

// lookAround samples every node. A node that does not answer is recorded as such, and the
// others are sampled all the same.
func lookAround(ctx context.Context, nodes []Node, keys []leaseKey, rec *history.Recorder, all bool) (left int, err error) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	for _, node := range nodes {
		found, err := store.Peek(ctx, node.Dial, names)
		for i, f := range found {
			if f.PTTL != store.Absent {
				left++
			} else if !all {
				continue
			}
			rec.Append(history.Event{
				Process: history.Witness, Kind: history.OK, Op: history.Key, Key: keys[i].resource,
				Node: node.Name(), PTTL: pttl(f.PTTL), Has: history.HasPTTL, Holder: f.Holder, Note: f.Key,
			})
		}
		if err != nil {
			rec.Append(history.Event{Process: history.Witness, Kind: history.Fail, Op: history.Key, Node: node.Name(), Err: history.OneLine(err.Error())})
		}
	}
	return left, context.Cause(ctx)
}

func pttl(d time.Duration) int64 {
	if d < 0 {
		return int64(d)
	}
	return d.Milliseconds()
}

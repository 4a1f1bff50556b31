package catalogue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/wait"
	"locktorture/faults/testbed"
)

var evictEntry = Entry{
	Name:     "evict",
	Wire:     "maxmemory is reached under allkeys-lru for a moment: every lease and fence vanishes before its time.",
	Survives: "No lock survives eviction on a quorum; one node's is an empty restart without a restart.",
	Beyond:   "maxmemory-policy is noeviction",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, KeptOut: true, For: ttlTimes(0),
	New: server(serverFault{name: "evict", writes: true, prey: keys, commands: []string{"CONFIG"}, instant: true, apply: evict}),
}

// evict makes a node evict every key at once; it grants again right away.
func evict(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (receipt string, err error) {
	before, err := stat(ctx, n, "stats", "evicted_keys")
	if err != nil {
		return "", err
	}
	refill, err := fillUp(ctx, s, n, "allkeys-lru")
	defer func() { err = errors.Join(err, refill(context.WithoutCancel(ctx))) }()
	if err != nil {
		return "", err
	}
	for {
		left, err := query(ctx, n, "DBSIZE")
		if err != nil {
			return "", err
		}
		if left == 0 || !wait.For(ctx, time.Millisecond) {
			break
		}
	}
	after, err := stat(ctx, n, "stats", "evicted_keys")
	if err != nil || after == before {
		return "", err
	}
	return fmt.Sprintf("%d keys evicted (allkeys-lru)", after-before), ctx.Err()
}

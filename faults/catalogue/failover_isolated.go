package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"

	"locktorture/faults"
	"locktorture/faults/testbed"
)

var failoverIsolatedEntry = Entry{
	Name:     "failover-isolated",
	Wire:     "The master is cut off from its replicas and from Redis Sentinel, not from its clients: a replica is promoted, and for a while both grant.",
	Survives: "What the old master has granted meanwhile is forgotten: a lock on one master breaks.",
	Beyond:   "nodes do not forget, unless the lock itself keeps such a node out",
	Takes:    true, KeptOut: true, For: ttlTimes(0.25),
	New: func(p faults.Params) faults.Fault { return failoverIsolated{p} },
}

// failoverIsolated cuts the master of a deployment off from everybody but its clients.
type failoverIsolated struct{ faults.Params }

func (f failoverIsolated) Name() string { return "failover-isolated" }

func (f failoverIsolated) Supports(t *faults.Target) error {
	if _, is := t.Testbed.(testbed.Sentinels); !is {
		return fmt.Errorf("%s testbed: nobody there watches a master from outside; sentinel has Redis Sentinel", t.Testbed.Name())
	}
	return nil
}

func (f failoverIsolated) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	return promotion{s.Testbed.(testbed.Deployment), false}.inject(ctx, s, rng)
}

// Settings implements faults.Settable: who is the master is not for a plan to say.
func (failoverIsolated) Settings() []string { return nil }

// Claims implements faults.Claimer.
func (failoverIsolated) Claims() string { return faults.RoleMaster }

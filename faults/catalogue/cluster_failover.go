package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/wait"
	"locktorture/faults/testbed"
)

var clusterFailoverEntry = Entry{
	Name:     "cluster-failover",
	Wire:     "CLUSTER FAILOVER: a master of a Redis Cluster holds its clients up until its replica has all that it has, and changes places with it.",
	Survives: "Nothing is forgotten; clients are sent to the new master (MOVED).",
	Takes:    true, For: ttlTimes(0.25),
	New: func(p faults.Params) faults.Fault { return clusterFailover{p} },
}

// clusterFailover makes a master and its replica change roles.
type clusterFailover struct{ faults.Params }

func (f clusterFailover) Name() string { return "cluster-failover" }

func (f clusterFailover) Supports(t *faults.Target) error { return needCluster(t) }

// needCluster says whether the keys of t are distributed over slots.
func needCluster(t *faults.Target) error {
	if _, is := t.Testbed.(testbed.Cluster); !is {
		return fmt.Errorf("%s testbed: it has no slots; cluster has", t.Testbed.Name())
	}
	return nil
}

func (f clusterFailover) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	p := promotion{s.Testbed.(testbed.Deployment), false}
	if err := s.Claim(faults.Peers); err != nil { // one promotion at a time
		return faults.Injection{}, err
	}
	old, shard, err := s.PickMaster(ctx, p, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	if err := s.Claim(old.Name()); err != nil {
		return faults.Injection{}, err
	}
	next, err := replicaOf(ctx, s, old)
	if err != nil {
		return faults.Injection{}, err
	}
	moved, err := errorsOf(ctx, old, "MOVED")
	if err != nil {
		return faults.Injection{}, err
	}
	s.Begin(faults.Hit{Nodes: []string{old.Name()}, Key: s.Occasion.Key})
	e := &election{promotion: p, scope: s, old: old, shard: shard, began: time.Now()}
	s.OnHeal(old.Name()+" and "+next.Name()+" change places", "restart the testbed", func(ctx context.Context) (string, error) {
		if err := e.awaitPromotion(ctx); err != nil {
			return "", err
		}
		served := e.awaitService(ctx)
		sent, err := awaitErrors(ctx, s, old, "MOVED", moved)
		if err != nil {
			return "", err
		}
		if err := e.Settle(ctx); err != nil {
			return "", fmt.Errorf("%s is no replica yet: %w", old.Name(), err)
		}
		if served == "" || sent == 0 {
			return "", nil
		}
		return fmt.Sprintf("%s; %s; %s answered MOVED %d times", e.told, served, old.Name(), sent), nil
	})
	if err := administer(ctx, next, "CLUSTER", "FAILOVER"); err != nil {
		return faults.Injection{}, fmt.Errorf("%s: %w", next.Name(), err)
	}
	return faults.Injection{
		Target: faults.Hit{Nodes: []string{old.Name()}, Key: s.Occasion.Key},
		Note:   fmt.Sprintf("CLUSTER FAILOVER to %s, the replica of %s", next.Name(), old.Name()),
	}, nil
}

// Settings implements faults.Settable: whose place is taken is not for a plan to say.
func (clusterFailover) Settings() []string { return nil }

// Claims implements faults.Claimer.
func (clusterFailover) Claims() string { return faults.RoleMaster }

// replicaOf is the node that replicates master: the one that reports master's address as its
// own master's.
func replicaOf(ctx context.Context, s *faults.Scope, master testbed.Node) (testbed.Node, error) {
	announced := s.Testbed.(testbed.Deployment).Announced(master.Name())
	for _, n := range s.Testbed.Nodes() {
		reply, err := testbed.Do(ctx, n, "ROLE")
		if err != nil {
			continue // it may be down
		}
		if role, _ := reply.([]any); len(role) > 2 && role[0] == "slave" && fmt.Sprintf("%v:%v", role[1], role[2]) == announced {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%s has no replica: %w", master.Name(), faults.ErrMissed)
}

// awaitErrors waits until n has answered more than before commands with an error code, for as
// long as clients may take, and returns how many more.
func awaitErrors(ctx context.Context, s *faults.Scope, n testbed.Node, code string, before int64) (since int64, err error) {
	patience := patience(s)
	for began := time.Now(); ; {
		now, err := errorsOf(ctx, n, code)
		if err != nil || now > before || time.Since(began) > patience {
			return now - before, err
		}
		if !wait.For(ctx, promotionPoll) {
			return 0, ctx.Err()
		}
	}
}

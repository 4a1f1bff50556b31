package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

var failoverEntry = Entry{
	Name:     "failover",
	Wire:     "An asynchronous replica stops receiving; then the node is killed and the replica takes its place, by Redis Sentinel or Cluster where there is one.",
	Survives: "What was granted since is forgotten: a lock on one master breaks, a quorum of independent masters is one node short.",
	Beyond:   "nodes do not forget, unless the lock itself keeps such a node out",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, KeptOut: true, For: ttlTimes(0.25),
	New: func(p faults.Params) faults.Fault { return failover{p} },
}

// failover replaces the master of a deployment. On other testbeds it gives a node an
// asynchronous replica, lets that fall behind, and at the heal promotes it in the node's place.
type failover struct{ faults.Params }

func (f failover) Name() string { return "failover" }

func (f failover) Supports(t *faults.Target) error {
	if t.Fabric == nil {
		return fmt.Errorf("needs a link for the replica, which this run does without")
	}
	const has = "process, sentinel and cluster"
	if _, is := t.Testbed.(testbed.Deployment); !is {
		return needNodes[testbed.Replicated](t, "replicated", has)
	}
	if role, _ := faults.SplitRole(f.Node, faults.RoleAny); role != faults.RoleAny && role != faults.RoleMaster {
		return fmt.Errorf("%s testbed: node %s: it is the master that fails over; leave node out", t.Testbed.Name(), f.Node)
	}
	return needNodes[testbed.Killer](t, "killed", has)
}

func (f failover) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	if d, is := s.Testbed.(testbed.Deployment); is {
		return promotion{d, true}.inject(ctx, s, rng)
	}
	nodes, err := pickVictims(ctx, s, f.Params, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	n := nodes[0]
	node := n.(testbed.Replicated)
	l, err := s.Fabric.Open(ctx, fmt.Sprintf("replica%d", s.Number()), n.Name(), n.Addr())
	if err != nil {
		return faults.Injection{}, err
	}
	via, ok := l.(link.Listener)
	if !ok {
		return faults.Injection{}, fmt.Errorf("the link %s→%s has no address to replicate through", l.Client(), l.Node())
	}
	note, err := node.StartReplica(ctx, via.Addr())
	if err != nil {
		return faults.Injection{}, err
	}
	hit := faults.Hit{Nodes: phrase.Names(nodes[:1]), Key: s.Occasion.Key}
	s.Begin(hit)
	stalled, err := l.Impair(ctx, link.Impairment{Kind: link.Stall})
	if err != nil {
		return faults.Injection{}, err
	}
	s.OnHeal("replication of "+n.Name()+" is stalled", "end the run: its links end with it", func(ctx context.Context) (string, error) {
		_, err := stalled.Heal(ctx)
		return "", err
	})
	before, err := changes(ctx, n)
	if err != nil {
		return faults.Injection{}, err
	}
	s.ProvedBy(func() bool {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), faults.LookLimit)
		defer cancel()
		now, err := changes(ctx, n)
		return err == nil && now > before
	})
	s.OnHeal(n.Name()+" awaits its failover", "restart the testbed", func(ctx context.Context) (string, error) {
		now, err := changes(ctx, n)
		if err != nil {
			return "", err
		}
		receipt, err := node.Failover(ctx)
		if now <= before {
			return "", err
		}
		return fmt.Sprintf("%s: %s; %d changes lost", n.Name(), receipt, now-before), err
	})
	return faults.Injection{Target: hit, Note: note}, nil
}

// changes counts what has been written to a node since its replica got a copy.
func changes(ctx context.Context, n testbed.Node) (int64, error) {
	return stat(ctx, n, "persistence", "rdb_changes_since_last_save")
}

// Claims implements faults.Claimer.
func (f failover) Claims() string { return f.Node }

package catalogue

import (
	"context"
	"math/rand/v2"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/testbed"
)

var pauseNodeEntry = Entry{
	Name:     "pause-node",
	Wire:     "The node is stopped (SIGSTOP): connections stay open, nothing is answered, and all of it is applied afterwards.",
	Survives: "Per-node time-outs: a stopped minority costs time only. Late commands must do no harm.",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, For: ttlTimes(0.5),
	New: func(p faults.Params) faults.Fault { return pauseNode{p} },
}

// pauseNode stops nodes: connections stay open, nothing is answered, and what
// was sent meanwhile is applied when they go on.
type pauseNode struct{ faults.Params }

func (f pauseNode) Name() string { return "pause-node" }

func (f pauseNode) Supports(t *faults.Target) error {
	return needNodes[testbed.Pauser](t, "paused", "process")
}

func (f pauseNode) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	nodes, err := pickVictims(ctx, s, f.Params, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	hit := faults.Hit{Nodes: phrase.Names(nodes), Key: s.Occasion.Key}
	s.Begin(hit)
	var receipts []string
	for _, n := range nodes {
		node := n.(testbed.Pauser)
		s.OnHeal(n.Name()+" is stopped", "kill -CONT the redis-server on "+n.Addr(), node.Resume)
		receipt, err := node.Pause(ctx)
		if err != nil {
			return faults.Injection{}, err
		}
		receipts = append(receipts, n.Name()+": "+receipt)
	}
	return faults.Injection{Target: hit, Receipt: phrase.Join(append(receipts, leases(s))...)}, nil
}

// Claims implements faults.Claimer.
func (f pauseNode) Claims() string { return f.Node }

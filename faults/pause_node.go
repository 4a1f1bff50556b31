package faults

import (
	"context"
	"math/rand/v2"

	"locktorture/faults/testbed"
)

// pauseNode stops nodes: connections stay open, nothing is answered, and what
// was sent meanwhile is applied when they go on.
type pauseNode struct{ Params }

func (f pauseNode) Name() string { return "pause-node" }

func (f pauseNode) Supports(t *Target) error {
	return needNodes[testbed.Pauser](t, "paused", "process")
}

func (f pauseNode) Inject(ctx context.Context, t *Target, rng *rand.Rand) (Injection, error) {
	nodes, err := pickVictims(ctx, t, f.Params, rng)
	if err != nil {
		return Injection{}, err
	}
	hit := Hit{Nodes: names(nodes), Key: t.Occasion.Key}
	t.Begin(hit)
	var receipts []string
	for _, n := range nodes {
		node := n.(testbed.Pauser)
		t.OnHeal(n.Name()+" is stopped", "kill -CONT the redis-server on "+n.Addr(), node.Resume)
		receipt, err := node.Pause(ctx)
		if err != nil {
			return Injection{}, err
		}
		receipts = append(receipts, n.Name()+": "+receipt)
	}
	return Injection{Target: hit, Receipt: join(append(receipts, leases(t))...)}, nil
}

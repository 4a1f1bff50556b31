package faults_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"locktorture/faults"
	"locktorture/faults/testbed"
	"locktorture/faults/watch"
	"locktorture/workload/history"
)

// swapDB exchanges two databases of a node behind everybody's back: leases are
// gone until it exchanges them again.
type swapDB struct{ node string }

func (f swapDB) Name() string { return "swap-db" }

// Supports asks for what Inject will use, and names the testbeds that have it.
func (f swapDB) Supports(t *faults.Target) error {
	for _, n := range t.Testbed.Nodes() {
		admin, ok := n.(testbed.Administrable)
		if !ok {
			return fmt.Errorf("%s testbed: its servers are not ours; process, container and embedded have their own", t.Testbed.Name())
		}
		if err := admin.CanAdminister("SWAPDB"); err != nil {
			return err
		}
	}
	return nil
}

func (f swapDB) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	nodes, err := s.PickNodes(ctx, f.node, nil, rng) // 1. whom
	if err != nil {
		return faults.Injection{}, err
	}
	n := nodes[0]
	if err := s.Claim(n.Name()); err != nil { // nobody else may hurt it meanwhile
		return faults.Injection{}, err
	}
	hit := faults.Hit{Nodes: []string{n.Name()}}
	s.Begin(hit) // 2. the fault begins
	swap := func(ctx context.Context) (string, error) {
		_, err := n.(testbed.Administrable).Administer(ctx, "SWAPDB", "0", "1")
		return n.Name() + " has its keys again", err
	}
	if _, err := swap(ctx); err != nil {
		return faults.Injection{}, err // what was handed to OnHeal so far is undone
	}
	s.OnHeal(n.Name()+"'s databases are exchanged", "redis-cli SWAPDB 0 1 on "+n.Addr(), swap) // 3. how to undo it
	left, err := testbed.Do(ctx, n, "DBSIZE")
	if err != nil {
		return faults.Injection{}, err
	}
	return faults.Injection{Target: hit, Receipt: fmt.Sprintf("%s has %d keys", n.Name(), left)}, nil // 4. the proof
}

// A fault of one's own is a type with three methods, run like any other.
func Example() {
	ctx := context.Background()
	bed, err := testbed.StartEmbedded(ctx, testbed.EmbeddedConfig{Nodes: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer bed.Close()
	if _, err := testbed.Do(ctx, bed.Nodes()[0], "SET", "lock", "owner"); err != nil {
		fmt.Println(err)
		return
	}
	var events history.Buffer
	observer := watch.New()
	target := &faults.Target{Testbed: bed, Quorum: 1, Watch: observer}
	plan := faults.Schedule{{Fault: swapDB{node: "n1"}}}
	if err := plan.Check(target); err != nil {
		fmt.Println(err)
		return
	}
	rec := history.NewRecorder(&events, observer)
	// Without an operation of a client under it no fault has taken effect.
	rec.Append(history.Event{Process: rec.NewProcess(), Kind: history.Invoke, Op: history.Acquire, Owner: "c1", Key: "lock"})
	if _, err := faults.Run(ctx, plan, target, rec, rand.New(rand.NewPCG(1, 1))); err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range events.Events {
		if e.Kind == history.OK {
			fmt.Println(e.Op, e.Fault, e.Target.String(), e.Receipt)
		}
	}
	// Output:
	// fault swap-db {"nodes":["n1"]} n1 has 0 keys
	// heal swap-db {"nodes":["n1"]} n1 has its keys again
}

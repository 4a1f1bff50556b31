package faults

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"locktorture/faults/testbed"
)

// A node whose heal fails at first is nobody else's until it is mended.
func TestClaimOutlastsAFailedHeal(t *testing.T) {
	w := newWorld(1, 0)
	tries := 0
	f := fakeFault{"stubborn", func(_ context.Context, t *Target, _ *rand.Rand) (Injection, error) {
		if err := t.Take("n1"); err != nil {
			return Injection{}, err
		}
		t.OnHeal("n1 is down", "by hand", func(context.Context) (string, error) {
			if tries++; tries == 1 {
				return "", testbed.ErrDown
			}
			return "mended", nil
		})
		return Injection{Receipt: "bit"}, nil
	}}
	if _, err := f.inject(t.Context(), w.Target, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.undo.heal(t.Context()); !errors.Is(err, testbed.ErrDown) || !w.shared().isTaken("n1") {
		t.Errorf("after a heal that failed: taken %t, %v", w.shared().isTaken("n1"), err)
	}
	if _, err := w.undo.heal(t.Context()); err != nil || w.shared().isTaken("n1") {
		t.Errorf("after the heal: taken %t, %v", w.shared().isTaken("n1"), err)
	}
}

// Of two faults that let nothing pass on the same road only one could prove
// anything.
func TestRoadIsBlockedOnce(t *testing.T) {
	t.Parallel()
	r := embeddedRig(t, 2, 1)
	on := func(kind string, node string) error {
		other := *r.Target
		other.undo = &undo{}
		t.Cleanup(func() { _, _ = other.undo.heal(context.Background()) })
		_, err := Catalogue()[kind].New(Params{Client: "c00", Node: node}).Inject(t.Context(), &other, rand.New(rand.NewPCG(1, 1)))
		return err
	}
	r.shared()
	for _, c := range []struct {
		kind, node string
		missed     bool
	}{
		{"stall", "n1", false},
		{"response-lost", "n1", true},
		{"cut", "n1,n2", false},
		{"zombie", "all", true},
		{"latency", "n1", false},
	} {
		if err := on(c.kind, c.node); errors.Is(err, ErrMissed) != c.missed || err != nil && !c.missed {
			t.Errorf("%s on %s: %v", c.kind, c.node, err)
		}
	}
}

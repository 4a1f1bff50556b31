package faults

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
)

// Nothing is recorded of an attempt that found nobody to hit.
func TestMissedIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(5, 1)
		tries, undone := 0, 0
		f := fakeFault{"choosy", func(_ context.Context, t *Target, _ *rand.Rand) (Injection, error) {
			t.OnHeal("x", "x", func(context.Context) (string, error) { undone++; return "", nil })
			if tries++; tries < 3 {
				return Injection{}, ErrMissed
			}
			return Injection{Target: "x", Receipt: "bit"}, nil
		}}
		if _, err := w.run(t.Context(), Step{Fault: f, For: second}); err != nil {
			t.Fatal(err)
		}
		w.wantStory(t, "10ms invoke fault choosy", "10ms ok fault choosy", "1.01s invoke heal choosy", "1.01s ok heal choosy")
		if undone != 3 {
			t.Errorf("%d of 3 attempts undone", undone)
		}
	})
}

// A step's draws depend on its place in the schedule and on the seed alone.
func TestStreamPerStep(t *testing.T) {
	draws := func(first int) (got uint64) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(5, 1)
			greedy := fakeFault{"greedy", func(_ context.Context, _ *Target, rng *rand.Rand) (Injection, error) {
				for range first {
					rng.Uint64()
				}
				return Injection{Instant: true, Receipt: "x"}, nil
			}}
			frugal := fakeFault{"frugal", func(_ context.Context, _ *Target, rng *rand.Rand) (Injection, error) {
				got = rng.Uint64()
				return Injection{Instant: true, Receipt: "x"}, nil
			}}
			if _, err := w.run(t.Context(), Step{Fault: greedy}, Step{When: Trigger{After: second}, Fault: frugal}); err != nil {
				t.Fatal(err)
			}
		})
		return got
	}
	if a, b := draws(0), draws(7); a != b {
		t.Errorf("one step's draws shifted another's: %d, %d", a, b)
	}
}

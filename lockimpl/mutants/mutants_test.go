package mutants_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/mutants"
	"locktorture/lockimpl/redlock"
)

// A mutant that does not work when nothing goes wrong shows nothing: each one
// takes, refuses, extends and gives back as the lock does.
func TestMutantsWorkInFairWeather(t *testing.T) {
	for _, id := range mutants.IDs() {
		t.Run(id, func(t *testing.T) {
			m := mutants.All()[id]
			if m.Bug == "" || m.Fault == "" || len(m.Expect) == 0 {
				t.Error("it does not say what is wrong, what shows it, and as what")
			}
			world.Run(t, max(m.Nodes, 3), func(t *testing.T, w *world.World) {
				fairWeather(t, w, m.Factory(redlock.Config{}))
			})
		})
	}
}

func fairWeather(t *testing.T, w *world.World, f lockimpl.Factory) {
	a, _ := w.Client(f)
	b, _ := w.Client(f)
	lease, err := a.Acquire(t.Context(), "k", 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait() // for stragglers
	if _, err := b.Acquire(t.Context(), "k", 2*time.Second); !errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("second acquire: %v", err)
	}
	if err := lease.Extend(t.Context(), 2*time.Second); err != nil {
		t.Error(err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
	r, err := b.AcquireShared(t.Context(), "r", 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

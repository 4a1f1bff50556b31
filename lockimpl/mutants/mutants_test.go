package mutants_test

import (
	"errors"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"locktorture/lockimpl"
	"locktorture/lockimpl/mutants"
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
			factory := m.Factory(lockimpl.Config{MaxTTL: 5 * time.Second})
			nodes := serve(t, max(m.Nodes, 3))
			a, b := open(t, factory, nodes), open(t, factory, nodes)
			if err := a.(lockimpl.Bootstrapper).Bootstrap(t.Context()); err != nil {
				t.Fatal(err)
			}
			lease, err := a.Acquire(t.Context(), "k", 2*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Acquire(t.Context(), "k", 2*time.Second); !errors.Is(err, lockimpl.ErrHeld) {
				t.Errorf("second acquire: %v", err)
			}
			if err := lease.Extend(t.Context(), 2*time.Second); err != nil {
				t.Error(err)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
			r, err := b.(lockimpl.SharedLocker).AcquireShared(t.Context(), "r", 2*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func serve(t *testing.T, n int) []lockimpl.Node {
	var nodes []lockimpl.Node
	for range n {
		m := miniredis.RunT(t)
		m.ClockTTL(true)
		nodes = append(nodes, lockimpl.Node{Addr: m.Addr()})
	}
	return nodes
}

func open(t *testing.T, factory lockimpl.Factory, nodes []lockimpl.Node) lockimpl.Locker {
	l, err := factory(nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

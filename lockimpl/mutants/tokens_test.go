package mutants_test

import (
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
)

// disagreeingCounters is the counterexample to a token that is the highest of
// a quorum's counters and stored nowhere else (fences n1 to n5, A's attempt
// failing): [1A 0 0 0 0], B returns 2 of [2B 1B 1B 0 0], C returns 2 of
// [2B 1B 2C 1C 1C].
func disagreeingCounters(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	grantedByOne(t, w, f, 1)
	b := w.Take(w.Reach(f, 1, 2, 3), "k", ttl)
	w.Release(b)
	c := w.Take(w.Reach(f, 3, 4, 5), "k", ttl)
	return c.Fence() <= b.Fence()
}

func manyClocks(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	var last uint64
	for range 20 {
		lease := w.Take(w.Reach(f, 1), "k", ttl)
		w.Release(lease)
		if lease.Fence() <= last {
			return true
		}
		last = lease.Fence()
		time.Sleep(time.Millisecond)
	}
	return false
}

// lateWriteBack is the counterexample to a write-back that does not ask whose
// the lock is. A is granted f+1 by n1 and f+2 by n3 and sends f+2 to n1, where
// its lease has ended meanwhile; B is granted f+2 by n1 and stores it on n2.
// If n1 still accepts A's write-back, both return f+2.
func lateWriteBack(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	w.Release(w.Take(w.Reach(f, 1, 2, 3), "k", ttl)) // the fences are there, and equal
	grantedByOne(t, w, f, 3)
	a, links := w.Client(f)
	w.Release(w.Take(a, "warm", ttl))
	links[1].Refuse(true)
	links[1].Cut()
	links[0].Down.Hold()
	tokens := make(chan uint64, 1)
	go func() {
		lease, err := a.Acquire(t.Context(), "k", ttl)
		if err != nil {
			tokens <- 0
			return
		}
		tokens <- lease.Fence()
	}()
	synctest.Wait() // both grants are made, that of n1 is not known to A
	links[0].Up.Hold()
	links[0].Down.Free()
	synctest.Wait() // the write-back is under way
	w.Forward(1, ttl+time.Second)
	b := w.Take(w.Reach(f, 1, 2), "k", ttl)
	links[0].Up.Free()
	return <-tokens == b.Fence()
}

// emptyNodeServes lets a second quorum form through a node that has forgotten
// the first one.
func emptyNodeServes(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	holder := w.Take(w.Reach(f, 1, 2, 3), "k", ttl)
	b := w.Reach(f, 3, 4, 5)
	w.Forget(3)
	_, err := w.Acquire(b, "k", ttl)
	return err == nil && time.Now().Before(holder.ValidUntil())
}

// admitted waits until a client that reaches every server sees all of them
// serve again.
func admitted(t *testing.T, w *world.World, f lockimpl.Factory) {
	t.Helper()
	l, _ := w.Client(f)
	w.Release(w.Take(l, "any", time.Second))
	time.Sleep(15 * time.Second)
	w.Release(w.Take(l, "any", time.Second))
	if err := l.Bootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// emptyNodeForgets is the counterexample to a delayed restart alone: A's token
// is on n1 and n2; n2 comes back empty and sits out its quarantine; n2 and n3
// agree on a token that is not above A's.
func emptyNodeForgets(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	a := w.Take(w.Reach(f, 1, 2), "k", ttl)
	w.Release(a)
	w.Forget(2)
	admitted(t, w, f)
	c := w.Take(w.Reach(f, 2, 3), "k", ttl)
	return c.Fence() <= a.Fence()
}

// seededTooEarly is the counterexample to marks that are read before the
// quarantine has ended: A's attempt is under way across the crash of n1, and
// its token reaches n2 after the marks were read there.
func seededTooEarly(t *testing.T, w *world.World, f lockimpl.Factory) bool {
	a, links := w.Client(f)
	w.Release(w.Take(a, "k", ttl))
	links[2].Refuse(true)
	links[2].Cut()
	links[1].Up.Hold()
	tokens := make(chan uint64, 1)
	go func() {
		lease, err := a.Acquire(t.Context(), "k", ttl)
		if err != nil {
			t.Error(err)
			tokens <- 0
			return
		}
		tokens <- lease.Fence()
		_ = lease.Release(t.Context())
	}()
	synctest.Wait() // n1 has granted
	w.Forget(1)
	other, _ := w.Client(f)
	w.Release(w.Take(other, "any", time.Second)) // finds n1 empty
	time.Sleep(50 * time.Millisecond)
	links[1].Up.Free()
	token := <-tokens
	admitted(t, w, f)
	c := w.Take(w.Reach(f, 1, 3), "k", ttl)
	return c.Fence() <= token
}

package redlock_test

import (
	"errors"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

var declaredNew = redlock.NewFactory(redlock.Config{FirstTime: true})

func TestBootstrapDoesNotGiveALeaseAway(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			a, _ := w.Client(full)
			b, _ := w.Client(full)
			held := w.Take(a, "k", 10*time.Second)
			for server := 1; server <= n; server++ {
				w.Forget(server)
			}
			if err := b.Bootstrap(t.Context()); !errors.Is(err, redlock.ErrNotFirstTime) {
				t.Errorf("bootstrap of a set that lost everything: %v, want ErrNotFirstTime", err)
			}
			notBefore(t, b, held)
		})
	}
}

func TestBootstrapSaysWhyItAdmitsNobody(t *testing.T) {
	for name, c := range map[string]struct {
		befalls func(w *world.World, l world.Lock)
		want    error
	}{
		"nothing":           {func(*world.World, world.Lock) {}, nil},
		"one is empty":      {func(w *world.World, _ world.Lock) { w.Forget(2) }, redlock.ErrPartlyAdmitted},
		"one has old data":  {func(w *world.World, l world.Lock) { w.Restart(l, 3, "k") }, redlock.ErrServedBefore},
		"all have old data": {func(w *world.World, l world.Lock) { w.Restart(l, 1, "k"); w.Restart(l, 2, "k"); w.Restart(l, 3, "k") }, redlock.ErrServedBefore},
	} {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			l, _ := w.Client(declaredNew)
			c.befalls(w, l)
			if err := l.Bootstrap(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		})
	}
}

// A service that calls Bootstrap when it starts is not kept from starting by a
// node that is down.
func TestBootstrapOfAServingSetDoesWithoutAMinority(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		if err := w.Reach(full, 1, 3).Bootstrap(t.Context()); err != nil {
			t.Errorf("two of three nodes serve: %v", err)
		}
		if err := w.Reach(full, 1).Bootstrap(t.Context()); err == nil {
			t.Error("one of three nodes answers, and that is called a serving set")
		}
	})
}

// Clients with different limits, as in a rolling change: the quarantine is as
// long as the longest lease that any node grants.
func TestSmallerMaxTTLDoesNotShortenTheQuarantine(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		a, _ := w.Client(redlock.NewFactory(redlock.Config{MaxTTL: time.Minute}))
		b, _ := w.Client(redlock.NewFactory(redlock.Config{MaxTTL: 2 * time.Second}))
		if err := a.(*redlock.Locker).RaiseMaxTTL(t.Context()); err != nil {
			t.Fatal(err)
		}
		held := w.Take(a, "k", 50*time.Second)
		for _, server := range []int{1, 2} {
			w.Forget(server)
			_, _ = b.Acquire(t.Context(), "other", time.Second) // meets the empty node
			time.Sleep(3 * time.Second)
		}
		notBefore(t, b, held)
	})
}

// The quarantine passes by the clock of the client that waits for it as well: a node whose clock
// jumps serves no sooner.
func TestClockThatJumpsDoesNotShortenTheQuarantine(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		a, links := w.Client(full)
		links[2].Refuse(true)
		links[2].Cut()
		held := w.Take(a, "k", 10*time.Second)
		b, _ := w.Client(full)
		warm(t, b)
		w.Forget(1)
		another := w.Take(b, "another", 5*time.Second)
		time.Sleep(time.Second) // it has met the empty node
		w.Release(another)
		w.StopClock(1, time.Hour)
		notBefore(t, b, held)
	})
}

// A node grants for no longer than it was admitted for, also a key that it knows, to a client that
// knows the node: its quarantine would be over before the lease.
func TestNodeThatHasJustGrantedGrantsForNoLonger(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) { // admitted for 10 s
			l, _ := w.Client(redlock.NewFactory(redlock.Config{MaxTTL: time.Minute}))
			for range 3 {
				w.Release(w.Take(l, "k", time.Second))
				if _, err := l.Acquire(t.Context(), "k", 30*time.Second); !errors.Is(err, redlock.ErrTTLTooLong) {
					t.Fatalf("%d nodes: %v, want ErrTTLTooLong", n, err)
				}
			}
		})
	}
}

// A client that hears only at the end of a quarantine that another node grants longer leases
// waits for longer.
func TestNodeThatGrantsLongerIsHeardAtTheEndOfAQuarantine(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		a, links := w.Client(redlock.NewFactory(redlock.Config{MaxTTL: time.Minute}))
		if err := a.(*redlock.Locker).RaiseMaxTTL(t.Context()); err != nil {
			t.Fatal(err)
		}
		links[2].Refuse(true)
		links[2].Cut()
		held := w.Take(a, "k", 50*time.Second)
		b, links := w.Client(redlock.NewFactory(redlock.Config{MaxTTL: 2 * time.Second}))
		warm(t, b)
		for _, link := range links[1:] {
			link.Up.Hold()
		}
		w.Forget(1)
		_, _ = b.Acquire(t.Context(), "k", time.Second) // meets the empty node, and no other
		time.Sleep(1600 * time.Millisecond)
		for _, link := range links[1:] {
			link.Up.Free()
		}
		notBefore(t, b, held)
	})
}

// A node that was admitted for shorter leases than a client may ask for refuses
// the longer one, and the lease stays as it is.
func TestExtensionBeyondWhatTheNodesGrantLeavesTheLease(t *testing.T) {
	long := redlock.NewFactory(redlock.Config{MaxTTL: time.Minute})
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) { // admitted for 10 s
			l, _ := w.Client(long)
			lease := w.Take(l, "k", 5*time.Second)
			until := lease.ValidUntil()
			if err := lease.Extend(t.Context(), 30*time.Second); !errors.Is(err, redlock.ErrTTLTooLong) || errors.Is(err, lockimpl.ErrLost) {
				t.Errorf("extend: %v, want ErrTTLTooLong", err)
			}
			select {
			case <-lease.(lockimpl.LostNotifier).Lost():
				t.Error("the lease is lost")
			default:
			}
			if !lease.ValidUntil().Equal(until) {
				t.Errorf("valid until %v, was %v", lease.ValidUntil(), until)
			}
			mine, err := l.AcquireAs(t.Context(), "me", "again", 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.AcquireAs(t.Context(), "me", "again", 30*time.Second); !errors.Is(err, redlock.ErrTTLTooLong) {
				t.Errorf("re-entry: %v, want ErrTTLTooLong", err)
			}
			w.Release(mine)
			if _, err := l.Acquire(t.Context(), "other", 30*time.Second); !errors.Is(err, redlock.ErrTTLTooLong) {
				t.Errorf("acquire: %v, want ErrTTLTooLong", err)
			}
			if err := l.(*redlock.Locker).RaiseMaxTTL(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := lease.Extend(t.Context(), 30*time.Second); err != nil {
				t.Errorf("extend after the limit was raised: %v", err)
			}
			w.Release(lease)
		})
	}
}

// A lease that is renewed outlives the restarts of all nodes, one by one, as
// long as a quorum of them is admitted at any time.
func TestRenewedLeaseOutlivesARollingRestart(t *testing.T) {
	withAndWithoutHints(t, 5, func(t *testing.T, w *world.World, f lockimpl.Factory) {
		a, _ := w.Client(f)
		b, _ := w.Client(f)
		held := take(t, a, "k", 3*time.Second)
		held.(lockimpl.Renewer).Renew(nil)
		for round := range 7 {
			w.Forget(round%5 + 1)
			for range 26 { // longer than a quarantine
				time.Sleep(507 * time.Millisecond) // at other moments than the renewals
				if lease, err := b.Acquire(t.Context(), "k", time.Second); err == nil {
					t.Fatalf("round %d: second holder, token %d beside %d", round, lease.Fence(), held.Fence())
				}
			}
			select {
			case <-held.(lockimpl.LostNotifier).Lost():
				t.Fatalf("lost in round %d, with four of five nodes admitted all the time", round)
			default:
			}
		}
		if err := held.Release(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if on := w.LeaseKeys(a, "k"); len(on) > 0 {
			t.Errorf("keys left on servers %v", on)
		}
	})
}

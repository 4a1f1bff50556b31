package redlock_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// What a round of renewal that failed was granted on its way counts in no later round
// either: others may have held the key before that.
func TestFailedRoundAddsNoNodeToTheNext(t *testing.T) {
	world.Run(t, 5, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{NodeTimeout: 2 * time.Second})
		b := w.Reach(full, 1, 2, 4, 5)
		warm(t, b)
		if err := get(t, l, "warm", time.Second).Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		allAsked(links)
		for _, link := range links[3:] {
			link.Up.Hold()
		}
		lease := get(t, l, "k", 9*time.Second)
		time.Sleep(50 * time.Millisecond) // until every node has been asked
		w.Forward(1, 10*time.Second)
		w.Forward(2, 10*time.Second)
		w.Release(w.Take(b, "k", time.Second)) // another holds the key in between
		if on := w.LeaseKeys(b, "k"); !slices.Equal(on, []int{3}) {
			t.Fatalf("of the first lease is left what is on %v", on)
		}
		done := make(chan error, 1)
		for round := range 3 {
			go func() { done <- lease.Extend(t.Context(), 9*time.Second) }()
			synctest.Wait()
			for _, link := range links[3:] {
				link.Up.Free() // in the first round two nodes are yet to grant the lease
			}
			if err := <-done; err == nil {
				t.Errorf("round %d: extended across the other's lease", round+1)
			}
		}
	})
}

// extendUntilRepaired extends a lease until node 1 has it again: a round that has its quorum
// before node 1 says that it has no such key leaves it to the next one.
func extendUntilRepaired(t *testing.T, w *world.World, l *redlock.Lock, lease lockimpl.Lease, ttl time.Duration) {
	t.Helper()
	for range 50 {
		if err := lease.Extend(t.Context(), ttl); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
		if slices.Contains(w.LeaseKeys(&redlock.Locker{Lock: l}, "k"), 1) {
			return
		}
	}
	t.Error("node 1 was never given the lease again")
}

// A node that has no such key any more, and says so after the others have extended the lease,
// has it again at once, and not only after the next round.
func TestNodeThatAnswersAfterItsRoundIsRepaired(t *testing.T) {
	for _, shared := range []bool{false, true} {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			l, links := api(w, redlock.Config{})
			allAsked(links)
			take := l.Acquire
			if shared {
				take = l.AcquireShared
			}
			lease, err := take(t.Context(), "k", 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // until every node has granted it
			w.Forward(1, 10*time.Second)
			links[0].Up.Hold()
			if err := lease.Extend(t.Context(), 5*time.Second); err != nil {
				t.Fatal(err)
			}
			links[0].Up.Free()
			time.Sleep(50 * time.Millisecond)
			if on := w.LeaseKeys(&redlock.Locker{Lock: l}, "k"); !slices.Contains(on, 1) {
				t.Errorf("shared %v: the lease is on %v", shared, on)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if on := w.LeaseKeys(&redlock.Locker{Lock: l}, "k"); len(on) > 0 {
				t.Errorf("shared %v: after its release the lease is on %v", shared, on)
			}
		})
	}
}

// A lease that was given back before a node has answered its round is not taken there again.
func TestNodeThatAnswersAfterTheReleaseIsNotRepaired(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{})
		allAsked(links)
		lease := get(t, l, "k", 5*time.Second)
		time.Sleep(50 * time.Millisecond)
		w.Forward(1, 10*time.Second)
		links[0].Up.Hold()
		if err := lease.Extend(t.Context(), 5*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		links[0].Up.Free()
		time.Sleep(50 * time.Millisecond)
		if on := w.LeaseKeys(&redlock.Locker{Lock: l}, "k"); len(on) > 0 {
			t.Errorf("a lease that was given back is on %v", on)
		}
	})
}

// A node that a round repairs has the lease for as long as the others have: since that
// round, or an earlier one.
func TestRepairIsAsLongAsTheLease(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{})
		lease := get(t, l, "k", 9*time.Second)
		time.Sleep(50 * time.Millisecond)
		w.Forward(1, 10*time.Second)
		extendUntilRepaired(t, w, l, lease, time.Second)
		time.Sleep(3 * time.Second)
		if on := slices.Compact(w.LeaseKeys(&redlock.Locker{Lock: l}, "k")); !slices.Equal(on, []int{1, 2, 3}) {
			t.Errorf("after 3 of 9 s the lease, which was extended by a second, is on %v", on)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for _, shared := range []bool{false, true} {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			l, _ := api(w, redlock.Config{})
			take := l.Acquire
			if shared {
				take = l.AcquireShared
			}
			lease, err := take(t.Context(), "k", time.Second)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
			w.Forward(1, 2*time.Second)
			extendUntilRepaired(t, w, l, lease, 9*time.Second)
			time.Sleep(3 * time.Second)
			if on := slices.Compact(w.LeaseKeys(&redlock.Locker{Lock: l}, "k")); !slices.Equal(on, []int{1, 2, 3}) {
				t.Errorf("shared %v: after 3 of 9 s the lease is on %v", shared, on)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Once a lease is known to have ended, its validity has ended as well.
func TestValidUntilHasPassedWhenTheLeaseHasEnded(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, w *world.World, lease *redlock.Lease){
		"lost": func(t *testing.T, w *world.World, lease *redlock.Lease) {
			for server := range w.Size() {
				w.Forget(server + 1)
			}
			if err := lease.Extend(t.Context(), 5*time.Second); !errors.Is(err, redlock.ErrLost) {
				t.Errorf("extended on nodes that forgot it: %v", err)
			}
		},
		"released": func(t *testing.T, _ *world.World, lease *redlock.Lease) {
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		},
		"given back unheard": func(t *testing.T, _ *world.World, lease *redlock.Lease) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_ = lease.Release(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			world.Run(t, 3, func(t *testing.T, w *world.World) {
				l, _ := api(w, redlock.Config{})
				lease := get(t, l, "k", 5*time.Second)
				if left := time.Until(lease.ValidUntil()); left < 4*time.Second {
					t.Errorf("valid for another %v", left)
				}
				end(t, w, lease)
				time.Sleep(time.Millisecond)
				if left := time.Until(lease.ValidUntil()); left >= 0 || lease.Err() == nil {
					t.Errorf("valid for another %v, error %v", left, lease.Err())
				}
			})
		})
	}
}

// A release that a node does not answer is sent again until the lease has ended by itself: also
// one that was extended, and on a node that is out of reach for longer than it first was to last.
func TestReleaseIsSentAgainUntilTheLeaseHasEnded(t *testing.T) {
	for _, extended := range []bool{false, true} {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			l, links := api(w, redlock.Config{})
			allAsked(links)
			ttl := 9 * time.Second
			if extended {
				ttl = time.Second
			}
			lease := get(t, l, "k", ttl)
			time.Sleep(50 * time.Millisecond) // until every node has been asked
			if extended {
				if err := lease.Extend(t.Context(), 9*time.Second); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			links[0].Refuse(true)
			links[0].Cut()
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(4 * time.Second)
			if on := w.LeaseKeys(&redlock.Locker{Lock: l}, "k"); !slices.Equal(on, []int{1}) {
				t.Fatalf("extended %v: the lease is on %v, and node 1 is out of reach", extended, on)
			}
			links[0].Refuse(false)
			time.Sleep(time.Second)
			if on := w.LeaseKeys(&redlock.Locker{Lock: l}, "k"); len(on) > 0 {
				t.Errorf("extended %v: a lease that was given back is on %v", extended, on)
			}
		})
	}
}

// A node that lost a lease has it again in spite of those who wait for it: nobody who queues has
// a claim before its holder.
func TestWaiterDoesNotKeepARepairOut(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{})
		waiter, _ := api(w, redlock.Config{Patience: time.Minute})
		lease := get(t, l, "k", 5*time.Second)
		time.Sleep(50 * time.Millisecond) // until every node has granted it
		ctx, cancel := context.WithCancel(t.Context())
		waited := make(chan struct{})
		go func() {
			defer close(waited)
			if _, err := waiter.AcquireFair(ctx, "k", time.Second); err == nil {
				t.Error("granted beside the holder")
			}
		}()
		time.Sleep(100 * time.Millisecond) // it has queued
		w.Forward(1, 10*time.Second)
		extendUntilRepaired(t, w, l, lease, 5*time.Second)
		cancel()
		<-waited
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A lease that ends while an extension is under way stays lost, however many nodes extend it, and
// is given back.
func TestExtensionDoesNotReviveALeaseThatEndsMeanwhile(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{})
		lease := get(t, l, "k", 5*time.Second)
		time.Sleep(50 * time.Millisecond) // until every node has been asked
		for _, link := range links {
			link.Down.Delay(100 * time.Millisecond)
		}
		done := make(chan error, 1)
		go func() { done <- lease.Extend(t.Context(), 9*time.Second) }()
		time.Sleep(50 * time.Millisecond)
		redlock.SuspendLease(lease, time.Minute)
		if err := <-done; !errors.Is(err, redlock.ErrLost) || !errors.Is(lease.Err(), redlock.ErrLost) {
			t.Errorf("extended: %v; the lease: %v; want ErrLost", err, lease.Err())
		}
		time.Sleep(time.Second)
		if on := w.LeaseKeys(&redlock.Locker{Lock: l}, "k"); len(on) > 0 {
			t.Errorf("the lost lease is on %v", on)
		}
	})
}

// A renewal that waits behind what a node does not answer is not sent once nobody waits for it: a
// lease that was not extended ends on the nodes when it does for its holder.
func TestExtensionThatIsGivenUpIsNotSent(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{NodeTimeout: 2 * time.Second})
		lease := get(t, l, "k", 3*time.Second)
		links[0].Up.Hold()
		asked := make(chan struct{})
		go func() { // it is under way, and the renewal waits behind it
			defer close(asked)
			if other, err := l.Acquire(t.Context(), "other", time.Second); err == nil {
				_ = other.Release(t.Context())
			}
		}()
		time.Sleep(10 * time.Millisecond)
		if err := within(t, 100*time.Millisecond, func(ctx context.Context) error { return lease.Extend(ctx, 9*time.Second) }); !errors.Is(err, redlock.ErrUnknown) {
			t.Errorf("extended by a node that does not answer: %v", err)
		}
		links[0].Up.Free()
		<-asked
		time.Sleep(3 * time.Second)
		if on := w.LeaseKeys(&redlock.Locker{Lock: l}, "k"); len(on) > 0 {
			t.Error("the lease is still on the node after its end")
		}
	})
}

// Validity is reckoned from before the first byte was sent, of the acquire and of an extension: the
// nodes may have begun to count as early as that.
func TestValidityBeginsBeforeTheRequestIsSent(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			const ttl = 5 * time.Second
			l, links := api(w, redlock.Config{})
			if err := get(t, l, "warm", time.Second).Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, link := range links {
				link.Down.Delay(300 * time.Millisecond)
			}
			began := time.Now()
			lease := get(t, l, "k", ttl)
			if over := lease.ValidUntil().Sub(began) - (ttl - redlock.Drift(ttl)); over > 0 {
				t.Errorf("%d nodes: valid for %v longer than the nodes may keep it", n, over)
			}
			time.Sleep(time.Second)
			began = time.Now()
			if err := lease.Extend(t.Context(), ttl); err != nil {
				t.Fatal(err)
			}
			if over := lease.ValidUntil().Sub(began) - (ttl - redlock.Drift(ttl)); over > 0 {
				t.Errorf("%d nodes, extended: valid for %v longer than the nodes may keep it", n, over)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A repair takes back nothing of what is known of the acquire: a copy of it that is still on its way
// is refused after the release.
func TestLateCopyOfAnAcquireTakesNothingAfterARepair(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{})
		allAsked(links)
		if err := get(t, l, "warm", time.Second).Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // until it is connected to every node
		links[0].Up.Delay(3 * time.Second)
		lease := get(t, l, "k", 9*time.Second)
		time.Sleep(50 * time.Millisecond) // until every node has been asked
		links[0].Up.Delay(0)              // of what is sent from now on
		links[0].Cut()
		time.Sleep(50 * time.Millisecond)
		if on := w.LeaseKeys(&redlock.Locker{Lock: l}, "k"); !slices.Equal(on, []int{1, 2, 3}) {
			t.Fatalf("the lease is on %v", on)
		}
		w.Forward(1, 10*time.Second)
		extendUntilRepaired(t, w, l, lease, 9*time.Second)
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(4 * time.Second) // the copy has arrived
		if on := w.LeaseKeys(&redlock.Locker{Lock: l}, "k"); len(on) > 0 {
			t.Errorf("a lease that was given back is on %v", on)
		}
	})
}

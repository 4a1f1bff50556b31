package redlock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/memnet"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

var full = redlock.NewFactory(redlock.Config{})

// take acquires or fails the test.
func take(t *testing.T, l world.Lock, key string, ttl time.Duration) lockimpl.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), key, ttl)
	if err != nil {
		t.Fatalf("acquire %s: %v", key, err)
	}
	return lease
}

// allAsked has every answer take a millisecond of virtual time, so that all nodes of an attempt
// have been asked before any answer decides it: a call that is decided by then is not sent.
func allAsked(links []*memnet.Link) {
	for _, link := range links {
		link.Down.Delay(time.Millisecond)
	}
}

// warm opens the client's connections and waits until nothing moves.
func warm(t *testing.T, l world.Lock) {
	t.Helper()
	lease := take(t, l, "warm", time.Second)
	time.Sleep(5 * time.Millisecond) // until every node has been asked
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func TestLeaseEndsByLocalTimerWhateverTheNetworkDoes(t *testing.T) {
	world.Run(t, 5, func(t *testing.T, w *world.World) {
		l, links := w.Client(full)
		lease := take(t, l, "k", 2*time.Second)
		lost := lease.(lockimpl.LostNotifier).Lost()
		var rounds atomic.Int64
		lease.(lockimpl.Renewer).Renew(func(lockimpl.Renewal) { rounds.Add(1) })
		time.Sleep(5 * time.Second)
		select {
		case <-lost:
			t.Fatal("a renewed lease was lost")
		default:
		}
		for _, link := range links[:3] {
			link.Up.Drop()
		}
		cut := time.Now()
		<-lost
		if late := time.Since(lease.ValidUntil()); late > 0 {
			t.Errorf("told %v after the end of validity", late)
		}
		if after := time.Since(cut); after > 2*time.Second || rounds.Load() < 7 {
			t.Errorf("lost %v after the cut, %d rounds of renewal", after, rounds.Load())
		}
	})
}

func TestWaiterTakesOverWhenTheLeaseOfADeadHolderEnds(t *testing.T) {
	for _, n := range []int{1, 3} {
		withAndWithoutHints(t, n, takeOverFromTheDead)
	}
}

func takeOverFromTheDead(t *testing.T, w *world.World, f lockimpl.Factory) {
	a, links := w.Client(f)
	b, _ := w.Client(f)
	dead := take(t, a, "k", 2*time.Second)
	for _, link := range links {
		link.Up.Drop()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	lease, err := b.AcquireWait(ctx, "k", 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if early := time.Until(dead.ValidUntil()); early > 0 {
		t.Errorf("granted %v before the end of the other lease", early)
	}
	if late := time.Since(dead.ValidUntil()); late > 200*time.Millisecond {
		t.Errorf("granted %v after the end of the other lease", late)
	}
	if lease.Fence() <= dead.Fence() {
		t.Errorf("token %d after %d", lease.Fence(), dead.Fence())
	}
}

func TestCancelledAcquireLeavesNoKey(t *testing.T) {
	world.Run(t, 5, func(t *testing.T, w *world.World) {
		l, links := w.Client(full)
		warm(t, l)
		for _, link := range links {
			link.Down.Delay(50 * time.Millisecond)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := l.Acquire(ctx, "k", 5*time.Second); err == nil {
			t.Fatal("granted before a reply could arrive")
		}
		time.Sleep(200 * time.Millisecond)
		if on := w.LeaseKeys(l, "k"); len(on) > 0 {
			t.Errorf("keys left on servers %v", on)
		}
	})
}

func TestLostReplyLeavesNoKey(t *testing.T) {
	for _, how := range []string{"timeout", "reset"} {
		t.Run(how, func(t *testing.T) {
			world.Run(t, 3, func(t *testing.T, w *world.World) {
				l, links := w.Client(full)
				warm(t, l)
				for _, link := range links {
					link.Down.Drop()
				}
				done := make(chan error)
				go func() {
					lease, err := l.Acquire(t.Context(), "k", 5*time.Second)
					if err == nil {
						err = lease.Release(t.Context())
					}
					done <- err
				}()
				time.Sleep(5 * time.Millisecond) // until every node has been asked
				synctest.Wait()
				if on := w.LeaseKeys(l, "k"); len(on) != 3 {
					t.Fatalf("the request was executed on servers %v only", on)
				}
				for _, link := range links {
					if how == "reset" {
						link.Cut()
					}
				}
				if how == "timeout" {
					time.Sleep(400 * time.Millisecond)
				}
				for _, link := range links {
					link.Down.Free()
					link.Cut()
				}
				<-done
				time.Sleep(time.Second)
				if on := w.LeaseKeys(l, "k"); len(on) > 0 {
					t.Errorf("keys left on servers %v", on)
				}
			})
		})
	}
}

// An owner whose lease has run out takes the key again, and gives both back. What the
// first one asked of nodes that it did not hear from is given back too: the request is
// still on its way to them, and would be granted behind everybody's back.
func TestReentryAfterALossLeavesNoKey(t *testing.T) {
	world.Run(t, 5, func(t *testing.T, w *world.World) {
		l, links := w.Client(redlock.NewFactory(redlock.Config{NodeTimeout: 5 * time.Second}))
		warm(t, l)
		allAsked(links)
		for _, slow := range links[3:] {
			slow.Up.Hold()
		}
		const ttl = 500 * time.Millisecond
		outer, err := l.AcquireAs(t.Context(), "me", "k", ttl)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl + 100*time.Millisecond)
		w.Forward(1, ttl+100*time.Millisecond)
		w.Forward(2, ttl+100*time.Millisecond)
		w.Forward(3, ttl+100*time.Millisecond)
		again, err := l.AcquireAs(t.Context(), "me", "k", ttl)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if err := outer.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
			t.Errorf("the lease that ran out was given back with %v", err)
		}
		for _, slow := range links[3:] {
			slow.Up.Free()
		}
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if on := w.LeaseKeys(l, "k"); len(on) > 0 {
			t.Errorf("keys left on servers %v", on)
		}
	})
}

// An owner whose lease has run out, and who has the key again, gives the first grant back: that
// one is lost, and the second is held as before.
func TestReleaseOfALostGrantLeavesTheNextOne(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := w.Client(full)
		other, _ := w.Client(full)
		lost, err := l.AcquireAs(t.Context(), "me", "k", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		again, err := l.AcquireAs(t.Context(), "me", "k", 8*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if err := lost.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
			t.Errorf("the lease that ran out was given back with %v, want ErrLost", err)
		}
		if _, err := other.Acquire(t.Context(), "k", time.Second); !errors.Is(err, lockimpl.ErrHeld) {
			t.Errorf("beside the owner's second lease: %v, want ErrHeld", err)
		}
		w.Release(again)
		w.Release(w.Take(other, "k", time.Second))
	})
}

// The release of a grant is heeded whatever has become of its context, which bounds only the
// wait for the answers.
func TestReleaseOfAnOwnersGrantUnderAnEndedContextLeavesNoKey(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := w.Client(full)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 {
			lease, err := l.AcquireAs(t.Context(), "me", "k", 8*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // until every node has been asked
			_ = lease.Release(ended)
			synctest.Wait()
			if on := w.LeaseKeys(l, "k"); len(on) > 0 {
				t.Fatalf("keys left on servers %v", on)
			}
		}
	})
}

package redlock_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

func TestFairWaitersAreServedInTheirOrder(t *testing.T) {
	for _, n := range []int{1, 5} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			holder, _ := w.Client(full)
			held := w.Take(holder, "k", 8*time.Second)
			var mu sync.Mutex
			var order []int
			var wg sync.WaitGroup
			for i := range 8 {
				l, links := w.Client(full)
				wg.Go(func() {
					lease, err := l.AcquireFair(t.Context(), "k", 8*time.Second)
					if i == 3 { // it dies while it waits
						return
					}
					if err != nil {
						t.Errorf("waiter %d: %v", i, err)
						return
					}
					mu.Lock()
					order = append(order, i)
					mu.Unlock()
					if err := lease.Release(t.Context()); err != nil {
						t.Errorf("waiter %d: %v", i, err)
					}
				})
				time.Sleep(20 * time.Millisecond) // more than the clocks differ by
				if i == 3 {
					for _, link := range links {
						link.Refuse(true)
						link.Cut()
					}
					defer l.Close()
				}
			}
			w.Release(held)
			began := time.Now()
			time.Sleep(5 * time.Second)
			mu.Lock()
			if want := []int{0, 1, 2, 4, 5, 6, 7}; !slices.Equal(order, want) {
				t.Errorf("%d nodes: served %v after %v, want %v", n, order, time.Since(began), want)
			}
			mu.Unlock()
			holder.Close()
		})
	}
}

func TestSeveralKeysAreTakenWithoutDeadlock(t *testing.T) {
	withAndWithoutHints(t, 3, func(t *testing.T, w *world.World, f lockimpl.Factory) {
		sets := [][]string{{"a", "b", "c"}, {"c", "a"}, {"b", "c"}, {"c", "b", "a"}, {"b", "a"}}
		var inside sync.Map
		var wg sync.WaitGroup
		began := time.Now()
		for i, keys := range sets {
			l, _ := w.Client(f)
			wg.Go(func() {
				for range 5 {
					leases, err := l.AcquireAllWait(t.Context(), keys, 5*time.Second)
					if err != nil {
						t.Errorf("%v: %v", keys, err)
						return
					}
					for _, key := range keys {
						if other, taken := inside.LoadOrStore(key, i); taken {
							t.Errorf("%s is held by %d and %d", key, other, i)
						}
					}
					time.Sleep(time.Millisecond)
					for _, key := range keys {
						inside.Delete(key)
					}
					for _, lease := range leases {
						if err := lease.Release(t.Context()); err != nil {
							t.Errorf("%v: %v", keys, err)
						}
					}
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("25 sections took %v", took)
		}
	})
}

func TestQuorumOfFourNeedsFourNodes(t *testing.T) {
	world.Run(t, 5, func(t *testing.T, w *world.World) {
		l, links := w.Client(redlock.NewFactory(redlock.Config{Quorum: 4}))
		for _, want := range []error{nil, nil, lockimpl.ErrNoQuorum} {
			lease, err := l.Acquire(t.Context(), "k", time.Second)
			if !errors.Is(err, want) {
				t.Fatalf("acquire: %v, want %v", err, want)
			}
			if err == nil {
				w.Release(lease)
			}
			links[0].Refuse(true)
			links[0].Cut()
			links = links[1:]
			synctest.Wait()
		}
	})
}

// A lease that too few nodes still know is lost at once, and what is left of
// it keeps everybody else out until the deadline that its holder was told.
func TestLeaseThatNodesForgotKeepsOthersOutUntilItsDeadline(t *testing.T) {
	world.Run(t, 5, func(t *testing.T, w *world.World) {
		a, links := w.Client(full)
		b, _ := w.Client(full)
		for _, link := range links[3:] {
			link.Refuse(true)
			link.Cut()
		}
		lease := w.Take(a, "k", 5*time.Second)
		w.Forget(1)
		for _, link := range links[3:] {
			link.Refuse(false)
		}
		time.Sleep(50 * time.Millisecond) // they are dialled again
		if err := lease.Extend(t.Context(), 5*time.Second); !errors.Is(err, lockimpl.ErrLost) {
			t.Fatalf("extend with two of five nodes left: %v, want ErrLost", err)
		}
		until := lease.ValidUntil()
		next, err := b.AcquireWait(t.Context(), "k", 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if time.Now().Before(until) {
			t.Errorf("granted %v before the deadline", time.Until(until))
		}
		if next.Fence() <= lease.Fence() {
			t.Errorf("token %d after %d", next.Fence(), lease.Fence())
		}
	})
}

// A node that grants the lock in the course of an extension, because it had not
// been asked before, says nothing about the time since the lease began: on
// others somebody else may have held the key in between.
func TestExtensionCountsOnlyNodesThatGrantedBeforeIt(t *testing.T) {
	withAndWithoutHints(t, 5, func(t *testing.T, w *world.World, f lockimpl.Factory) {
		a, _ := w.Client(f)
		b, _ := w.Client(f)
		lease := take(t, a, "k", 8*time.Second)
		asked := w.LeaseKeys(a, "k")
		if len(asked) != 3 {
			t.Fatalf("asked first: servers %v, want a quorum", asked)
		}
		for _, server := range asked[:2] {
			w.Forward(server, 9*time.Second)
		}
		other := take(t, b, "k", time.Second)
		w.Release(other)
		if err := lease.Extend(t.Context(), 8*time.Second); err == nil {
			t.Errorf("extended a lease with token %d after another with token %d", lease.Fence(), other.Fence())
		}
	})
}

// Nodes that were asked late do count from the next round on.
func TestNodesThatAreAskedLateCountInLaterExtensions(t *testing.T) {
	withAndWithoutHints(t, 5, func(t *testing.T, w *world.World, f lockimpl.Factory) {
		a, links := w.Client(f)
		lease := take(t, a, "k", 8*time.Second)
		asked := w.LeaseKeys(a, "k")
		if err := lease.Extend(t.Context(), 8*time.Second); err != nil {
			t.Fatal(err)
		}
		for _, server := range asked[:2] {
			links[server-1].Refuse(true)
			links[server-1].Cut()
		}
		synctest.Wait()
		if err := lease.Extend(t.Context(), 8*time.Second); err != nil {
			t.Errorf("extend with three of five nodes, two of which were asked late: %v", err)
		}
	})
}

// The place in the queue is that of the call, also where a subscription takes a while.
func TestFairWaiterThatCannotSubscribeKeepsItsPlace(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		holder, _ := api(w, redlock.Config{})
		deaf, links := api(w, redlock.Config{})
		later, _ := api(w, redlock.Config{})
		for _, l := range []*redlock.Lock{deaf, later} {
			if err := get(t, l, "warm", time.Second).Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if fair, err := later.AcquireFair(t.Context(), "warm", time.Second); err != nil || fair.Release(t.Context()) != nil {
			t.Fatal(err)
		}
		links[0].Refuse(true) // the connection stays, and no other is made
		held := get(t, holder, "k", 5*time.Second)
		order := make(chan string, 2)
		var waiters sync.WaitGroup
		for name, l := range map[string]*redlock.Lock{"first": deaf, "second": later} {
			waiters.Go(func() {
				if name == "second" {
					time.Sleep(15 * time.Millisecond)
				}
				lease, err := l.AcquireFair(t.Context(), "k", 5*time.Second)
				order <- name
				if err == nil {
					err = lease.Release(t.Context())
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		time.Sleep(time.Second)
		if err := held.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if first := <-order; first != "first" {
			t.Errorf("the %s call was served first", first)
		}
		waiters.Wait()
		links[0].Refuse(false)
	})
}

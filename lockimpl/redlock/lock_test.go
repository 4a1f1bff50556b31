package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

var (
	_ lockimpl.WaitLocker      = (*redlock.Locker)(nil)
	_ lockimpl.SharedLocker    = (*redlock.Locker)(nil)
	_ lockimpl.FairLocker      = (*redlock.Locker)(nil)
	_ lockimpl.ReentrantLocker = (*redlock.Locker)(nil)
	_ lockimpl.MultiLocker     = (*redlock.Locker)(nil)
	_ lockimpl.Bootstrapper    = (*redlock.Locker)(nil)
	_ lockimpl.KeyLister       = (*redlock.Locker)(nil)
)

// patient suits real time on a machine that may be busy.
var patient = redlock.Config{NodeTimeout: 10 * time.Second, MaxTTL: 30 * time.Second}

// eachSize runs test over one, three and five nodes, embedded and real.
func eachSize(t *testing.T, test func(t *testing.T, nodes []lockimpl.Node)) {
	for _, n := range []int{1, 3, 5} {
		t.Run(fmt.Sprintf("embedded-%d", n), func(t *testing.T) { test(t, embeddedNodes(t, n)) })
		t.Run(fmt.Sprintf("server-%d", n), func(t *testing.T) { test(t, serverNodes(t, n)) })
	}
}

func TestAcquireRelease(t *testing.T) {
	eachSize(t, func(t *testing.T, nodes []lockimpl.Node) {
		a := bootstrapped(t, nodes, patient)
		b := client(t, nodes, patient)
		var last uint64
		for range 20 {
			lease, err := a.Acquire(t.Context(), "k", 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if lease.Fence() <= last {
				t.Fatalf("token %d after %d", lease.Fence(), last)
			}
			last = lease.Fence()
			if _, err := b.Acquire(t.Context(), "k", 10*time.Second); !errors.Is(err, lockimpl.ErrHeld) {
				t.Fatalf("second acquire: %v, want ErrHeld", err)
			}
			if err := lease.Extend(t.Context(), 20*time.Second); err != nil {
				t.Fatal(err)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			a, b = b, a
		}
	})
}

func TestWaitersTakeTurns(t *testing.T) {
	eachSize(t, func(t *testing.T, nodes []lockimpl.Node) {
		bootstrapped(t, nodes, patient)
		var wg sync.WaitGroup
		var mu sync.Mutex
		holders, most, grants := 0, 0, map[int]int{}
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		for c := range 4 {
			l := client(t, nodes, patient)
			for range 2 {
				wg.Go(func() {
					for range 10 {
						lease, err := l.AcquireWait(ctx, "k", 10*time.Second)
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						holders++
						most = max(most, holders)
						grants[c]++
						mu.Unlock()
						mu.Lock()
						holders--
						mu.Unlock()
						if err := lease.Release(ctx); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		wg.Wait()
		if most != 1 || grants[0] != 20 || grants[3] != 20 {
			t.Fatalf("most holders %d, grants %v", most, grants)
		}
	})
}

// Sixteen clients on one key over five masters: every attempt that loses has
// taken a part of the nodes, and must give it back before a later attempt of
// anybody can need it. Neither does the key stop changing hands, nor is a
// lease left, which would live for half a minute here.
func TestHotKeyOverFiveMasters(t *testing.T) {
	nodes := serverNodes(t, 5)
	bootstrapped(t, nodes, patient)
	const runs, clients, turns, ttl = 10, 16, 5, 30 * time.Second
	for run := range runs {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		key := fmt.Sprintf("hot-%d", run)
		var wg sync.WaitGroup
		var left []string // the keys that a lease lives in
		for range clients {
			l, err := redlock.NewLocker(nodes, patient)
			if err != nil {
				t.Fatal(err)
			}
			left = l.LeaseKeys(key)
			wg.Go(func() {
				for range turns {
					lease, err := acquire(ctx, l, key, ttl, run%2 == 0)
					if err == nil {
						err = lease.Release(ctx)
					}
					if err != nil {
						t.Errorf("run %d: %v", run, err)
						break
					}
				}
				if err := l.Close(); err != nil { // waits for what is under way
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, n := range nodes {
			if kept := keysOf(t, n, left); kept > 0 {
				t.Errorf("run %d: %s keeps %d keys of leases", run, n.Name, kept)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// acquire takes key, waiting as the lock does or asking again and again.
func acquire(ctx context.Context, l world.Lock, key string, ttl time.Duration, waits bool) (lockimpl.Lease, error) {
	if waits {
		return l.AcquireWait(ctx, key, ttl)
	}
	for {
		lease, err := l.Acquire(ctx, key, ttl)
		if err == nil || ctx.Err() != nil {
			return lease, err
		}
		time.Sleep(time.Millisecond)
	}
}

// keysOf counts those of keys that n stores.
func keysOf(t *testing.T, n lockimpl.Node, keys []string) int64 {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: n.Addr})
	defer rdb.Close()
	stored, err := rdb.Exists(t.Context(), keys...).Result()
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// A waiter behind a lease of its own client leaves the nodes alone until that
// is given back: it is in no queue there.
func TestWaiterBehindItsOwnClientSendsNothing(t *testing.T) {
	m := embedded(t, 1)[0]
	l := bootstrapped(t, nodesAt([]string{m.Addr()}), patient)
	first, err := l.AcquireWait(t.Context(), "k", 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	leases := make(chan lockimpl.Lease)
	for range 2 {
		go func() {
			lease, err := l.AcquireWait(t.Context(), "k", 10*time.Second)
			if err != nil {
				t.Error(err)
			}
			leases <- lease
		}()
	}
	await(t, "a waiter has queued on the node", func() bool { return queued(m) })
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := <-leases
	await(t, "who was granted has left the queue", func() bool { return !queued(m) })
	for range 100 {
		if queued(m) {
			t.Fatal("the third has queued on the node")
		}
		time.Sleep(time.Millisecond)
	}
	if err := second.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if third := <-leases; third.Fence() <= second.Fence() {
		t.Errorf("token %d after %d", third.Fence(), second.Fence())
	}
}

// queued reports whether a node has a queue.
func queued(m *miniredis.Miniredis) bool {
	return slices.ContainsFunc(m.Keys(), func(key string) bool { return m.Type(key) == "zset" })
}

// await waits until something is so.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	awaitBy(t, time.Now().Add(time.Minute), what, so)
}

// awaitBy fails the test when something is not so by a deadline.
func awaitBy(t *testing.T, deadline time.Time, what string, so func() bool) {
	t.Helper()
	for began := time.Now(); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", time.Since(began), what)
		}
	}
}

func TestSharedExcludesExclusive(t *testing.T) {
	eachSize(t, func(t *testing.T, nodes []lockimpl.Node) {
		a := bootstrapped(t, nodes, patient)
		b := client(t, nodes, patient)
		r1, err := a.AcquireShared(t.Context(), "k", 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		r2, err := b.AcquireShared(t.Context(), "k", 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if r1.Fence() != r2.Fence() {
			t.Errorf("readers' tokens %d and %d: they share a generation", r1.Fence(), r2.Fence())
		}
		if _, err := b.Acquire(t.Context(), "k", 10*time.Second); !errors.Is(err, lockimpl.ErrHeld) {
			t.Fatalf("writer beside readers: %v", err)
		}
		granted := make(chan lockimpl.Lease)
		go func() {
			w, err := b.AcquireWait(t.Context(), "k", 10*time.Second)
			if err != nil {
				t.Error(err)
			}
			granted <- w
		}()
		if err := r1.Extend(t.Context(), 10*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := r1.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r2.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := <-granted
		if w.Fence() <= r1.Fence() {
			t.Errorf("writer's token %d is not above the readers' %d", w.Fence(), r1.Fence())
		}
		if _, err := a.AcquireShared(t.Context(), "k", 10*time.Second); !errors.Is(err, lockimpl.ErrHeld) {
			t.Fatalf("reader beside a writer: %v", err)
		}
		if err := w.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		r3, err := a.AcquireSharedWait(t.Context(), "k", 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if r3.Fence() <= w.Fence() {
			t.Errorf("reader's token %d is not above the writer's %d", r3.Fence(), w.Fence())
		}
		if err := r3.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestReentry(t *testing.T) {
	l := bootstrapped(t, embeddedNodes(t, 3), patient)
	outer, err := l.AcquireAs(t.Context(), "me", "k", 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := l.AcquireAs(t.Context(), "me", "k", 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if inner.Fence() != outer.Fence() {
		t.Errorf("re-entry changed the token from %d to %d", outer.Fence(), inner.Fence())
	}
	for range 2 { // releasing one handle twice must not free the other's grant
		if err := outer.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.AcquireAs(t.Context(), "you", "k", 10*time.Second); !errors.Is(err, lockimpl.ErrHeld) {
		t.Fatalf("another owner: %v", err)
	}
	if err := inner.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := l.AcquireAs(t.Context(), "you", "k", 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAcquireAllIsAllOrNothing(t *testing.T) {
	nodes := embeddedNodes(t, 3)
	a, b := bootstrapped(t, nodes, patient), client(t, nodes, patient)
	one, err := b.Acquire(t.Context(), "y", 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.AcquireAll(t.Context(), []string{"z", "y", "x"}, 10*time.Second); !errors.Is(err, lockimpl.ErrHeld) {
		t.Fatalf("acquire all with one held: %v", err)
	}
	if err := one.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	leases, err := a.AcquireAllWait(t.Context(), []string{"z", "y", "x"}, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{"z", "y", "x"} {
		if _, err := b.Acquire(t.Context(), key, 10*time.Second); !errors.Is(err, lockimpl.ErrHeld) {
			t.Fatalf("%s is not held: %v", key, err)
		}
		if err := leases[i].Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := b.AcquireWait(t.Context(), key, 10*time.Second)
		if err != nil {
			t.Fatalf("lease %d does not answer %s: %v", i, key, err)
		}
		if err := got.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

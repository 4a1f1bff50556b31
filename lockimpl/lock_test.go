package lockimpl_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"locktorture/lockimpl"
)

var (
	_ lockimpl.WaitLocker   = (*lockimpl.Lock)(nil)
	_ lockimpl.SharedLocker = (*lockimpl.Lock)(nil)
	_ lockimpl.Bootstrapper = (*lockimpl.Lock)(nil)
	_ lockimpl.KeyLister    = (*lockimpl.Lock)(nil)
)

// eachSize runs test over one, three and five nodes, embedded and real.
func eachSize(t *testing.T, test func(t *testing.T, nodes []lockimpl.Node)) {
	for _, n := range []int{1, 3, 5} {
		t.Run(fmt.Sprintf("embedded-%d", n), func(t *testing.T) { test(t, embeddedNodes(t, n)) })
		t.Run(fmt.Sprintf("server-%d", n), func(t *testing.T) { test(t, serverNodes(t, n)) })
	}
}

func TestAcquireRelease(t *testing.T) {
	eachSize(t, func(t *testing.T, nodes []lockimpl.Node) {
		a := bootstrapped(t, nodes, lockimpl.Config{})
		b := client(t, nodes, lockimpl.Config{})
		var last uint64
		for range 20 {
			lease, err := a.Acquire(t.Context(), "k", time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if lease.Fence() <= last {
				t.Fatalf("token %d after %d", lease.Fence(), last)
			}
			last = lease.Fence()
			if _, err := b.Acquire(t.Context(), "k", time.Second); !errors.Is(err, lockimpl.ErrHeld) {
				t.Fatalf("second acquire: %v, want ErrHeld", err)
			}
			if err := lease.Extend(t.Context(), 2*time.Second); err != nil {
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
		bootstrapped(t, nodes, lockimpl.Config{})
		var wg sync.WaitGroup
		var mu sync.Mutex
		holders, most, grants := 0, 0, map[int]int{}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		for c := range 4 {
			l := client(t, nodes, lockimpl.Config{})
			for range 2 {
				wg.Go(func() {
					for range 10 {
						lease, err := l.AcquireWait(ctx, "k", 5*time.Second)
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

package redlock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// A renewal whose context has ended is none, though its goroutine may not have noticed, or
// may be in the middle of a round: another goes on in its place.
func TestRenewalFollowsOneWhoseContextHasEnded(t *testing.T) {
	for name, settle := range map[string]func(stop func()){
		"at once":         func(stop func()) { stop() },
		"noticed":         func(stop func()) { stop(); synctest.Wait() },
		"between rounds":  func(stop func()) { time.Sleep(time.Second); stop() },
		"during a round":  func(stop func()) { time.Sleep(700 * time.Millisecond); stop() },
		"late in the TTL": func(stop func()) { stop(); time.Sleep(1800 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			world.Run(t, 1, func(t *testing.T, w *world.World) {
				l, links := api(w, redlock.Config{})
				lease := get(t, l, "k", 2*time.Second)
				links[0].Down.Delay(100 * time.Millisecond)
				first, stop := context.WithCancel(t.Context())
				lease.Renew(first)
				settle(stop)
				lease.Renew(t.Context())
				time.Sleep(10 * time.Second)
				if err := lease.Err(); err != nil {
					t.Errorf("renewed again: %v", err)
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// An extension that does not move the deadline changes nothing of the renewal either.
func TestShorterExtensionLeavesTheRenewal(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		var renewals extensions
		l, _ := api(w, redlock.Config{Observer: &renewals})
		lease := get(t, l, "k", 5*time.Second)
		if err := lease.Extend(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if ttl := lease.TTL(); ttl != 5*time.Second {
			t.Errorf("the length is %v, and the deadline that of 5 s", ttl)
		}
		renewals.Store(0)
		lease.Renew(t.Context())
		time.Sleep(20 * time.Second)
		if n := renewals.Load(); lease.Err() != nil || n > 15 {
			t.Errorf("%d renewals in 20 s of a lease of 5 s: %v", n, lease.Err())
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

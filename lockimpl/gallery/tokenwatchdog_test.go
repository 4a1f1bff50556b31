package gallery

import (
	"errors"
	"testing"
	"time"

	"locktorture/lockimpl"
)

// rounds attaches an observer to lease and delivers what it is told.
func rounds(t *testing.T, lease lockimpl.Lease) <-chan lockimpl.Renewal {
	seen := make(chan lockimpl.Renewal, 64)
	lease.(lockimpl.Renewer).Renew(func(r lockimpl.Renewal) {
		select {
		case seen <- r:
		case <-t.Context().Done():
		}
	})
	return seen
}

// TestWatchdogRenews sees every renewal move the promise, until the token is
// gone: that ends the task, and nothing else happens.
func TestWatchdogRenews(t *testing.T) {
	for _, id := range []string{"token-watchdog", "redisson-hash"} {
		t.Run(id, func(t *testing.T) {
			servers, nodes := cluster(t, 1)
			a := open(t, factory(t, id), nodes)
			lease, err := a.Acquire(t.Context(), "k", 600*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			last, seen := lease.ValidUntil(), rounds(t, lease)
			for range 2 {
				r := <-seen
				if r.Err != nil || !r.ValidUntil.After(last) {
					t.Fatalf("renewal %+v, want one that moves validity beyond %v", r, last)
				}
				last = r.ValidUntil
			}
			servers[0].FlushAll()
			for r := range seen {
				if errors.Is(r.Err, lockimpl.ErrLost) {
					break
				}
			}
			err = lease.Release(t.Context())
			if unchecked := id == "token-watchdog"; errors.Is(err, lockimpl.ErrLost) == unchecked {
				t.Errorf("release: %v, want ErrLost unless the recipe ignores the reply", err)
			}
		})
	}
}

// TestForgetfulMaster empties the master under a holder: the next client gets
// in while the first is still promised its lease.
func TestForgetfulMaster(t *testing.T) {
	for _, id := range []string{"token-watchdog", "redisson-hash"} {
		t.Run(id, func(t *testing.T) {
			servers, nodes := cluster(t, 1)
			a, b := open(t, factory(t, id), nodes), open(t, factory(t, id), nodes)
			first := mustAcquire(t, a, "k")
			mustRefuse(t, b, "k")
			servers[0].FlushAll()
			second := mustAcquire(t, b, "k")
			if second.ValidUntil().Before(first.ValidUntil()) {
				t.Error("the promises do not overlap")
			}
		})
	}
}

// TestReleaseEndsWatchdog finds no task alive after a release.
func TestReleaseEndsWatchdog(t *testing.T) {
	_, nodes := cluster(t, 1)
	a := open(t, factory(t, "token-watchdog"), nodes).(*tokenWatchdog)
	mustRelease(t, mustAcquire(t, a, "k"))
	a.tasks.wg.Wait()
}

// TestCloseEndsWatchdog closes a locker that has not released.
func TestCloseEndsWatchdog(t *testing.T) {
	for _, r := range Recipes() {
		_, nodes := cluster(t, r.Nodes)
		a, err := r.Factory(nodes)
		if err != nil {
			t.Fatal(err)
		}
		mustAcquire(t, a, "k")
		if err := a.Close(); err != nil {
			t.Errorf("%s: close: %v", r.ID, err)
		}
	}
}

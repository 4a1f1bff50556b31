package gallery

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"

	"locktorture/lockimpl"
)

// TestRenewalComesTooLate holds beyond the TTL, without any fault: another gets
// in at the very end, and the holder believes in its renewal all the same.
func TestRenewalComesTooLate(t *testing.T) {
	for _, c := range []struct {
		id               string
		atOnce, believes bool
	}{{"renew-limited", true, true}, {"token-watchdog", false, false}} {
		t.Run(c.id, func(t *testing.T) {
			const ttl = 300 * time.Millisecond
			servers, nodes := cluster(t, 1)
			a, b := open(t, factory(t, c.id), nodes), open(t, factory(t, c.id), nodes)
			lease, err := a.Acquire(t.Context(), "k", ttl)
			if err != nil {
				t.Fatal(err)
			}
			seen := rounds(t, lease)
			if c.atOnce {
				<-seen
			}
			servers[0].FastForward(ttl)
			mustAcquire(t, b, "k")
			if r := <-seen; (r.Err == nil) != c.believes {
				t.Errorf("renewal after the takeover: %v, want belief %t", r.Err, c.believes)
			}
		})
	}
}

// TestRenewalOnlyWhenAsked holds without asking: nothing renews.
func TestRenewalOnlyWhenAsked(t *testing.T) {
	_, nodes := cluster(t, 1)
	a := open(t, factory(t, "renew-limited"), nodes).(*renewLimited)
	mustAcquire(t, a, "k")
	if n := running(&a.tasks); n != 0 {
		t.Errorf("%d renewal tasks, want none", n)
	}
}

// TestReentryAfterLoss re-enters a lease that another has taken over: the
// process counts, and asks nobody.
func TestReentryAfterLoss(t *testing.T) {
	for _, c := range []struct {
		id      string
		granted bool
	}{{"renew-limited", true}, {"redisson-hash", false}} {
		t.Run(c.id, func(t *testing.T) {
			servers, nodes := cluster(t, 1)
			a, b := open(t, factory(t, c.id), nodes).(lockimpl.ReentrantLocker), open(t, factory(t, c.id), nodes)
			if _, err := a.AcquireAs(t.Context(), "me", "k", ttl); err != nil {
				t.Fatal(err)
			}
			servers[0].FastForward(ttl + 1)
			mustAcquire(t, b, "k")
			if _, err := a.AcquireAs(t.Context(), "me", "k", ttl); (err == nil) != c.granted {
				t.Errorf("re-entry after the loss: %v, want granted %t", err, c.granted)
			}
		})
	}
}

// TestRenewalIsTriedAgainAtOnce breaks the server: the task neither pauses nor
// counts.
func TestRenewalIsTriedAgainAtOnce(t *testing.T) {
	virtually(t, func(t *testing.T, m *miniredis.Miniredis, node lockimpl.Node) {
		lease := mustAcquire(t, open(t, factory(t, "renew-limited"), []lockimpl.Node{node}), "k")
		m.SetError("the server is broken")
		began, seen := time.Now(), rounds(t, lease)
		for range 3 * renewLimit {
			if r := <-seen; r.Err == nil {
				t.Fatal("a renewal without a server succeeded")
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("%d rounds took %v, want no pause", 3*renewLimit, took)
		}
		m.SetError("")
	})
}

// TestReleaseStopsOthersRenewal releases one of two keys: the other has been
// renewed once, and is not again.
func TestReleaseStopsOthersRenewal(t *testing.T) {
	virtually(t, func(t *testing.T, _ *miniredis.Miniredis, node lockimpl.Node) {
		a := open(t, factory(t, "renew-limited"), []lockimpl.Node{node}).(*renewLimited)
		one, two := mustAcquire(t, a, "k1"), mustAcquire(t, a, "k2")
		seen := rounds(t, two)
		synctest.Wait()
		mustRelease(t, one)
		a.tasks.wg.Wait()
		if n := len(seen); n != 1 {
			t.Errorf("k2 was renewed %d times although k1 was released after the first", n)
		}
	})
}

// TestReentry takes a key twice for one owner: the last release frees it.
func TestReentry(t *testing.T) {
	for _, id := range []string{"renew-limited", "redisson-hash"} {
		t.Run(id, func(t *testing.T) {
			_, nodes := cluster(t, 1)
			a, b := open(t, factory(t, id), nodes), open(t, factory(t, id), nodes)
			as := a.(lockimpl.ReentrantLocker)
			outer, err := as.AcquireAs(t.Context(), "me", "k", ttl)
			if err != nil {
				t.Fatal(err)
			}
			inner, err := as.AcquireAs(t.Context(), "me", "k", ttl)
			if err != nil {
				t.Fatal(err)
			}
			mustRefuse(t, a, "k")
			mustRefuse(t, b, "k")
			mustRelease(t, inner)
			mustRefuse(t, b, "k")
			mustRelease(t, outer)
			mustAcquire(t, b, "k")
		})
	}
}

// TestTwoKeys takes two keys at once, or none.
func TestTwoKeys(t *testing.T) {
	for _, id := range []string{"renew-limited", "redisson-hash"} {
		t.Run(id, func(t *testing.T) {
			_, nodes := cluster(t, 1)
			a, b := open(t, factory(t, id), nodes), open(t, factory(t, id), nodes)
			second := mustAcquire(t, b, "k2")
			if _, err := a.(lockimpl.MultiLocker).AcquireAll(t.Context(), []string{"k1", "k2"}, ttl); !errors.Is(err, lockimpl.ErrHeld) {
				t.Fatalf("acquire all with one held: %v, want ErrHeld", err)
			}
			mustRelease(t, mustAcquire(t, b, "k1"))
			mustRelease(t, second)
			held, err := a.(lockimpl.MultiLocker).AcquireAll(t.Context(), []string{"k1", "k2"}, ttl)
			if err != nil || len(held) != 2 {
				t.Fatalf("acquire all: %d leases, %v", len(held), err)
			}
			mustRefuse(t, b, "k1")
			mustRefuse(t, b, "k2")
		})
	}
}

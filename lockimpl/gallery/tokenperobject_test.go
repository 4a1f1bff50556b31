package gallery

import (
	"context"
	"errors"
	"testing"
	"time"

	"locktorture/lockimpl"
)

// TestLateReleaseOfOnesOwn holds a release back until its client has been
// granted the key again: another must not get in.
func TestLateReleaseOfOnesOwn(t *testing.T) {
	for _, c := range []struct {
		id    string
		freed bool
	}{{"token-per-object", true}, {"token-lua", false}} {
		t.Run(c.id, func(t *testing.T) {
			servers, nodes := cluster(t, 1)
			w, slow := wired(nodes)
			a, b := open(t, factory(t, c.id), slow), open(t, factory(t, c.id), nodes)
			first := mustAcquire(t, a, "k")
			w.hold("eval")
			done := async(t, func() error { return first.Release(context.WithoutCancel(t.Context())) })
			<-w.caught
			servers[0].FastForward(ttl + 1)
			mustAcquire(t, a, "k")
			close(w.proceed)
			if err := <-done; err != nil {
				t.Fatalf("late release: %v", err)
			}
			if c.freed {
				mustAcquire(t, b, "k")
			} else {
				mustRefuse(t, b, "k")
			}
		})
	}
}

// TestLockingTwiceSendsNothing locks an object that is locked, with the server
// away.
func TestLockingTwiceSendsNothing(t *testing.T) {
	servers, nodes := cluster(t, 1)
	a := open(t, factory(t, "token-per-object"), nodes)
	mustAcquire(t, a, "k")
	servers[0].Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := a.Acquire(ctx, "k", ttl); !errors.Is(err, errLocked) || !errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("second lock: %v, want an error before anything is sent", err)
	}
}

// TestUnlockLowersTheFlagFirst loses the reply to a release: its caller is given
// an error, and the object can be locked again.
func TestUnlockLowersTheFlagFirst(t *testing.T) {
	_, nodes := cluster(t, 1)
	w, lossy := wired(nodes)
	a := open(t, factory(t, "token-per-object"), lossy)
	mustRelease(t, mustAcquire(t, a, "k")) // the server knows the script
	lease := mustAcquire(t, a, "k")
	w.loseReply("evalsha")
	if err := lease.Release(t.Context()); err == nil {
		t.Fatal("a release without a reply succeeded")
	}
	mustAcquire(t, a, "k")
}

package gallery

import (
	"context"
	"errors"
	"testing"
	"time"

	"locktorture/lockimpl"
)

// TestLostReplyOnAcquire loses the reply to an acquisition that was executed.
func TestLostReplyOnAcquire(t *testing.T) {
	servers, nodes := cluster(t, 1)
	w, lossy := wired(nodes)
	a, b := open(t, factory(t, "redisson-hash"), lossy), open(t, factory(t, "redisson-hash"), nodes)
	mustRelease(t, mustAcquire(t, a, "warm")) // the server knows the scripts
	w.loseReply("evalsha")
	lease := mustAcquire(t, a, "k")
	<-w.caught
	mustRelease(t, lease)
	mustRefuse(t, b, "k")
	if owners, err := servers[0].HKeys("k"); err != nil || len(owners) != 1 {
		t.Errorf("left behind: %v (%v), want one owner", owners, err)
	}
	if left := running(&a.(*redissonHash).tasks); left != 1 {
		t.Errorf("%d watchdogs after the release, want the one that renews it for nobody", left)
	}
}

// TestLostReplyWithToken is the same for a lock whose attempts have an identity:
// the outcome is unknown, and what is left ends with its TTL.
func TestLostReplyWithToken(t *testing.T) {
	servers, nodes := cluster(t, 1)
	w, lossy := wired(nodes)
	a, b := open(t, factory(t, "token-lua"), lossy), open(t, factory(t, "token-lua"), nodes)
	w.loseReply("$3\r\nset\r\n")
	if _, err := a.Acquire(t.Context(), "k", ttl); err == nil || errors.Is(err, lockimpl.ErrHeld) {
		t.Fatalf("acquire without a reply: %v, want an indefinite error", err)
	}
	mustRefuse(t, b, "k")
	servers[0].FastForward(ttl)
	mustAcquire(t, b, "k")
}

// TestSubscriber waits for a release, and in vain.
func TestSubscriber(t *testing.T) {
	servers, nodes := cluster(t, 1)
	a, b := open(t, factory(t, "redisson-hash"), nodes), open(t, factory(t, "redisson-hash"), nodes)
	lease := mustAcquire(t, a, "k")
	ctx, cancel := context.WithCancel(t.Context())
	vain := async(t, func() error { _, err := b.(lockimpl.WaitLocker).AcquireWait(ctx, "k", ttl); return err })
	done := async(t, func() error { _, err := b.(lockimpl.WaitLocker).AcquireWait(t.Context(), "k", ttl); return err })
	for servers[0].PubSubNumSub(channel("k"))[channel("k")] < 2 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-vain; !errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("wait given up: %v, want ErrHeld", err)
	}
	mustRelease(t, lease)
	if err := <-done; err != nil {
		t.Errorf("wait for a release: %v", err)
	}
}

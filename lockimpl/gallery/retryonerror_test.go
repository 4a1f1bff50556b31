package gallery

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"locktorture/lockimpl"
)

// loseReplies has every command that contains word executed, breaks the
// connection instead of delivering its reply, and counts them.
func (w *wire) loseReplies(word string) *atomic.Int64 {
	var n atomic.Int64
	var again func()
	again = func() {
		w.catch(word, func(c *wireConn, p []byte) (int, error) {
			n.Add(1)
			c.deaf = true
			again()
			return c.Conn.Write(p)
		})
	}
	again()
	return &n
}

// sending are the recipes that send a command again, and how often at most.
var sending = []struct {
	id, take, leave string
	again           int64
}{
	{"token-lua", "$3\r\nset\r\n", "evalsha", 0},
	{"retry-on-error", "$3\r\nset\r\n", "evalsha", 1},
	{"retry-on-error-hash", "evalsha", "evalsha", 1},
	{"redisson-hash", "evalsha", "evalsha", 3},
}

// TestHowOftenACommandIsSent loses every reply: of an acquisition, and of a
// release.
func TestHowOftenACommandIsSent(t *testing.T) {
	for _, c := range sending {
		t.Run(c.id, func(t *testing.T) {
			_, nodes := cluster(t, 1)
			w, lossy := wired(nodes)
			a := open(t, factory(t, c.id), lossy)
			mustRelease(t, mustAcquire(t, a, "warm")) // the server knows the scripts
			held := mustAcquire(t, a, "held")
			taken := w.loseReplies(c.take)
			if _, err := a.Acquire(t.Context(), "k", ttl); err == nil || errors.Is(err, lockimpl.ErrHeld) {
				t.Errorf("acquire without a reply: %v, want an indefinite error", err)
			}
			if n := taken.Load(); n != 1+c.again {
				t.Errorf("the acquisition was sent %d times, want %d", n, 1+c.again)
			}
			left := w.loseReplies(c.leave)
			if err := held.Release(t.Context()); err == nil || errors.Is(err, lockimpl.ErrLost) {
				t.Errorf("release without a reply: %v, want an indefinite error", err)
			}
			if n := left.Load(); n != 1+c.again {
				t.Errorf("the release was sent %d times, want %d", n, 1+c.again)
			}
		})
	}
}

// TestOwnKeyRefuses loses the reply to an acquisition: the second try is refused
// by the key of the first, which nobody owns, until it expires.
func TestOwnKeyRefuses(t *testing.T) {
	servers, nodes := cluster(t, 1)
	w, lossy := wired(nodes)
	a, b := open(t, factory(t, "retry-on-error"), lossy), open(t, factory(t, "retry-on-error"), nodes)
	w.loseReply("$3\r\nset\r\n")
	mustRefuse(t, a, "k")
	mustRefuse(t, b, "k")
	servers[0].FastForward(ttl)
	mustAcquire(t, b, "k")
}

// TestSecondTryReleases loses the reply to a release: its second try finds
// nothing, and is not asked.
func TestSecondTryReleases(t *testing.T) {
	_, nodes := cluster(t, 1)
	w, lossy := wired(nodes)
	a, b := open(t, factory(t, "retry-on-error"), lossy), open(t, factory(t, "retry-on-error"), nodes)
	mustRelease(t, mustAcquire(t, a, "warm"))
	lease := mustAcquire(t, a, "k")
	w.loseReply("evalsha")
	mustRelease(t, lease)
	mustAcquire(t, b, "k")
}

// TestRenewalIsSentAgain loses the reply to one renewal.
func TestRenewalIsSentAgain(t *testing.T) {
	for _, c := range []struct {
		id    string
		nodes int
		again bool
	}{{"redisson-hash", 1, true}, {"retry-on-error-hash", 1, true}, {"redisson-redlock", 1, false}} {
		t.Run(c.id, func(t *testing.T) {
			_, nodes := cluster(t, c.nodes)
			w, lossy := wired(nodes)
			l := open(t, factory(t, c.id), lossy)
			var h *redissonHash
			switch l := l.(type) {
			case *redissonHash:
				h = l
			case redissonRedlock:
				h = l.parts[0]
			}
			mustRelease(t, mustAcquire(t, h, "warm"))
			lease := mustAcquire(t, h, "k").(*hashLease)
			until := lease.ValidUntil()
			if _, err := h.renew(t.Context(), lease.hold, lease.hashHold, ttl); err != nil {
				t.Fatal(err) // the server knows the script
			}
			w.loseReply("evalsha")
			_, err := h.renew(context.WithoutCancel(t.Context()), lease.hold, lease.hashHold, ttl)
			if (err == nil) != c.again {
				t.Errorf("renewal whose reply was lost: %v, want it sent again: %t", err, c.again)
			}
			if !lease.ValidUntil().After(until) {
				t.Error("the renewals did not move the promise")
			}
		})
	}
}

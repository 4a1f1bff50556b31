package gallery

import (
	"errors"
	"testing"
	"time"

	"locktorture/lockimpl"
)

// ahead is a clock that is d fast.
func ahead(d time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(d) }
}

// TestFastClockTakesHeldLock lets a client whose clock is fast try a held lock.
func TestFastClockTakesHeldLock(t *testing.T) {
	for _, c := range []struct {
		name    string
		factory lockimpl.Factory
		granted bool
	}{
		{"fast beyond ttl and tolerance", GetSetTimestamp(ahead(ttl + 2*stampTolerance)), true},
		{"fast within the tolerance", GetSetTimestamp(ahead(stampTolerance / 2)), false},
		{"server's clock", factory(t, "token-lua"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, nodes := cluster(t, 1)
			a, b := open(t, GetSetTimestamp(time.Now), nodes), open(t, c.factory, nodes)
			mustAcquire(t, a, "k")
			_, err := b.Acquire(t.Context(), "k", ttl)
			if granted := err == nil; granted != c.granted {
				t.Errorf("second grant: %t (%v), want %t", granted, err, c.granted)
			}
		})
	}
}

// TestLoserOverwritesStamp holds a taker back between GET and GETSET until
// another has taken the stale lock: it is refused, and its stamp stays.
func TestLoserOverwritesStamp(t *testing.T) {
	servers, nodes := cluster(t, 1)
	servers[0].Set("k", string(stampBytes(time.UnixMilli(1000))))
	w, slow := wired(nodes)
	late := ahead(time.Hour)
	a, b := open(t, GetSetTimestamp(late), slow), open(t, GetSetTimestamp(time.Now), nodes)
	w.hold("getset")
	done := async(t, func() error { _, err := a.Acquire(t.Context(), "k", ttl); return err })
	<-w.caught
	mustAcquire(t, b, "k")
	before, _ := servers[0].Get("k")
	close(w.proceed)
	if err := <-done; !errors.Is(err, lockimpl.ErrHeld) {
		t.Fatalf("loser of the race: %v, want ErrHeld", err)
	}
	if after, _ := servers[0].Get("k"); after == before {
		t.Errorf("the winner's stamp %s was left alone", before)
	}
}

// TestStampOfThisMillisecond finds a stamp that is the client's own time: it is
// not below it.
func TestStampOfThisMillisecond(t *testing.T) {
	for id, build := range map[string]func(func() time.Time) lockimpl.Factory{
		"getset-timestamp": GetSetTimestamp, "del-setnx-timestamp": DelSetNXTimestamp,
	} {
		t.Run(id, func(t *testing.T) {
			servers, nodes := cluster(t, 1)
			servers[0].Set("k", string(stampBytes(at(0)())))
			mustRefuse(t, open(t, build(at(0)), nodes), "k")
			mustAcquire(t, open(t, build(at(time.Millisecond)), nodes), "k")
		})
	}
}

// TestStampGoneMeanwhile deletes the stamp between SETNX and GET: what is not
// there has not passed, and the attempt ends with "not taken".
func TestStampGoneMeanwhile(t *testing.T) {
	for _, id := range []string{"getset-timestamp", "del-setnx-timestamp"} {
		t.Run(id, func(t *testing.T) {
			servers, nodes := cluster(t, 1)
			servers[0].Set("k", string(stampBytes(time.Now().Add(time.Hour))))
			w, slow := wired(nodes)
			a := open(t, factory(t, id), slow)
			w.hold("$3\r\nget\r\n")
			done := async(t, func() error { _, err := a.Acquire(t.Context(), "k", ttl); return err })
			<-w.caught
			servers[0].Del("k")
			close(w.proceed)
			if err := <-done; !errors.Is(err, lockimpl.ErrHeld) {
				t.Errorf("acquire: %v, want ErrHeld", err)
			}
			if servers[0].Exists("k") {
				t.Error("a stamp was set by who was refused")
			}
		})
	}
}

// TestWonByTheStampFound changes the stamp between GET and GETSET to another that
// has passed as well: only the one that was found wins.
func TestWonByTheStampFound(t *testing.T) {
	servers, nodes := cluster(t, 1)
	servers[0].Set("k", string(stampBytes(time.UnixMilli(1000))))
	w, slow := wired(nodes)
	a := open(t, factory(t, "getset-timestamp"), slow)
	w.hold("getset")
	done := async(t, func() error { _, err := a.Acquire(t.Context(), "k", ttl); return err })
	<-w.caught
	servers[0].Set("k", string(stampBytes(time.UnixMilli(2000))))
	close(w.proceed)
	if err := <-done; !errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("acquire over another's stamp: %v, want ErrHeld", err)
	}
}

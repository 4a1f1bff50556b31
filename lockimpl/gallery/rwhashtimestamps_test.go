package gallery

import (
	"testing"
	"time"
)

// at is a clock that stands still d after an arbitrary origin.
func at(d time.Duration) func() time.Time {
	return func() time.Time { return time.UnixMilli(1e12).Add(d) }
}

// TestSecondReaderOverwritesFirst has the reader leave whose stamp is in the
// hash: a writer gets in beside the other.
func TestSecondReaderOverwritesFirst(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, next time.Duration
	}{
		{"later stamp", 0, time.Millisecond},
		{"same millisecond", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, nodes := cluster(t, 1)
			one, two := open(t, RWHashTimestamps(at(c.first)), nodes), open(t, RWHashTimestamps(at(c.next)), nodes)
			writer := open(t, RWHashTimestamps(at(time.Second)), nodes)
			mustShare(t, one, "k")
			leaving := mustShare(t, two, "k")
			mustRefuse(t, writer, "k")
			mustRelease(t, leaving)
			mustAcquire(t, writer, "k")
		})
	}
}

// TestSameStampIsOneOwner has a writer leave late whose stamp the present holder
// bears too, a third having overrun the first meanwhile.
func TestSameStampIsOneOwner(t *testing.T) {
	for _, c := range []struct {
		name   string
		second time.Duration
		freed  bool
	}{{"same millisecond", 0, true}, {"the next one", time.Millisecond, false}} {
		t.Run(c.name, func(t *testing.T) {
			_, nodes := cluster(t, 1)
			first, second := open(t, RWHashTimestamps(at(0)), nodes), open(t, RWHashTimestamps(at(c.second)), nodes)
			third := open(t, RWHashTimestamps(at(ttl+time.Millisecond)), nodes)
			late := mustAcquire(t, first, "k")
			mustRelease(t, mustAcquire(t, third, "k"))
			mustAcquire(t, second, "k")
			if err := late.Release(t.Context()); (err == nil) != c.freed {
				t.Errorf("late release: %v, want success %v", err, c.freed)
			}
			if c.freed {
				mustAcquire(t, open(t, RWHashTimestamps(at(c.second)), nodes), "k")
			}
		})
	}
}

// TestLongReadIsOverrun lets a writer come after the time-out of a read, by its
// own clock: a stamp has passed when more than that has gone by.
func TestLongReadIsOverrun(t *testing.T) {
	for _, c := range []struct {
		name    string
		writer  time.Duration
		granted bool
	}{{"at the time-out", ttl / 3, false}, {"after it", ttl/3 + time.Millisecond, true}} {
		t.Run(c.name, func(t *testing.T) {
			_, nodes := cluster(t, 1)
			reader, writer := open(t, RWHashTimestamps(at(0)), nodes), open(t, RWHashTimestamps(at(c.writer)), nodes)
			mustShare(t, reader, "k")
			if c.granted {
				mustAcquire(t, writer, "k")
			} else {
				mustRefuse(t, writer, "k")
			}
		})
	}
}

// TestStampsKeepTheHash lets time pass for the server alone: every acquisition
// renews the expiry of the whole hash, which is longer than both time-outs.
func TestStampsKeepTheHash(t *testing.T) {
	servers, nodes := cluster(t, 1)
	one, two := open(t, RWHashTimestamps(at(0)), nodes), open(t, RWHashTimestamps(at(time.Millisecond)), nodes)
	writer := open(t, RWHashTimestamps(at(2*time.Millisecond)), nodes)
	mustShare(t, one, "k")
	servers[0].FastForward(2 * ttl)
	mustShare(t, two, "k")
	servers[0].FastForward(2 * ttl)
	mustRefuse(t, writer, "k")
	want := keyTimeout(ttl).Truncate(time.Millisecond) - 2*ttl
	if left := servers[0].TTL("k"); left != want {
		t.Errorf("the hash expires in %v, want %v", left, want)
	}
	servers[0].FastForward(2 * ttl)
	mustAcquire(t, writer, "k")
}

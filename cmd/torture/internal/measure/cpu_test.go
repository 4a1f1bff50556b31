package measure

import (
	"math"
	"testing"
	"time"
)

// What this process and the servers did not use of the machine's busy time, others
// did. Where a server's time is not known nobody can tell.
func TestOthers(t *testing.T) {
	began := time.Unix(0, 0)
	for _, c := range []struct {
		name          string
		redis         []time.Duration
		harness, busy float64 // seconds, and share of the machine
		cpus          int
		want          float64
		disturbed     bool
	}{
		{"nobody else", []time.Duration{200 * time.Millisecond, 100 * time.Millisecond}, 0.7, 0.5, 2, 0, false},
		{"somebody", []time.Duration{200 * time.Millisecond, 100 * time.Millisecond}, 0.7, 0.9, 2, 0.4, true},
		{"a little", []time.Duration{200 * time.Millisecond, 100 * time.Millisecond}, 0.7, 0.6, 2, 0.1, false},
		{"a server elsewhere", []time.Duration{200 * time.Millisecond, 0}, 0.1, 0.9, 2, 0, false},
	} {
		before := Usage{at: began, redis: make([]time.Duration, len(c.redis))}
		after := Usage{at: began.Add(time.Second), redis: c.redis, harness: time.Duration(c.harness * float64(time.Second)), busy: 100 * c.busy, total: 100}
		b := after.since(before, len(c.redis), c.cpus)
		if math.Abs(b.Others-c.want) > 1e-9 || (Disturbed(b) != "") != c.disturbed {
			t.Errorf("%s: others %v (%s), want %v", c.name, b.Others, Disturbed(b), c.want)
		}
	}
}

package measure

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What this process and the servers did not use of the machine's busy time, others
// did. Where a server's time is not known nobody can tell, but of what the host took.
func TestOthers(t *testing.T) {
	began := time.Unix(0, 0)
	for _, c := range []struct {
		name          string
		redis         []time.Duration
		harness, busy float64 // seconds, and share of the machine
		steal         float64 // of the machine
		unknown       bool
		want          float64
		disturbed     bool
	}{
		{"nobody else", []time.Duration{200 * time.Millisecond, 100 * time.Millisecond}, 0.7, 0.5, 0, false, 0, false},
		{"somebody", []time.Duration{200 * time.Millisecond, 100 * time.Millisecond}, 0.7, 0.9, 0, false, 0.4, true},
		{"a little", []time.Duration{200 * time.Millisecond, 100 * time.Millisecond}, 0.7, 0.6, 0, false, 0.1, false},
		{"a server that nobody sees", []time.Duration{200 * time.Millisecond, 0}, 0.1, 0.9, 0, true, 0, false},
		{"servers elsewhere", []time.Duration{0, 0}, 0.2, 0.9, 0, false, 0.8, true},
		{"embedded servers", []time.Duration{0, 0}, 1.8, 0.9, 0, false, 0, false},
		{"the host", []time.Duration{200 * time.Millisecond, 100 * time.Millisecond}, 0.7, 0.9, 0.4, false, 0.4, true},
		{"a server that nobody sees, and the host", []time.Duration{200 * time.Millisecond, 0}, 0.1, 0.9, 0.3, true, 0.3, true},
	} {
		before := Usage{at: began, redis: make([]time.Duration, len(c.redis))}
		after := Usage{at: began.Add(time.Second), redis: c.redis, harness: time.Duration(c.harness * float64(time.Second)), busy: 100 * c.busy, total: 100, steal: 100 * c.steal, unknown: c.unknown}
		b := after.since(before, len(c.redis), 2)
		if math.Abs(b.Others-c.want) > 1e-9 || (Disturbed(b) != "") != c.disturbed {
			t.Errorf("%s: others %v (%s), want %v", c.name, b.Others, Disturbed(b), c.want)
		}
	}
}

// What is measured while this process stands still for long is not counted, as where others
// take the processors.
func TestStandstillsAreSeen(t *testing.T) {
	for _, c := range []struct {
		longest, took time.Duration
		want          string
	}{
		{60 * time.Millisecond, 550 * time.Millisecond, ""},
		{300 * time.Millisecond, 550 * time.Millisecond, "this process stood still for 300 ms of 550 ms"},
		{300 * time.Millisecond, 10 * time.Second, ""},
	} {
		if got := stoodStill(c.longest, c.took); got != c.want {
			t.Errorf("%v of %v: %q", c.longest, c.took, got)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		longest := watchStandstill()
		time.Sleep(time.Second)
		if d := longest(); d > probeEvery {
			t.Errorf("where everything runs in time it stood still for %v", d)
		}
	})
}

// Where nobody can tell what others used, the figures say so.
func TestWhatIsNotGatedIsSaid(t *testing.T) {
	at := []string{"10.0.0.1:6379", "127.0.0.1:6379", "127.0.0.1:6380"}
	if note := ungated(at, []place{elsewhere, here, unseen}); !strings.Contains(note, "127.0.0.1:6380: ") || strings.Contains(note, "6379") {
		t.Errorf("%q", note)
	}
	if note := ungated(at, []place{elsewhere, here, here}); note != "" {
		t.Errorf("%q", note)
	}
	for addr, want := range map[string]bool{"127.0.0.1:1": true, "[::1]:1": true, "/run/redis.sock": true, "localhost:1": true, "192.0.2.7:1": false} {
		if got := ours(addr); got != want {
			t.Errorf("%s is on this machine: %v", addr, got)
		}
	}
}

package search

import (
	"math"
	"testing"
	"time"

	"locktorture/workload/history"
)

// TestNearness: each near miss is measured from what moved last, and what did go
// wrong, or what was given back in time, is none.
func TestNearness(t *testing.T) {
	const ms = time.Millisecond
	n := NewNearness(history.Header{TTL: 1000 * ms})
	until := func(at, until time.Duration, kind history.Kind, op history.Op, owner string) {
		e := history.Event{Time: at, Kind: kind, Op: op, Owner: owner, Key: "k", Process: int(owner[0])}
		if until > 0 {
			e.ValidUntil, e.Has = until, history.HasValidUntil
		}
		n.Event(&e)
	}
	event := func(at time.Duration, kind history.Kind, op history.Op, owner string) { until(at, 0, kind, op, owner) }
	event(0, history.Invoke, history.Acquire, "a")
	until(1*ms, 900*ms, history.OK, history.Acquire, "a")
	event(400*ms, history.Invoke, history.Write, "a")
	event(700*ms, history.Invoke, history.Extend, "a")
	until(850*ms, 1600*ms, history.OK, history.Extend, "a") // 50 ms before the old end
	event(1500*ms, history.Invoke, history.Write, "a")      // 100 ms before the new one
	event(1510*ms, history.OK, history.Write, "a")
	event(1650*ms, history.Invoke, history.Acquire, "b")
	until(1800*ms, 2600*ms, history.OK, history.Acquire, "b") // 200 ms after a's end
	event(1900*ms, history.Invoke, history.Release, "b")      // 700 ms before b's
	event(1901*ms, history.OK, history.Release, "b")
	event(1902*ms, history.Invoke, history.Acquire, "c")
	event(2000*ms, history.Info, history.Acquire, "c")
	event(2100*ms, history.Invoke, history.Acquire, "d")
	until(2300*ms, 3100*ms, history.OK, history.Acquire, "d")
	got := n.Misses(4 * time.Second)
	for name, want := range map[string]float64{nearWrite: .1, nearRenewal: .05, nearTakeover: .2, nearRelease: .7, nearUnknown: .3, nearLeft: .25} {
		if math.Abs(got[name]-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	if len(NewNearness(history.Header{}).Misses(0)) > 0 {
		t.Error("near misses of nothing")
	}
}

package capacity

import (
	"fmt"
	"time"
)

// A Tail is the longest durations of one repeat that a lease has to cover.
type Tail struct {
	Hold     time.Duration // p99.99, with the hold that was asked for
	Acquire  time.Duration // p99.9, at or below the limit
	Pause    time.Duration // longest that the harness itself stood still
	Holds    int64
	Acquires int64
}

// fewest holds and acquires of a repeat that have a tail.
const fewest = 100

// Cover estimates the TTL that covers the longest hold, the acquire before it and a pause
// within it, and that leaves time for one missed renewal, with a renewal every third of the
// TTL. It is the largest value of any repeat. The largest of n has no interval: whatever the
// distribution, one more repeat is larger with probability 1/(n+1).
func Cover(tails []Tail) Lease {
	var usable []Tail
	for _, t := range tails {
		if t.Holds >= fewest && t.Acquires >= fewest {
			usable = append(usable, t)
		}
	}
	worst := worstOf(usable)
	l := Lease{Hold: worst.Hold, Acquire: worst.Acquire, Pause: worst.Pause, Samples: worst.Holds}
	if len(usable) < 2 {
		l.TTL = suppressed(fmt.Sprintf("%d of %d repeats have the %d holds and %d acquires that a tail needs", len(usable), len(tails), fewest, fewest))
		return l
	}
	l.TTL = Estimate{Value: worst.ttl(), Low: worst.ttl(), High: worst.ttl(), N: len(usable)}
	return l
}

// worstOf are the largest figures of several repeats, and all their samples.
func worstOf(tails []Tail) (w Tail) {
	for _, t := range tails {
		w.Hold, w.Acquire, w.Pause = max(w.Hold, t.Hold), max(w.Acquire, t.Acquire), max(w.Pause, t.Pause)
		w.Holds, w.Acquires = w.Holds+t.Holds, w.Acquires+t.Acquires
	}
	return w
}

// ttl is what the tail needs, with what the drift allowance takes.
func (t Tail) ttl() float64 {
	plain, renewed := t.Acquire+t.Hold+t.Pause, 3*(t.Acquire+t.Pause)
	return max(plain, renewed).Seconds()/0.99 + 0.002
}

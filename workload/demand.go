package workload

import (
	"math/bits"
	"sync"
	"time"

	"locktorture/workload/history"
)

// A demand counts how the arrivals of one phase ended, also those of a closed loop: there an
// arrival is due whenever a client is free.
type demand struct {
	began time.Time
	grace time.Duration // what has waited no longer than this at the end says nothing

	mu      sync.Mutex
	out     history.Demand
	dropped []int64   // by the second of the phase in which they were due
	waited  [40]int64 // by the power of two of milliseconds that they had waited at least
}

// maxGrace bounds the grace: an arrival that has waited for less than that when a phase ends
// does not count as unserved.
const maxGrace = time.Second

func newDemand(c Config, length time.Duration) *demand {
	return &demand{began: time.Now(), grace: min(c.Patience, maxGrace, length/10)}
}

// asked is when the arrival was due, or in a closed loop began.
func (a arrival) asked() time.Time {
	if a.due.IsZero() {
		return a.began
	}
	return a.due
}

func (d *demand) offer() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.out.Offered++
}

func (d *demand) drop(a arrival) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.out.Dropped++
	second := int(max(a.asked().Sub(d.began), 0) / time.Second)
	for len(d.dropped) <= second {
		d.dropped = append(d.dropped, 0)
	}
	d.dropped[second]++
}

// finish counts an arrival that a client had begun to serve by how it ended: with a grant, at
// the end of the phase (over), or because the client gave up.
func (d *demand) finish(a arrival, granted, over bool) {
	age := time.Since(a.asked())
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case granted:
		d.out.Served++
		return
	case over && age <= d.grace:
		d.out.Pending++
		return
	case over:
		d.out.Unserved++
	default:
		d.out.Abandoned++
	}
	d.addWait(age, 1)
}

func (d *demand) addWait(age time.Duration, n int64) {
	d.waited[min(bits.Len64(uint64(max(age, 0)/time.Millisecond)), len(d.waited)-1)] += n
}

// sum is the demand of the phase, which has ended.
func (d *demand) sum() history.Demand {
	d.mu.Lock()
	defer d.mu.Unlock()
	length := time.Since(d.began)
	for second, n := range d.dropped {
		d.addWait(length-time.Duration(second+1)*time.Second, n)
	}
	d.dropped = nil
	out := d.out
	for i, n := range d.waited {
		if n > 0 {
			atLeast := time.Duration(0)
			if i > 0 {
				atLeast = time.Millisecond << (i - 1)
			}
			out.Waited = append(out.Waited, history.Waited{AtLeast: atLeast, Count: n})
		}
	}
	return out
}

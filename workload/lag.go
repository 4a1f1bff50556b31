package workload

import (
	"math/bits"
	"time"
)

// lagEvery is how often a lagMeter looks.
const lagEvery = 5 * time.Millisecond

// A lagMeter measures how late the harness's own timers are: while they are,
// the times in a history say more about the machine than about the lock. It
// counts in buckets of at most 1/16 relative width.
type lagMeter struct {
	counts  [64 * lagSteps]int
	samples int
}

const lagSteps = 16

// measure samples until over is closed.
func (m *lagMeter) measure(over <-chan struct{}) {
	timer := time.NewTimer(lagEvery)
	defer timer.Stop()
	for {
		due := time.Now().Add(lagEvery)
		timer.Reset(lagEvery)
		select {
		case <-timer.C:
			m.add(max(time.Since(due), 0))
		case <-over:
			return
		}
	}
}

func (m *lagMeter) add(d time.Duration) {
	m.counts[bucket(uint64(d))]++
	m.samples++
}

// bucket numbers the buckets: 16 of width 1, then 16 to every power of two.
func bucket(ns uint64) int {
	shift := max(bits.Len64(ns)-5, 0)
	return shift*lagSteps + int(ns>>shift)
}

// ceiling is the largest duration of a bucket.
func ceiling(bucket int) time.Duration {
	shift := max(bucket/lagSteps-1, 0)
	return time.Duration((uint64(bucket-shift*lagSteps)+1)<<shift - 1)
}

// quantile returns a bound that the share q of the samples does not exceed,
// and how many samples there are.
func (m *lagMeter) quantile(q float64) (time.Duration, int) {
	want, seen := int(q*float64(m.samples)), 0
	for b, n := range m.counts {
		if seen += n; n > 0 && seen > want {
			return ceiling(b), m.samples
		}
	}
	return 0, m.samples
}

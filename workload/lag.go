package workload

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A lagMeter looks every lagEvery, and in a long phase as often as makes mostLags.
const (
	lagEvery = 5 * time.Millisecond
	mostLags = 200_000
)

// A lagMeter measures how late the harness's own timers are: while they are,
// the times in a history say more about the machine than about the lock.
type lagMeter struct{ *hdrhistogram.Histogram }

// mostLag is the longest lag told apart: what is longer counts as this.
const mostLag = time.Hour

func newLagMeter() lagMeter { return lagMeter{hdrhistogram.New(1, int64(mostLag), 2)} }

// measure samples until over is closed, which it is after about length.
func (m lagMeter) measure(over <-chan struct{}, length time.Duration) {
	every := max(lagEvery, length/mostLags)
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		due := time.Now().Add(every)
		timer.Reset(every)
		select {
		case <-timer.C:
			m.add(time.Since(due))
		case <-over:
			return
		}
	}
}

// add counts one lag, moved into the histogram's range, where recording cannot fail.
func (m lagMeter) add(lag time.Duration) {
	_ = m.RecordValue(int64(min(max(lag, 0), mostLag)))
}

// p99 returns a bound that 99 % of the samples do not exceed, and how many samples
// there are.
func (m lagMeter) p99() (bound time.Duration, samples int64) {
	return time.Duration(m.ValueAtQuantile(99)), m.TotalCount()
}

package workload

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// lagEvery is how often a lagMeter looks.
const lagEvery = 5 * time.Millisecond

// A lagMeter measures how late the harness's own timers are: while they are,
// the times in a history say more about the machine than about the lock.
type lagMeter struct{ *hdrhistogram.Histogram }

// mostLag is the longest lag told apart: what is longer counts as this.
const mostLag = time.Hour

func newLagMeter() lagMeter { return lagMeter{hdrhistogram.New(1, int64(mostLag), 2)} }

// measure samples until over is closed.
func (m lagMeter) measure(over <-chan struct{}) {
	timer := time.NewTimer(lagEvery)
	defer timer.Stop()
	for {
		due := time.Now().Add(lagEvery)
		timer.Reset(lagEvery)
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

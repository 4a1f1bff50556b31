package stats

import (
	"time"
)

// A run has settled after a fault in the first window that grants at least
// settledRate of the quiet rate at no more than settledLatency times the quiet
// p99.
const (
	settledRate    = 0.8
	settledLatency = 2
)

// findRecoveries sets for each fault how long after its end rate and latency were as before.
// Where the next fault begins first, its recovery stays Never: whatever is slow from then on
// may be the next fault's doing.
func findRecoveries(s *Summary) {
	rate, p99, ok := quietNormal(s)
	if !ok {
		return
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		end := f.End()
		if end == Never {
			continue
		}
		until := s.nextFault(i, end)
		for _, w := range s.Windows {
			if w.Start < end || w.Start+s.Width > until {
				continue
			}
			if float64(w.Outcomes.Acquired) >= settledRate*rate && w.P99 <= settledLatency*p99 {
				f.Settled = w.Start - end
				break
			}
		}
	}
}

func (s *Summary) nextFault(i int, end time.Duration) time.Duration {
	until := s.To
	for j, f := range s.Faults {
		if j != i && f.Started != Never && (f.End() == Never || f.End() > end) {
			until = min(until, max(f.Started, end))
		}
	}
	return until
}

// quietNormal takes the median of the windows that no fault touched.
func quietNormal(s *Summary) (rate float64, p99 time.Duration, ok bool) {
	var rates []int64
	var tails []time.Duration
	for _, w := range s.Windows {
		if w.Outcomes.Acquired == 0 || w.Start < s.From || w.Start+s.Width > s.To || s.faulted(w.Start, w.Start+s.Width) {
			continue
		}
		rates = append(rates, w.Outcomes.Acquired)
		tails = append(tails, w.P99)
	}
	if len(rates) == 0 {
		return 0, 0, false
	}
	return float64(Median(rates)), Median(tails), true
}

func (s *Summary) faulted(from, to time.Duration) bool {
	for _, f := range s.Faults {
		if f.Started == Never || f.Started >= to {
			continue
		}
		if end := f.End(); end == Never || end >= from {
			return true
		}
	}
	return false
}

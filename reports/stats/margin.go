package stats

import (
	"time"

	"locktorture/workload/history/fold"
)

// A Signed is a distribution of durations that may be negative.
type Signed struct {
	Quantiles               // of the values that are not negative
	Negative  int64         `json:"negative"`
	Min       time.Duration `json:"min_ns"` // the least value, of both signs
	Hist      *Hist         `json:"-"`      // of the values that are not negative; nil without any
}

// Margin says how close holders came to the end of their leases.
type Margin struct {
	// Validity is what was left of the lease at a holder's last write.
	Validity Signed `json:"validity"`
	// Gap is the time between the end of one owner's hold and the next owner's
	// grant; below zero two owners held at once.
	Gap Signed `json:"gap"`
	// Use is how long leases were needed: from the start of the acquisition to
	// the last write.
	Use Quantiles `json:"use"`
	// Lease is the shortest lease that would have covered 99.99 % of the uses
	// and the drift; zero without any.
	Lease time.Duration `json:"lease_ns"`
}

type margins struct {
	validity, gap signed
	use           *Hist
}

type signed struct {
	hist     *Hist
	negative int64
	min      time.Duration
	any      bool
}

func (s *signed) add(d time.Duration) {
	if !s.any || d < s.min {
		s.min, s.any = d, true
	}
	if d < 0 {
		s.negative++
		return
	}
	if s.hist == nil {
		s.hist = newHist()
	}
	record(s.hist, d)
}

func (s *signed) summary() Signed {
	out := Signed{Quantiles: QuantilesOf(s.hist), Negative: s.negative, Min: s.min}
	if s.hist != nil {
		out.Hist = s.hist.Clone()
	}
	return out
}

// finish files a hold that is over.
func (m *margins) finish(one *fold.Holding) {
	if one.Writes == 0 {
		return
	}
	m.validity.add(one.Deadline - one.LastWrite)
	if m.use == nil {
		m.use = newHist()
	}
	record(m.use, one.LastWrite-one.Began)
}

func (m *margins) summary(drift time.Duration) Margin {
	out := Margin{Validity: m.validity.summary(), Gap: m.gap.summary(), Use: QuantilesOf(m.use)}
	if out.Use.Count > 0 {
		out.Lease = roundUp(out.Use.P9999 + drift)
	}
	return out
}

// roundUp rounds up to two significant figures.
func roundUp(d time.Duration) time.Duration {
	step := time.Duration(1)
	for d/step >= 100 {
		step *= 10
	}
	return (d + step - 1) / step * step
}

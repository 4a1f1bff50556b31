package workload

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locktorture/workload/history"
)

// A Summary is the result of a phase, or of the part of it that one process played.
type Summary struct {
	Lag     time.Duration  `json:"lag_ns"` // 99 % of the harness's own timers were no later than this
	Samples int64          `json:"samples"`
	Demand  history.Demand `json:"demand"`
	Torn    int64          `json:"torn"` // writes that found their row changed within the section
}

// And is the summary of two parts of a phase: the sums, and the larger lag.
func (s Summary) And(o Summary) Summary {
	d, e := s.Demand, o.Demand
	return Summary{
		Lag: max(s.Lag, o.Lag), Samples: s.Samples + o.Samples, Torn: s.Torn + o.Torn,
		Demand: history.Demand{
			Offered: d.Offered + e.Offered, Served: d.Served + e.Served, Dropped: d.Dropped + e.Dropped, Abandoned: d.Abandoned + e.Abandoned,
			Unserved: d.Unserved + e.Unserved, Pending: d.Pending + e.Pending, Waited: bothWaited(d.Waited, e.Waited),
		},
	}
}

// bothWaited adds two distributions of waiting times.
func bothWaited(a, b []history.Waited) (sum []history.Waited) {
	all := slices.SortedFunc(slices.Values(slices.Concat(a, b)), func(x, y history.Waited) int { return cmp.Compare(x.AtLeast, y.AtLeast) })
	for _, w := range all {
		if n := len(sum); n > 0 && sum[n-1].AtLeast == w.AtLeast {
			sum[n-1].Count += w.Count
			continue
		}
		sum = append(sum, w)
	}
	return sum
}

// Event is the event that ends the phase: how late the harness's own timers were, and
// what became of the demand.
func (s Summary) Event(phase string) history.Event {
	note := fmt.Sprintf("end of phase: p99 scheduling lag of %d samples; %s", s.Samples, s.Demand.Note())
	if s.Torn > 0 {
		note += fmt.Sprintf("; %d writes found their row changed within the section", s.Torn)
	}
	return history.Event{
		Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: phase,
		Lag: s.Lag, Has: history.HasLag, Note: note,
	}
}

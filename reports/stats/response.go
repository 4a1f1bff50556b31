package stats

import (
	"math"

	"locktorture/workload/history"
)

// A Response is the time from when a grant was asked for until it came, over all
// demand: what was never served counts with how long it had waited at least, and
// beyond all that was served, since nobody knows how long it would have taken.
type Response struct {
	Quantiles
	Failed int64 `json:"failed"` // of Count, never served
}

func responseOf(served *Hist, d history.Demand) Response {
	all := newHist()
	if served != nil {
		all.Merge(served)
	}
	for _, w := range d.Waited {
		_ = all.RecordValues(min(max(int64(w.AtLeast), 1), highest), w.Count) // within the histogram's range
	}
	return Response{QuantilesOf(all), d.Failed()}
}

// AtLeast reports whether the q-quantile (0 to 1) lies beyond the share that was
// served: what it is said to be is then its lower bound.
func (r Response) AtLeast(q float64) bool {
	return int64(math.Ceil(q*float64(r.Count))) > r.Count-r.Failed
}

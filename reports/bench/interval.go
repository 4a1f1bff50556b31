package bench

import (
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"locktorture/reports/stats"
)

// An Interval is the median of n values with an interval for the true median
// that rests on their order alone: whatever their distribution, it covers the
// median with the stated confidence. Five values cannot say more than 93.8 %,
// six no more than 96.9 %.
type Interval struct {
	Median     float64 `json:"median"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	N          int     `json:"n"`
}

// wanted is the confidence that an interval is widened to, where n allows it.
const wanted = 0.95

// Median returns the interval of at least one value.
func Median(values []float64) Interval {
	v := slices.Clone(values)
	slices.Sort(v)
	n := len(v)
	out := Interval{Median: stats.Median(v), N: n}
	for k := (n - 1) / 2; k >= 0; k-- {
		out.Low, out.High, out.Confidence = v[k], v[n-1-k], coverage(n, k)
		if out.Confidence >= wanted {
			break
		}
	}
	return out
}

// coverage is the probability that the median lies between the (k+1)-th
// smallest and the (k+1)-th largest of n values: 1 − 2·P(Binomial(n, ½) ≤ k).
func coverage(n, k int) float64 {
	return max(1-2*distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(k)), 0)
}

// Package capacity turns measured load steps into an answer that a planner can
// defend: a rate, where it comes from, how sure it is, and what limits it.
package capacity

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// An Estimate is a figure with an interval over whole repeats. A figure that
// the measurements do not support is suppressed, with the reason.
type Estimate struct {
	Value      float64 `json:"value"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	N          int     `json:"n"` // repeats
	Suppressed string  `json:"suppressed,omitempty"`
}

// Known reports whether there is a figure.
func (e Estimate) Known() bool { return e.Suppressed == "" && e.N > 0 }

// apart reports whether two figures differ by more than their intervals allow.
func (e Estimate) apart(other Estimate) bool {
	return e.Known() && other.Known() && (e.High < other.Low || other.High < e.Low)
}

// Times scales the estimate.
func (e Estimate) Times(f float64) Estimate {
	e.Value, e.Low, e.High = e.Value*f, e.Low*f, e.High*f
	return e
}

func suppressed(why string) Estimate { return Estimate{Suppressed: why} }

// confidence is what every interval states. TestIntervalsCoverWhatTheyState holds
// them to it.
const confidence = 0.95

// Mean estimates the mean of repeats, of which there must be two at least, by
// Student's t.
func Mean(values []float64) Estimate {
	if len(values) < 2 {
		return suppressed("fewer than two valid repeats")
	}
	low, high := studentT(values)
	return Estimate{Value: stat.Mean(values, nil), Low: low, High: high, Confidence: confidence, N: len(values)}
}

// Amount is Mean of what cannot be below 0, such as a rate or a time: neither can its
// interval. That covers as much as before, since the true figure lies above 0 too.
func Amount(values []float64) Estimate {
	e := Mean(values)
	e.Low = max(e.Low, 0)
	return e
}

// Change estimates by how much something changes, as a share (−0.1 is 10 % less), from the
// ratios of the repeats that have two values to compare, of tried repeats: the mean and
// Student's t are of the logarithms, so that nothing falls by more than all of it.
func Change(ratios []float64, tried int) Estimate {
	if tried == 0 {
		return suppressed("the budget left no time for it")
	}
	if len(ratios) < 2 {
		return suppressed(fmt.Sprintf("%d of %d repeats have two loads with pairs to compare, and an interval wants 2", len(ratios), tried))
	}
	each := logs(ratios)
	low, high := studentT(each)
	return Estimate{Value: math.Exp(stat.Mean(each, nil)) - 1, Low: math.Exp(low) - 1, High: math.Exp(high) - 1, Confidence: confidence, N: len(ratios)}
}

// ofRepeats is a figure that was fitted to all repeats. Its interval is Student's t over the
// logarithms of what each repeat gives by itself: how far these differ is all that n repeats
// tell about the error. (Bootstrap percentiles cover 70 % at n = 3 and 80 % at n = 5 where they
// state 95 %.)
func ofRepeats(value float64, each []float64) Estimate {
	return between(value, each, each)
}

// between is ofRepeats for a figure of which every repeat gives only two bounds. It has no
// interval where the figure fitted to all repeats lies outside of the range of those of single
// repeats: these were then fitted differently, and say nothing about its error.
func between(value float64, lows, highs []float64) Estimate {
	n := len(lows)
	if n < 3 {
		return without(value, fmt.Sprintf("an interval wants 3 repeats; there are %d", n))
	}
	low, _ := studentT(logs(lows))
	_, high := studentT(logs(highs))
	low, high = math.Exp(low), math.Exp(high)
	switch {
	case math.IsNaN(low) || math.IsNaN(high) || value <= 0:
		return without(value, "a repeat by itself gives no such figure")
	case value < low*(1-rounding) || value > high*(1+rounding):
		return without(value, fmt.Sprintf("all repeats together give %.3g, and one by one they give %.3g to %.3g: it has no interval", value, low, high))
	}
	return Estimate{Value: value, Low: min(low, value), High: max(high, value), Confidence: confidence, N: n}
}

// rounding is by how much the sums of one and the same figure may differ.
const rounding = 1e-9

// without is a figure without an interval, and the reason for that.
func without(value float64, why string) Estimate {
	return Estimate{Value: value, Suppressed: why}
}

func logs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
		if v <= 0 || math.IsInf(v, 1) {
			out[i] = math.NaN()
		}
	}
	return out
}

// studentT is the interval of the mean of at least two values.
func studentT(values []float64) (low, high float64) {
	mean, deviation := stat.MeanStdDev(values, nil)
	n := float64(len(values))
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1+confidence)/2) * stat.StdErr(deviation, n)
	return mean - half, mean + half
}

// Package capacity turns measured load steps into an answer that a planner can
// defend: a rate, where it comes from, how sure it is, and what limits it.
package capacity

import (
	"math"
	"math/rand/v2"
	"slices"
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

// Times scales the estimate.
func (e Estimate) Times(f float64) Estimate {
	e.Value, e.Low, e.High = e.Value*f, e.Low*f, e.High*f
	return e
}

func suppressed(why string) Estimate { return Estimate{Suppressed: why} }

const (
	resamples  = 400
	confidence = 0.95
)

// bootstrap draws resamples of n repeats, with replacement, and gives the
// central interval of what estimate makes of them. Draws of which it makes
// nothing are left out; when they are more than a tenth, there is no interval.
func bootstrap(n int, seed uint64, estimate func(draw []int) (float64, bool)) (low, high float64, ok bool) {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	var values []float64
	draw := make([]int, n)
	for range resamples {
		for i := range draw {
			draw[i] = rng.IntN(n)
		}
		if v, ok := estimate(draw); ok && !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) < resamples*9/10 {
		return 0, 0, false
	}
	slices.Sort(values)
	return quantile(values, (1-confidence)/2), quantile(values, (1+confidence)/2), true
}

// quantile of sorted values, the nearest rank.
func quantile(sorted []float64, q float64) float64 {
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// Mean estimates the mean of repeats; there must be two at least.
func Mean(values []float64, seed uint64) Estimate {
	if len(values) < 2 {
		return suppressed("fewer than two valid repeats")
	}
	low, high, ok := bootstrap(len(values), seed, func(draw []int) (float64, bool) {
		sum := 0.0
		for _, i := range draw {
			sum += values[i]
		}
		return sum / float64(len(draw)), true
	})
	if !ok {
		return suppressed("the repeats have no interval")
	}
	return Estimate{Value: mean(values), Low: low, High: high, Confidence: confidence, N: len(values)}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

package queueing

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// A Size is what a service does with so many requests under way all the time.
type Size struct {
	N       float64
	Rate    float64 // pairs per second
	Share   float64 // of a pair's time that is the acquire; the rest is the release
	Acquire Spread
	Release Spread
	Over    float64 // seconds by which a hold outlasts what was asked for
}

// A Spread is how times lie around their mean: quantiles, over the mean, at the
// probabilities Probabilities. An empty one is exponential.
type Spread []float64

// Probabilities are those of the quantiles of a Spread.
var Probabilities = []float64{0, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1}

// draw draws a time over its mean.
func (s Spread) draw(rng *rand.Rand) float64 {
	if len(s) == 0 {
		return rng.ExpFloat64()
	}
	u := rng.Float64()
	i := min(sort.SearchFloat64s(Probabilities, u), len(s)-1)
	if i == 0 {
		return s[0]
	}
	p, q := Probabilities[i-1], Probabilities[i]
	return s[i-1] + (s[i]-s[i-1])*(u-p)/(q-p)
}

// mean of what is drawn: between two quantiles the times are taken as uniform.
func (s Spread) mean() (m float64) {
	for i := 1; i < len(s); i++ {
		m += (s[i-1] + s[i]) / 2 * (Probabilities[i] - Probabilities[i-1])
	}
	return m
}

// NewSpread makes one of quantiles in any unit.
func NewSpread(quantiles []float64) Spread {
	out := append(Spread(nil), quantiles...)
	if m := out.mean(); m > 0 {
		for i := range out {
			out[i] /= m
		}
		return out
	}
	return nil
}

// Widened is the spread with every time raised to a power, and its mean kept: above 1 it
// is wider, below 1 narrower.
func (s Spread) Widened(power float64) Spread {
	if len(s) == 0 {
		return nil
	}
	longest, out := slices.Max(s), make([]float64, len(s))
	for i, t := range s {
		out[i] = math.Pow(t/longest, power) // at most 1, however high the power is
	}
	return NewSpread(out)
}

// A Curve is a flow-equivalent centre: all that stands between a request and its
// reply, by the number of requests under way, smallest size first. Beyond its last
// size Beyond continues the rate; it stays level when that is nil.
// Source: K. Chandy, U. Herzog, L. Woo, Parametric Analysis of Queuing Networks, 1975.
type Curve struct {
	Sizes  []Size
	Beyond func(n float64) float64 // over the rate at the last size
}

// Rate is the rate of completed pairs with n requests under way, between the sizes
// as the logarithm of n goes.
func (c Curve) Rate(n int) float64 {
	last := c.Sizes[len(c.Sizes)-1]
	at := float64(n)
	if at >= last.N {
		if c.Beyond == nil || at == last.N {
			return last.Rate
		}
		return last.Rate * c.Beyond(at)
	}
	i := sort.Search(len(c.Sizes), func(i int) bool { return c.Sizes[i].N >= at })
	if i == 0 || c.Sizes[i].N == at {
		return c.Sizes[i].Rate * min(1, at/c.Sizes[i].N)
	}
	a, b := c.Sizes[i-1], c.Sizes[i]
	t := math.Log(at/a.N) / math.Log(b.N/a.N)
	return math.Exp(math.Log(a.Rate) + t*(math.Log(b.Rate)-math.Log(a.Rate)))
}

// Overhold is by how much a hold outlasts what was asked for, with n requests under way.
func (c Curve) Overhold(n int) float64 { return c.nearest(n).Over }

// nearest is the size whose times are drawn from with n requests under way.
func (c Curve) nearest(n int) Size {
	at := float64(n)
	i := sort.Search(len(c.Sizes), func(i int) bool { return c.Sizes[i].N >= at })
	if i == len(c.Sizes) {
		return c.Sizes[i-1]
	}
	if i > 0 && at*at < c.Sizes[i].N*c.Sizes[i-1].N {
		i--
	}
	return c.Sizes[i]
}

// Highest is the highest rate, of any number of requests.
func (c Curve) Highest() (rate float64) {
	for _, s := range c.Sizes {
		rate = max(rate, s.Rate)
	}
	return max(rate, c.Rate(largeCrowd))
}

// Most is the largest size.
func (c Curve) Most() float64 { return c.Sizes[len(c.Sizes)-1].N }

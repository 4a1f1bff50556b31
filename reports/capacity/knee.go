package capacity

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"locktorture/reports/unit"
)

// A Step is one rate offered in one repeat, as far as the fits need it.
type Step struct {
	Rate   float64
	Repeat int
	P99    float64 // of the response, in seconds
	OK     bool    // every objective was met
}

// gain is the share of the squared error of one straight line that the second
// segment must remove, for the knee to be believed.
const gain = 0.5

// Knee finds the rate at which the p99 leaves its flat part: a continuous line
// of two segments through log p99 over the rate, by least squares, with the
// break where the error is least. Its place is the middle of those of the repeats, of which
// the interval is too.
func Knee(steps []Step) Estimate {
	rates := ratesOf(steps)
	if len(rates) < 5 {
		return suppressed(fmt.Sprintf("two segments want 5 valid rates; there are %d", len(rates)))
	}
	_, steeper, share := breakpoint(steps)
	if !steeper || share < gain {
		return suppressed(fmt.Sprintf("no knee seen up to %.0f/s: a straight line does nearly as well (a second segment removes %s of its error)", rates[len(rates)-1], unit.Percent(max(share, 0))))
	}
	each := make([]float64, repeatsOf(steps))
	for i := range each {
		each[i], _, _ = breakpoint(repeat(steps, i))
	}
	return ofRepeats(stat.GeometricMean(each, nil), each)
}

// breakpoint returns the best break, whether the line is steeper behind it, and
// the share of a single line's error that it removes.
func breakpoint(steps []Step) (at float64, steeper bool, share float64) {
	rates := ratesOf(steps)
	if len(rates) < 4 {
		return 0, false, 0
	}
	single, _ := hinge(steps, math.Inf(1))
	best := math.Inf(1)
	const grid = 60
	from, to := rates[1], rates[len(rates)-2]
	for i := range grid + 1 {
		k := from + (to-from)*float64(i)/grid
		if sse, slope := hinge(steps, k); sse < best {
			best, at, steeper = sse, k, slope > 0
		}
	}
	if single <= 0 {
		return at, false, 0
	}
	return at, steeper, 1 - best/single
}

// hinge fits log p99 = a + b·rate + c·max(0, rate − k) and returns the squared
// error and c; with k = ∞ it fits one straight line.
func hinge(steps []Step, k float64) (sse, c float64) {
	cols := 3
	if math.IsInf(k, 1) {
		cols = 2
	}
	scale := steps[0].Rate
	for _, s := range steps {
		scale = max(scale, s.Rate)
	}
	x, y := mat.NewDense(len(steps), cols, nil), mat.NewVecDense(len(steps), nil)
	for i, s := range steps {
		x.Set(i, 0, 1)
		x.Set(i, 1, s.Rate/scale)
		if cols == 3 {
			x.Set(i, 2, max(0, s.Rate-k)/scale)
		}
		y.SetVec(i, math.Log(max(s.P99, 1e-9)))
	}
	var beta, fitted mat.VecDense
	if err := beta.SolveVec(x, y); err != nil {
		return math.Inf(1), 0
	}
	fitted.MulVec(x, &beta)
	for i := range steps {
		e := y.AtVec(i) - fitted.AtVec(i)
		sse += e * e
	}
	if cols == 3 {
		c = beta.AtVec(2)
	}
	return sse, c
}

// Edge finds the highest rate at which the objectives are met: between the last
// rate of which most repeats meet them and the next, where the share of repeats that
// do crosses one half. Every repeat by itself says only between which two rates that
// is: the interval holds both, and covers at least what it states.
func Edge(steps []Step) Estimate {
	n, rates := repeatsOf(steps), ratesOf(steps)
	if n < 3 || len(rates) < 2 {
		return suppressed(fmt.Sprintf("a limit wants 2 valid rates and 3 valid repeats; there are %d and %d", len(rates), n))
	}
	if share(steps, rates[0]) < 0.5 {
		return suppressed(fmt.Sprintf("the objectives are missed at the lowest rate offered already, %.0f/s", rates[0]))
	}
	met, missed, shares, ok := crossing(steps)
	if !ok {
		return suppressed(fmt.Sprintf("the objectives are met at the highest valid rate, %.0f/s: the limit was not reached", rates[len(rates)-1]))
	}
	t := (shares[0] - 0.5) / (shares[0] - shares[1])
	lows, highs := make([]float64, n), make([]float64, n)
	for i := range n {
		if lows[i], highs[i], _, ok = crossing(repeat(steps, i)); !ok {
			return suppressed(fmt.Sprintf("repeat %d of %d by itself places no limit among its rates", i+1, n))
		}
	}
	return between(met*math.Pow(missed/met, t), lows, highs)
}

// crossing finds the rates between which the share of repeats that pass falls
// through one half, and these shares; they are made to fall first (isotonic
// regression), since more load never helps.
func crossing(steps []Step) (met, missed float64, around [2]float64, ok bool) {
	rates := ratesOf(steps)
	shares := make([]float64, len(rates))
	weights := make([]float64, len(rates))
	for i, r := range rates {
		shares[i], weights[i] = share(steps, r), float64(len(at(steps, r)))
	}
	shares = falling(shares, weights)
	for i := 1; i < len(rates); i++ {
		if shares[i-1] >= 0.5 && shares[i] < 0.5 {
			return rates[i-1], rates[i], [2]float64{shares[i-1], shares[i]}, true
		}
	}
	return 0, 0, around, false
}

// falling is the non-increasing sequence nearest to v: pool adjacent violators.
func falling(v, w []float64) []float64 {
	type block struct {
		mean, weight float64
		n            int
	}
	var blocks []block
	for i := range v {
		b := block{v[i], w[i], 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].mean < b.mean {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			sum := last.weight + b.weight
			b = block{(last.mean*last.weight + b.mean*b.weight) / sum, sum, last.n + b.n}
		}
		blocks = append(blocks, b)
	}
	var out []float64
	for _, b := range blocks {
		out = append(out, slices.Repeat([]float64{b.mean}, b.n)...)
	}
	return out
}

func at(steps []Step, rate float64) (out []Step) {
	for _, s := range steps {
		if s.Rate == rate {
			out = append(out, s)
		}
	}
	return out
}

func share(steps []Step, rate float64) float64 {
	met, all := 0.0, at(steps, rate)
	for _, s := range all {
		if s.OK {
			met++
		}
	}
	return met / float64(len(all))
}

func ratesOf(steps []Step) []float64 {
	var out []float64
	for _, s := range steps {
		out = append(out, s.Rate)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func repeatsOf(steps []Step) int {
	n := 0
	for _, s := range steps {
		n = max(n, s.Repeat+1)
	}
	return n
}

// repeat is one repeat of the steps.
func repeat(steps []Step, i int) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Repeat != i })
}

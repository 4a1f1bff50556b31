package capacity

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"locktorture/reports/unit"
)

// A Load is a closed loop of N goroutines and the pairs per second that they
// got, in one repeat, with what a pair cost and how long it took.
type Load struct {
	N       int     `json:"n"`
	Repeat  int     `json:"repeat"`
	Rate    float64 `json:"rate"`
	Pairs   int64   `json:"pairs,omitempty"` // that the rate counts; 0 where an earlier version did not write it
	Masters int     `json:"masters,omitempty"`
	Delay   float64 `json:"delay_s,omitempty"`            // that links add to a round trip
	Harness float64 `json:"harness_s_per_pair,omitempty"` // processor time of load and lock
	Redis   float64 `json:"redis_s_per_pair,omitempty"`   // of one master; 0 where nobody can tell
	Over    float64 `json:"overhold_s,omitempty"`         // by how much a hold outlasted what was asked for, on average
	Acquire *Times  `json:"acquire,omitempty"`
	Release *Times  `json:"release,omitempty"`

	Disturbed bool `json:"disturbed,omitempty"` // by other programs, or in that this process stood still, to the last try
}

// A USL is the Universal Scalability Law, X(N) = λN / (1 + σ(N−1) + κN(N−1)):
// what one goroutine gets, what contention takes, what coherence takes.
// Source: N. Gunther, Guerrilla Capacity Planning, 2007.
type USL struct {
	Lambda Estimate `json:"lambda"`
	Sigma  Estimate `json:"sigma"`
	Kappa  Estimate `json:"kappa"`
	Peak   Estimate `json:"peak"` // N of the highest throughput, √((1−σ)/κ)
	Most   int      `json:"most"` // largest N of the sweep
}

// At is the throughput at n that the fit predicts.
func (u USL) At(n float64) float64 {
	return usl(n, u.Lambda.Value, u.Sigma.Value, u.Kappa.Value)
}

func usl(n, lambda, sigma, kappa float64) float64 {
	return lambda * n / (1 + sigma*(n-1) + kappa*n*(n-1))
}

// steady is how far the repeats of one size may lie apart, as a factor.
const steady = 2.0

// misfit is how far the law may lie from what was measured at a size.
const misfit = 0.2

// astray says where the law lies too far from what was measured to hold: it knows nothing
// of requests that travel in batches, which get cheaper the more there are. "": nowhere.
func astray(sweep []Load, sizes []int, p [3]float64) string {
	worst, at := 0.0, ""
	for _, n := range sizes {
		got, has := average(sizedAs(sweep, n), func(l Load) float64 { return l.Rate }), usl(float64(n), p[0], p[1], p[2])
		if off := math.Abs(has/got - 1); off > max(worst, misfit) {
			worst, at = off, fmt.Sprintf("the law does not hold: at N = %d it has %s where %s were measured", n, unit.Rate(has), unit.Rate(got))
		}
	}
	return at
}

// sizesOf are those of a sweep, as they come.
func sizesOf(sweep []Load) (sizes []int) {
	for _, l := range sweep {
		if !slices.Contains(sizes, l.N) {
			sizes = append(sizes, l.N)
		}
	}
	return sizes
}

func sizedAs(sweep []Load, n int) (out []Load) {
	for _, l := range sweep {
		if l.N == n {
			out = append(out, l)
		}
	}
	return out
}

// extremes are the lowest and the highest rate at a size.
func extremes(sweep []Load, n int) (low, high float64) {
	low = math.Inf(1)
	for _, l := range sweep {
		if l.N == n {
			low, high = min(low, l.Rate), max(high, l.Rate)
		}
	}
	return low, high
}

// The conditions under which a peak is believed.
const (
	reach  = 0.7 // the sweep must go to this share of the peak
	spread = 2.0 // the interval must not be wider than so many times the estimate
)

// FitUSL fits the law to a sweep, and to each of its repeats for the intervals. The
// peak is suppressed when the sweep ends too far below it or its
// interval is too wide.
func FitUSL(sweep []Load) USL {
	sizes, repeats := sizesOf(sweep), 0
	for _, l := range sweep {
		repeats = max(repeats, l.Repeat+1)
	}
	if len(sizes) < 5 || repeats < 3 {
		no := suppressed(fmt.Sprintf("a fit wants 5 sizes and 3 repeats; there are %d and %d", len(sizes), repeats))
		return USL{Lambda: no, Sigma: no, Kappa: no, Peak: no}
	}
	u := USL{Most: slices.Max(sizes)}
	for _, n := range sizes {
		if low, high := extremes(sweep, n); high > steady*low {
			no := suppressed(fmt.Sprintf("no law goes through repeats that differ so much: at N = %d they lie between %s and %s", n, unit.Rate(low), unit.Rate(high)))
			return USL{Lambda: no, Sigma: no, Kappa: no, Peak: no, Most: u.Most}
		}
	}
	p, ok := fit(sweep)
	if !ok {
		no := suppressed("the fit did not converge")
		return USL{Lambda: no, Sigma: no, Kappa: no, Peak: no, Most: u.Most}
	}
	if no := astray(sweep, sizes, p); no != "" {
		no := suppressed(no)
		return USL{Lambda: no, Sigma: no, Kappa: no, Peak: no, Most: u.Most}
	}
	each := make([][3]float64, repeats)
	for i := range each {
		if each[i], ok = fit(only(sweep, i)); !ok {
			no := suppressed("the fit of one repeat did not converge")
			return USL{Lambda: no, Sigma: no, Kappa: no, Peak: no, Most: u.Most}
		}
	}
	of := func(pick func([3]float64) float64) Estimate {
		single := make([]float64, repeats)
		for i, p := range each {
			single[i] = pick(p)
		}
		return ofRepeats(pick(p), single)
	}
	u.Lambda = of(func(p [3]float64) float64 { return p[0] })
	u.Sigma = of(func(p [3]float64) float64 { return p[1] })
	u.Kappa = of(func(p [3]float64) float64 { return p[2] })
	u.Peak = of(peak)
	switch {
	case !u.Peak.Known():
	case float64(u.Most) < reach*u.Peak.Value:
		u.Peak = suppressed(fmt.Sprintf("no peak seen up to N = %d", u.Most))
	case u.Peak.High-u.Peak.Low > spread*u.Peak.Value:
		u.Peak = suppressed(fmt.Sprintf("no peak that the sweep up to N = %d could place: the interval is %.3g to %.3g", u.Most, u.Peak.Low, u.Peak.High))
	}
	return u
}

func peak(p [3]float64) float64 { return math.Sqrt(max(1-p[1], 0) / p[2]) }

// only is one repeat of the sweep.
func only(sweep []Load, repeat int) []Load {
	return slices.DeleteFunc(slices.Clone(sweep), func(l Load) bool { return l.Repeat != repeat })
}

// fit minimises the squared relative errors over the logarithms of σ and κ, which keeps
// both positive; the best λ for them is the one of which the errors add up to nothing.
func fit(sweep []Load) (p [3]float64, ok bool) {
	type size struct{ n, logRate, weight float64 }
	var sizes []size
	for _, l := range sweep {
		i := slices.IndexFunc(sizes, func(s size) bool { return s.n == float64(l.N) })
		if i < 0 {
			i, sizes = len(sizes), append(sizes, size{n: float64(l.N)})
		}
		sizes[i].logRate += math.Log(max(l.Rate, 1e-9))
		sizes[i].weight++
	}
	if !slices.ContainsFunc(sweep, func(l Load) bool { return l.Rate > 0 }) {
		return p, false
	}
	errors := func(x []float64) (mean, squares float64) { // repeats of a size differ by the same, whatever the law
		sum, all := 0.0, 0.0
		for _, s := range sizes {
			e := s.logRate/s.weight - math.Log(usl(s.n, 1, math.Exp(x[0]), math.Exp(x[1])))
			mean, sum, all = mean+s.weight*e, sum+s.weight*e*e, all+s.weight
		}
		mean /= all
		return mean, sum - all*mean*mean
	}
	loss := func(x []float64) float64 { _, squares := errors(x); return squares }
	best := math.Inf(1)
	for _, start := range [][]float64{{-4, -9}, {-1, -7}, {-7, -12}} {
		r, err := optimize.Minimize(optimize.Problem{Func: loss}, start, &optimize.Settings{FuncEvaluations: 2000}, &optimize.NelderMead{})
		if r == nil || err != nil && !math.IsInf(best, 1) {
			continue
		}
		if r.F < best {
			best = r.F
			mean, _ := errors(r.X)
			p = [3]float64{math.Exp(mean), math.Exp(r.X[0]), math.Exp(r.X[1])}
		}
	}
	return p, !math.IsInf(best, 1) && p[2] > 0
}

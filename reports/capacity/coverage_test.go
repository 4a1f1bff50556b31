package capacity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Trials of each simulation. The share that they cover is known to within three
// points; the seeds are fixed.
const trials = 200

// lawTrials are those of a law: its fits take longer, and more of them are needed where
// the share lies near a bound.
const lawTrials = 400

// TestIntervalsCoverWhatTheyState draws repeats of known figures, and counts how
// often their intervals hold the truth. Noise is a factor, as times and rates have it.
func TestIntervalsCoverWhatTheyState(t *testing.T) {
	for _, n := range []int{3, 5, 10} {
		for name, c := range map[string]struct {
			truth float64
			draw  func(rng *rand.Rand) Estimate
			most  float64 // covered at most; 1 where two bounds are all that is known
		}{
			"mean": {50, func(rng *rand.Rand) Estimate {
				values := make([]float64, n)
				for i := range values {
					values[i] = 50 * (1 + 0.1*rng.NormFloat64())
				}
				return Mean(values)
			}, 0.98},
			"fit of each repeat": {50, func(rng *rand.Rand) Estimate {
				each, sum := make([]float64, n), 0.0
				for i := range each {
					each[i] = 50 * math.Exp(0.3*rng.NormFloat64())
					sum += math.Log(each[i])
				}
				return ofRepeats(math.Exp(sum/float64(n)), each)
			}, 0.98},
			"knee": {990, func(rng *rand.Rand) Estimate { return Knee(noisy(rng, n, 990)) }, 0.98},
			"prediction, by held-out points": {1, func(rng *rand.Rand) Estimate {
				squares := 0.0
				for range n {
					squares += math.Pow(0.2*rng.NormFloat64(), 2)
				}
				e := Error{N: n, Spread: math.Sqrt(squares / float64(n))}
				return e.around(math.Exp(0.2 * rng.NormFloat64()))
			}, 0.98},
			"edge": {990 + 1000*math.Log(5)/4, func(rng *rand.Rand) Estimate { return Edge(noisy(rng, n, 990)) }, 1},
		} {
			rng, covered, known := rand.New(rand.NewPCG(5, uint64(n))), 0, 0
			for range trials {
				e := c.draw(rng)
				if !e.Known() {
					continue
				}
				known++
				if e.Low <= c.truth && c.truth <= e.High {
					covered++
				}
			}
			share := float64(covered) / float64(known)
			if known < trials*9/10 || share < 0.92 || share > c.most {
				t.Errorf("%s, n = %d: %d of %d intervals hold the truth (%.1f %%)", name, n, covered, known, 100*share)
			}
			t.Logf("%s, n = %d: %.1f %% of %d", name, n, 100*share, known)
		}
	}
}

// Of changes, which are ratios, nothing falls by more than all, and the interval covers what
// it states; loads without a pair give none.
func TestChangesCoverWhatTheyState(t *testing.T) {
	for _, n := range []int{2, 3, 5, 10} {
		rng, covered := rand.New(rand.NewPCG(8, uint64(n))), 0
		for range trials {
			ratios := make([]float64, n)
			for i := range ratios {
				ratios[i] = 0.6 * math.Exp(0.3*rng.NormFloat64())
			}
			e := Change(ratios, n)
			if e.Low < -1 || e.Low > e.Value || e.High < e.Value {
				t.Fatalf("%+v", e)
			}
			if e.Low <= -0.4 && -0.4 <= e.High {
				covered++
			}
		}
		if share := float64(covered) / trials; share < 0.92 || share > 0.98 {
			t.Errorf("n = %d: %.1f %% hold the truth", n, 100*share)
		}
	}
	if e := Change(nil, 0); e.Suppressed != "the budget left no time for it" {
		t.Errorf("nothing tried: %+v", e)
	}
	if e := Change([]float64{1}, 5); e.Known() || !strings.Contains(e.Suppressed, "1 of 5 repeats") {
		t.Errorf("%+v", e)
	}
}

// How far intervals of a mean cover less than they state where repeats are skewed, as
// times may be: reports/README.md says so.
func TestMeansOfSkewedTimesCoverLess(t *testing.T) {
	for _, c := range []struct{ sigma, least, most float64 }{{0.3, 0.92, 0.96}, {0.5, 0.89, 0.94}, {1, 0.79, 0.87}} {
		for _, n := range []int{3, 5, 10} {
			const many = 10_000
			rng, covered := rand.New(rand.NewPCG(9, uint64(n))), 0
			for range many {
				values := make([]float64, n)
				for i := range values {
					values[i] = math.Exp(c.sigma * rng.NormFloat64())
				}
				if e, truth := Mean(values), math.Exp(c.sigma*c.sigma/2); e.Low <= truth && truth <= e.High {
					covered++
				}
			}
			if share := float64(covered) / many; share < c.least || share > c.most {
				t.Errorf("σ %.1f, n = %d: %.1f %% hold the truth", c.sigma, n, 100*share)
			}
		}
	}
}

// A figure that lies outside of what the repeats give one by one has no interval: it is not
// stretched to hold it.
func TestNoIntervalIsStretchedToItsFigure(t *testing.T) {
	each := []float64{10, 10.1, 9.9, 10.05, 9.95}
	if e := ofRepeats(10, each); !e.Known() || e.Low < 9.8 || e.High > 10.2 {
		t.Errorf("%+v", e)
	}
	for _, value := range []float64{11, 9} {
		if e := ofRepeats(value, each); e.Known() || e.Value != value || !strings.Contains(e.Suppressed, "it has no interval") {
			t.Errorf("%v: %+v", value, e)
		}
	}
}

// TestUSLIntervalsCoverWhatTheyState does the same for the law's parameters: where they
// have an interval it holds the truth as often as it states, within three points.
func TestUSLIntervalsCoverWhatTheyState(t *testing.T) {
	law := [3]float64{52, 0.02, 1.2e-4}
	truth := [4]float64{law[0], law[1], law[2], peak(law)}
	for _, n := range []int{3, 5, 10} {
		t.Run(fmt.Sprintf("n = %d", n), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(6, uint64(n)))
			var covered, known [4]int
			for range lawTrials {
				u := FitUSL(scaled(rng, law, n))
				for i, e := range []Estimate{u.Lambda, u.Sigma, u.Kappa, u.Peak} {
					if !e.Known() || e.Confidence == 0 {
						continue
					}
					known[i]++
					if e.Low <= truth[i] && truth[i] <= e.High {
						covered[i]++
					}
				}
			}
			for i, name := range []string{"λ", "σ", "κ", "peak"} {
				share := float64(covered[i]) / float64(known[i])
				t.Logf("%s: %.1f %% of %d", name, 100*share, known[i])
				if known[i] < lawTrials*8/10 || share < 0.92 || share > 0.98 {
					t.Errorf("%s: %d of %d intervals hold the truth (%.1f %%)", name, covered[i], known[i], 100*share)
				}
			}
		})
	}
}

// scaled draws closed loops of a law: noise is a factor.
func scaled(rng *rand.Rand, law [3]float64, repeats int) (out []Load) {
	for _, size := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256} {
		for r := range repeats {
			out = append(out, Load{N: size, Repeat: r, Rate: usl(float64(size), law[0], law[1], law[2]) * math.Exp(0.05*rng.NormFloat64())})
		}
	}
	return out
}

// noisy draws p99s that are flat up to a knee and grow beyond it, repeats that are
// as a whole better or worse, and an objective of 50 ms.
func noisy(rng *rand.Rand, repeats int, knee float64) []Step {
	var out []Step
	for r := range repeats {
		where := knee * math.Exp(0.05*rng.NormFloat64())
		for rate := 100.0; rate < 2500; rate *= 1.15 {
			p := 0.010 * math.Exp(4*max(0, rate-where)/1000) * math.Exp(0.05*rng.NormFloat64())
			out = append(out, Step{Rate: rate, Repeat: r, P99: p, OK: p < 0.050})
		}
	}
	return out
}

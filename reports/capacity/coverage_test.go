package capacity

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Trials of each simulation. The share that they cover is known to within three
// points; the seeds are fixed.
const trials = 200

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

// TestUSLIntervalsCoverWhatTheyState does the same for the law's parameters, at the
// number of repeats that a measurement takes: a fit takes its time.
func TestUSLIntervalsCoverWhatTheyState(t *testing.T) {
	const n, tries = 5, 30
	law := [3]float64{52, 0.02, 1.2e-4}
	truth := [4]float64{law[0], law[1], law[2], peak(law)}
	rng := rand.New(rand.NewPCG(6, n))
	var covered [4]int
	for range tries {
		var sweep []Load
		for _, size := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256} {
			for r := range n {
				sweep = append(sweep, Load{N: size, Repeat: r, Rate: usl(float64(size), law[0], law[1], law[2]) * math.Exp(0.05*rng.NormFloat64())})
			}
		}
		u := FitUSL(sweep)
		for i, e := range []Estimate{u.Lambda, u.Sigma, u.Kappa, u.Peak} {
			if e.Low <= truth[i] && truth[i] <= e.High {
				covered[i]++
			}
		}
	}
	for i, c := range covered {
		if c < tries*87/100 { // 95 % less three standard errors
			t.Errorf("parameter %d: %d of %d intervals hold the truth", i, c, tries)
		}
	}
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

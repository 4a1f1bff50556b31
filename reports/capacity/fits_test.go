package capacity

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("%s is %v, want %v ± %v %%", what, got, want, 100*tolerance)
	}
}

// sweep draws throughputs of a law with 3 % of noise.
func sweep(lambda, sigma, kappa float64, sizes []int, repeats int) []Load {
	rng := rand.New(rand.NewPCG(1, 2))
	var out []Load
	for _, n := range sizes {
		for r := range repeats {
			out = append(out, Load{N: n, Repeat: r, Rate: usl(float64(n), lambda, sigma, kappa) * (1 + 0.03*rng.NormFloat64())})
		}
	}
	return out
}

func TestUSLFindsTheParametersOfSyntheticData(t *testing.T) {
	u := FitUSL(sweep(52, 0.02, 1.2e-4, []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, 5))
	near(t, "λ", u.Lambda.Value, 52, 0.05)
	near(t, "σ", u.Sigma.Value, 0.02, 0.25)
	near(t, "κ", u.Kappa.Value, 1.2e-4, 0.1)
	near(t, "peak", u.Peak.Value, 90.4, 0.05)
	if !u.Peak.Known() || u.Peak.Low > u.Peak.Value || u.Peak.High < u.Peak.Value {
		t.Errorf("peak %+v", u.Peak)
	}
	near(t, "X(64)", u.At(64), usl(64, 52, 0.02, 1.2e-4), 0.05)
}

// A sweep that ends long before the peak cannot place it.
func TestUSLIsSuppressedWhenTheSweepIsTooShort(t *testing.T) {
	u := FitUSL(sweep(52, 0.02, 1.2e-4, []int{1, 2, 4, 8, 16}, 5))
	if u.Peak.Known() || !strings.Contains(u.Peak.Suppressed, "up to N = 16") {
		t.Errorf("peak %+v", u.Peak)
	}
	if u := FitUSL(sweep(52, 0.02, 1e-4, []int{1, 2, 4}, 5)); u.Lambda.Known() {
		t.Errorf("three sizes were fitted: %+v", u.Lambda)
	}
}

// A law through repeats of 6,500 and 16,500 pairs a second would be one of nothing.
func TestUSLIsSuppressedWhereRepeatsDiffer(t *testing.T) {
	loads := sweep(52, 0.02, 1.2e-4, []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, 5)
	for i := range loads {
		if loads[i].N == 128 && loads[i].Repeat == 3 {
			loads[i].Rate /= 2.5
		}
	}
	if u := FitUSL(loads); u.Lambda.Known() || !strings.Contains(u.Lambda.Suppressed, "N = 128") {
		t.Errorf("%+v", u.Lambda)
	}
}

// Requests that travel in batches of n take a + b·n: the law has no term for what a
// batch saves, and says so in place of figures.
func TestLawOfBatchesIsSuppressed(t *testing.T) {
	var loads []Load
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64, 128} {
		each := 0.0003
		if n > 4 {
			each = 0.0001 + 0.0012/float64(n) // from here on batches grow
		}
		for repeat := range 5 {
			loads = append(loads, Load{N: n, Repeat: repeat, Rate: min(float64(n), 2) / each})
		}
	}
	if u := FitUSL(loads); u.Lambda.Known() || !strings.Contains(u.Lambda.Suppressed, "the law does not hold: at N = ") {
		t.Errorf("%+v", u.Lambda)
	}
}

// steps draws p99s that are flat up to a knee and grow beyond it, with 5 % of
// noise; the objective is 50 ms.
func steps(knee, slope float64) []Step {
	rng := rand.New(rand.NewPCG(3, 4))
	var out []Step
	for rate := 100.0; rate < 2500; rate *= 1.3 {
		for r := range 5 {
			p := 0.010 * math.Exp(slope*max(0, rate-knee)/1000) * (1 + 0.05*rng.NormFloat64())
			out = append(out, Step{Rate: rate, Repeat: r, P99: p, OK: p < 0.050})
		}
	}
	return out
}

func TestKneeIsFoundWhereItIs(t *testing.T) {
	k := Knee(steps(990, 4))
	if !k.Known() {
		t.Fatal(k.Suppressed)
	}
	near(t, "knee", k.Value, 990, 0.1)
	if k.Low > 990*1.05 || k.High < 990*0.95 {
		t.Errorf("interval %v to %v", k.Low, k.High)
	}
	if k := Knee(steps(0, 2)); k.Known() {
		t.Errorf("a straight line has a knee at %v", k.Value)
	}
	if k := Knee(steps(990, 4)[:15]); k.Known() {
		t.Error("three rates have a knee")
	}
}

// p99 = 50 ms at 990 + 1000·ln 5/4 = 1392/s.
func TestEdgeIsWhereHalfOfTheRepeatsPass(t *testing.T) {
	e := Edge(steps(990, 4))
	if !e.Known() {
		t.Fatal(e.Suppressed)
	}
	near(t, "edge", e.Value, 1392, 0.14) // the steps are 30 % apart
	if e := Edge(steps(5000, 4)); e.Known() || !strings.Contains(e.Suppressed, "not reached") {
		t.Errorf("met throughout: %+v", e)
	}
	bad := steps(990, 4)
	for i := range bad {
		bad[i].OK = false
	}
	if e := Edge(bad); e.Known() || !strings.Contains(e.Suppressed, "lowest rate") {
		t.Errorf("missed throughout: %+v", e)
	}
}

// One unlucky repeat at a low rate does not make the edge.
func TestEdgeIsNotMovedByOneOutlier(t *testing.T) {
	all := steps(990, 4)
	all[0].OK = false
	near(t, "edge", Edge(all).Value, 1392, 0.14)
}

func TestFallingPoolsViolators(t *testing.T) {
	got := falling([]float64{1, 0.6, 0.8, 0.2, 0.4}, []float64{1, 1, 1, 1, 1})
	want := []float64{1, 0.7, 0.7, 0.3, 0.3}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

func TestQueuePredictsBacklogAndRecovery(t *testing.T) {
	backlog, drain := Queue{Rate: 800, Capacity: 1200, Outage: 5}.Predict()
	if backlog != 4000 || drain != 10 {
		t.Errorf("backlog %v, drained after %v s; want 4000 and 10 s", backlog, drain)
	}
	if _, drain := (Queue{Rate: 1200, Capacity: 1200, Outage: 5}).Predict(); !math.IsInf(drain, 1) {
		t.Errorf("a queue at its capacity drains after %v s", drain)
	}
}

func TestMeanNeedsRepeats(t *testing.T) {
	if e := Mean([]float64{1}); e.Known() {
		t.Error("one repeat has an interval")
	}
	e := Mean([]float64{9, 10, 11, 10, 10})
	if !e.Known() || e.Value != 10 || e.Low < 9 || e.High > 11 || e.Low > e.High {
		t.Errorf("%+v", e)
	}
}

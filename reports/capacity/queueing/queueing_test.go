package queueing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func rng() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= within) {
		t.Errorf("%s: %g, want %g within %g %%", what, got, want, 100*within)
	}
}

// A centre of one server whose acquire is all of its work, exponential.
func single(rate float64) Curve {
	return Curve{Sizes: []Size{{N: 1, Rate: rate, Share: 1}}}
}

// Balanced stations have a closed form: X(N) = N / (D (N + K − 1)).
func TestMVAOfBalancedStations(t *testing.T) {
	const demand, stations, n = 0.01, 3, 20
	got := MVA([]Station{{Demand: demand, Servers: 1}, {Demand: demand}, {Demand: demand, Stretch: 1}}, 0, n)
	for i, m := range got {
		k := float64(i + 1)
		near(t, "rate", m.Rate, k/(demand*(k+stations-1)), 1e-9)
		near(t, "Little's law", m.Rate*m.Response, k, 1e-9)
	}
}

// No network goes beyond the asymptotic bounds: X ≤ min(N / (Z + D), 1 / Dmax).
func TestMVAWithinAsymptoticBounds(t *testing.T) {
	stations := []Station{{Demand: 0.004, Servers: 2}, {Demand: 0.003}, {Demand: 0.001, Servers: 8}}
	const think, total = 0.02, 0.008
	got := MVA(stations, think, 200)
	for i, m := range got {
		if bound := min(float64(i+1)/(think+total), 1/0.003); m.Rate > bound*(1+1e-9) {
			t.Errorf("N = %d: %g exceeds %g", i+1, m.Rate, bound)
		}
	}
	near(t, "saturated", got[199].Rate, 1/0.003, 0.01)
	near(t, "alone", got[0].Rate, 1/(think+total), 1e-9)
}

// M/M/1: mean 1/(μ−λ), exponential, so p50 = ln 2 / (μ−λ). Processor sharing has the
// same mean and queue, and a longer tail.
func TestSimulationOfMM1(t *testing.T) {
	const mu, lambda = 1000.0, 700.0
	got := Simulate(single(mu), Demand{Rate: lambda, Keys: NewPopularity(100_000_000, 0)}, Delays{}, 300_000, rng())
	near(t, "rate", got.Rate, lambda, 0.02)
	near(t, "number under way", got.MeanUnder, lambda/(mu-lambda), 0.06)
	if got.Behind {
		t.Error("a queue that is served counts as behind")
	}
	// The key itself as the server: holds are deterministic, M/D/1, whose mean wait is ρ/(2μ(1−ρ)).
	const hold = 0.001
	fast := Simulate(single(1e9), Demand{Rate: lambda, Keys: NewPopularity(1, 0), Hold: hold}, Delays{}, 300_000, rng())
	near(t, "key in use", fast.KeyBusy, lambda*hold, 0.02)
	near(t, "share that waits", fast.Waited, lambda*hold, 0.02)
}

// A centre that is a delay has the response of the delay whatever the load.
func TestSimulationOfDelays(t *testing.T) {
	const n, z = 50, 0.01
	got := Simulate(single(1e7), Demand{Clients: n, OwnKeys: true, Hold: 0.005}, Delays{Acquire: 0.003, Release: 0.002}, 20_000, rng())
	near(t, "rate", got.Rate, n/z, 0.01)
	near(t, "p50", got.P50, 0.003, 0.01)
	near(t, "p99", got.P99, 0.003, 0.01)
}

// A closed loop over one exponential server agrees with MVA.
func TestSimulationAgreesWithMVA(t *testing.T) {
	const mu, think, n = 1000.0, 0.02, 25
	want := MVA([]Station{{Demand: 1 / mu}}, think, n)[n-1]
	got := Simulate(single(mu), Demand{Clients: n, OwnKeys: true, Hold: think}, Delays{}, 200_000, rng())
	near(t, "rate", got.Rate, want.Rate, 0.02)
	near(t, "number under way", got.MeanUnder, want.Rate*want.Response, 0.05)
}

// One key carries 1 / (hold + hand-off + both phases), whoever waits.
func TestSimulationOfOneHotKey(t *testing.T) {
	got := Simulate(single(1e7), Demand{Clients: 16, Keys: NewPopularity(1, 0), Hold: 0.02}, Delays{Acquire: 0.001, Release: 0.001, HandOff: 0.003}, 2_000, rng())
	near(t, "rate", got.Rate, 1/0.025, 0.02)
	near(t, "p50", got.P50, 15*0.025+0.004, 0.1)
	near(t, "key in use", got.KeyBusy, 1, 0.01)
}

func TestOverloadIsBehind(t *testing.T) {
	got := Simulate(single(1000), Demand{Rate: 1500, Keys: NewPopularity(1_000_000, 0)}, Delays{}, 20_000, rng())
	if !got.Behind {
		t.Errorf("1,500/s at 1,000/s: %+v", got)
	}
	near(t, "rate", got.Rate, 1000, 0.05)
}

// A window that begins with nothing under way sees less of a queue near saturation than
// the long run does, and of one that is overloaded the backlog of its own length: at twice
// what one key carries, arrivals at the end of the window wait for half of it.
func TestSimulationOfWindows(t *testing.T) {
	const hold = 0.01
	demand := Demand{Rate: 95, Keys: NewPopularity(1, 0), Hold: hold}
	long := Simulate(single(1e9), demand, Delays{}, 100_000, rng())
	demand.Warmup, demand.Window = 0.1, 1
	short := Simulate(single(1e9), demand, Delays{}, 10_000, rng())
	if short.P50 >= long.P50 || short.P50 < hold {
		t.Errorf("p50 %g in windows of a second, %g in the long run", short.P50, long.P50)
	}
	near(t, "rate", short.Rate, 95, 0.1)

	demand.Rate, demand.Warmup, demand.Window = 200, 0, 2
	over := Simulate(single(1e9), demand, Delays{}, 10_000, rng())
	if !over.Behind {
		t.Error("twice what a key carries is not behind")
	}
	near(t, "rate", over.Rate, 1/hold, 0.05)
	// Arrivals at u wait for u in the end; those of the second half are cut off at ages below 1 s.
	near(t, "p50", over.P50, 0.55, 0.2)
}

// A key changes hands faster than a release and an acquire take one after the other.
func TestSimulationOfHandedKeys(t *testing.T) {
	const work = 0.004 // of an acquire; a release takes none
	demand := Demand{Clients: 16, Keys: NewPopularity(1, 0), Hold: 0.02}
	one := Size{N: 1, Rate: 1 / work, Share: 1, Acquire: Spread{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}
	many := one
	many.N, many.Rate = 64, 64*one.Rate // all are served at once
	curve := Curve{Sizes: []Size{one, many}}
	near(t, "all of the work", Simulate(curve, demand, Delays{Handed: 1}, 2_000, rng()).Rate, 1/(0.02+work), 0.02)
	near(t, "a quarter of it", Simulate(curve, demand, Delays{Handed: 0.25}, 2_000, rng()).Rate, 1/(0.02+work/4), 0.02)
}

func TestSpreadsOfTheRoad(t *testing.T) {
	delays := Delays{Acquire: 0.01, Spread: NewSpread([]float64{1, 1, 1, 1, 1, 1, 3, 5, 5, 5})}
	got := Simulate(single(1e9), Demand{Clients: 4, OwnKeys: true}, delays, 20_000, rng())
	near(t, "rate", got.Rate, 4/0.01, 0.03)
	if got.P99 < 2*got.P50 {
		t.Errorf("p50 %g, p99 %g", got.P50, got.P99)
	}
}

func TestWidenedSpreads(t *testing.T) {
	s := NewSpread([]float64{1, 1, 1, 2, 2, 3, 3, 4, 4, 4})
	for _, power := range []float64{0.5, 1, 2} {
		w := s.Widened(power)
		near(t, "mean", w.mean(), 1, 1e-9)
		near(t, "highest over lowest", w[9]/w[0], math.Pow(4, power), 1e-9)
	}
}

func TestForkAndQuorum(t *testing.T) {
	near(t, "all of two", Fork(2, 2), 1.5, 1e-9)
	near(t, "the first of five", Fork(1, 5), 0.2, 1e-9)
	near(t, "the third of five", Fork(3, 5), 1.0/3+1.0/4+1.0/5, 1e-9)
	if q := Quorum(3, []float64{80, 1, 40, 1, 40}); q != 40 {
		t.Errorf("the third of five regions replies after %g", q)
	}
}

func TestPopularity(t *testing.T) {
	p, random := NewPopularity(100, 0.99), rng()
	hits, total := 0, 100_000
	for range total {
		switch k := p.Draw(random); {
		case k < 0 || k > 99:
			t.Fatalf("key %d of 100", k)
		case k == 0:
			hits++
		}
	}
	near(t, "share of the hottest", float64(hits)/float64(total), p.Hottest(), 0.03)
	near(t, "equal", NewPopularity(100, 0).Hottest(), 0.01, 1e-9)
}

// However many shards there are, the most popular key is in one of them.
func TestShardOfTheMostPopularKey(t *testing.T) {
	whole := NewPopularity(1000, 0.99).Hottest()
	for _, n := range []int{1, 2, 10, 1000} {
		p, share := Shard(1000, 0.99, n)
		near(t, "the hottest key's part of all requests", p.Hottest()*share, whole, 1e-9)
	}
	if _, share := Shard(100, 0, 4); share != 0.25 {
		t.Errorf("a quarter of equal keys gets %g", share)
	}
}

func TestCurveBetweenAndBeyondItsSizes(t *testing.T) {
	c := Curve{Sizes: []Size{{N: 1, Rate: 100}, {N: 4, Rate: 400}, {N: 16, Rate: 800}}}
	for n, want := range map[int]float64{1: 100, 2: 200, 4: 400, 8: 565.7, 16: 800, 100: 800} {
		near(t, "rate", c.Rate(n), want, 0.001)
	}
	c.Beyond = func(n float64) float64 { return 16 / n }
	near(t, "beyond", c.Rate(32), 400, 0.001)
	if got := c.nearest(3).N; got != 4 {
		t.Errorf("3 is nearest to %g", got)
	}
}

func TestSpreadDrawsItsQuantiles(t *testing.T) {
	s := NewSpread([]float64{1, 2, 3, 4, 5, 6, 7, 20, 40, 50})
	near(t, "mean", s.mean(), 1, 1e-9)
	all, random := make([]float64, 50_000), rng()
	for i := range all {
		all[i] = s.draw(random)
	}
	slices.Sort(all)
	near(t, "median", all[25_000], s[3], 0.02)
	near(t, "p99", all[49_500], s[7], 0.1)
}

// BenchmarkAnswer is a question of the README: an answer takes well below a second.
func BenchmarkAnswer(b *testing.B) {
	for b.Loop() {
		Simulate(single(20_000), Demand{Clients: 5000, Keys: NewPopularity(1_000_000, 0.99), Hold: 0.03}, Delays{Acquire: 0.002, Release: 0.002}, 40_000, rng())
	}
}

// However much a spread is widened or narrowed, its times stay numbers, around the same mean.
func TestWidenedSpreadsStayFinite(t *testing.T) {
	s := NewSpread([]float64{0, 1, 2, 4, 8, 16, 32, 64, 128, 1e6})
	for _, power := range []float64{0.01, 1, 10, 1e3, 1e9} {
		sum := 0.0
		for _, x := range s.Widened(power) {
			sum += x
		}
		if math.IsNaN(sum) || math.IsInf(sum, 0) || sum <= 0 {
			t.Errorf("to the power of %v: %v", power, s.Widened(power))
		}
	}
	if got := Spread(nil).Widened(2); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

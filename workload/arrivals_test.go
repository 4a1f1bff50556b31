package workload

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// openPhase is a main phase of the given length in an open loop.
func openPhase(t *testing.T, length time.Duration, cfg Config) *phase {
	ctx, cancel := context.WithTimeout(t.Context(), length)
	t.Cleanup(cancel)
	cfg.Keys, cfg.Mode = 4, ModeExclusive
	return &phase{name: "main", cfg: cfg, over: ctx.Done(), queue: make(chan arrival, cfg.Backlog), demand: newDemand(cfg, length)}
}

func TestConstantArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := openPhase(t, 10*time.Second+time.Millisecond, Config{Rate: 100, Arrivals: ArrivalsConstant, Backlog: 1000})
		dispatcher{}.run(p)
		d := p.demand.out
		if d.Offered != 1000 || d.Dropped != 0 {
			t.Fatalf("%+v", d)
		}
		for i := 1; i <= 1000; i++ {
			if a := <-p.queue; a.due.Sub(start) != time.Duration(i)*10*time.Millisecond {
				t.Fatalf("arrival %d is due after %v", i, a.due.Sub(start))
			}
		}
	})
}

func TestPoissonArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPhase(t, 100*time.Second, Config{Rate: 50, Arrivals: ArrivalsPoisson, Backlog: 10})
		dispatcher{}.run(p)
		d := p.demand.out
		// 5,000 expected, standard deviation 71; the seed fixes the draw.
		if d.Offered < 4700 || d.Offered > 5300 {
			t.Errorf("%d arrivals", d.Offered)
		}
		if len(p.queue) != 10 || d.Dropped != d.Offered-10 {
			t.Errorf("%d wait, %+v", len(p.queue), d)
		}
	})
}

func TestBackoff(t *testing.T) {
	b := Backoff{Min: 2 * time.Millisecond, Max: 100 * time.Millisecond}
	rng := rand.New(rand.NewPCG(1, 2))
	for n, ceiling := range map[int]time.Duration{0: 2, 1: 4, 5: 64, 6: 100, 31: 100, 32: 100, 1000: 100} {
		ceiling *= time.Millisecond
		var longest time.Duration
		for range 1000 {
			longest = max(longest, b.draw(rng, n))
		}
		if longest > ceiling || longest < ceiling*9/10 {
			t.Errorf("pause %d: longest of 1000 is %v, want nearly %v", n, longest, ceiling)
		}
	}
}

func TestSleepEndsWithThePhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := &worker{phase: openPhase(t, time.Second, Config{})}
		if !w.sleep(t.Context(), time.Second/2) {
			t.Error("cut short within the phase")
		}
		if w.sleep(t.Context(), time.Hour) || time.Since(start) != time.Second {
			t.Errorf("slept until %v", time.Since(start))
		}
	})
}

func TestLagMeter(t *testing.T) {
	m := newLagMeter()
	if p99, n := m.p99(); p99 != 0 || n != 0 {
		t.Errorf("empty: %v, %d", p99, n)
	}
	for i := range 1000 {
		m.add(time.Duration(i+1) * time.Microsecond)
	}
	if p99, n := m.p99(); n != 1000 || p99 < 990*time.Microsecond || p99 > 1000*time.Microsecond {
		t.Errorf("p99 %v of %d samples from 1 µs to 1 ms", p99, n)
	}
	m = newLagMeter()
	for _, lag := range []time.Duration{-1, math.MaxInt64} {
		m.add(lag)
	}
	if p99, n := m.p99(); n != 2 || p99 < mostLag {
		t.Errorf("p99 %v of %d samples, one of them beyond all bounds", p99, n)
	}
}

func TestLagMeterMeasuresNothingInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newLagMeter()
		m.measure(openPhase(t, time.Second, Config{}).over, time.Second)
		if p99, n := m.p99(); p99 != 0 || n < 150 {
			t.Errorf("p99 %v of %d samples", p99, n)
		}
	})
}

func TestStreamsAreApart(t *testing.T) {
	a, again, b := stream(1, "a"), stream(1, "a"), stream(1, "b")
	if x, y, z := a.Uint64(), again.Uint64(), b.Uint64(); x != y || x == z {
		t.Errorf("draws %d, %d, %d", x, y, z)
	}
}

func TestKeyPatterns(t *testing.T) {
	counts := func(p *phase) []int {
		keys, n := p.keySource(1, 4), make([]int, p.cfg.Keys)
		for range 10_000 {
			n[keys()]++
		}
		return n
	}
	even := counts(&phase{name: "main", cfg: Config{Keys: 10}})
	for k, n := range even {
		if n < 850 || n > 1150 {
			t.Errorf("uniform: key %d drawn %d of 10,000 times", k, n)
		}
	}
	skewed := counts(&phase{name: "main", cfg: Config{Keys: 10, KeySkew: 1.5}})
	if flatter := counts(&phase{name: "main", cfg: Config{Keys: 10, KeySkew: 0.99}}); flatter[0] < 2*flatter[2] || flatter[0] > 4*flatter[2] || flatter[9] == 0 {
		t.Errorf("zipf 0.99: %v", flatter)
	}
	if skewed[0] < 3*skewed[2] || skewed[9] == 0 {
		t.Errorf("zipf: %v", skewed)
	}
	walk := (&phase{name: "final", cfg: Config{Keys: 10}}).keySource(1, 4)
	for i := range 20 {
		if k := walk(); k != (2+i)%10 {
			t.Errorf("walk: step %d goes to key %d", i, k)
		}
	}
}

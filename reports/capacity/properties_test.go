package capacity

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"locktorture/reports/capacity/queueing"
)

// batched is the synthetic calibration of a client that sends requests in batches, which
// cost less the larger they are, with a network whose times swing, and with a hot key that
// changes hands in less than a round trip.
func batched() *Report {
	r := calibratedReport()
	for i, l := range r.Sweep {
		n := float64(l.N)
		took := (300e-6 + 0.3e-6*n) / n // of which the processors are in use for some
		r.Sweep[i].Rate, r.Sweep[i].Harness, r.Sweep[i].Redis = 1/took, 0.9*took, 0.7*took/5
		if l.N == 128 { // by chance
			r.Sweep[i].Redis *= 0.9
		}
	}
	c := r.Calibration
	c.Errors = Errors{Error{N: 5, Spread: 0.2}, Error{N: 5, Spread: 0.5}, Error{N: 5, Spread: 0.5}}
	for _, d := range c.Delays {
		c.HotDelayed = append(c.HotDelayed, Load{N: 16, Masters: 5, Delay: d, Rate: 1 / (0.001 + 0.4*d)})
	}
	return r
}

// anyScenario draws a situation with round trips between clients and masters.
func anyScenario(rng *rand.Rand) Scenario {
	pick := func(of ...int) int { return of[rng.IntN(len(of))] }
	millis := func(of ...int) time.Duration { return time.Duration(pick(of...)) * time.Millisecond }
	s := Scenario{Masters: pick(3, 5, 7), Keys: pick(0, 1, 16, 100_000), Hold: millis(0, 5, 40), RTT: []time.Duration{millis(1, 10, 150)}}
	switch rng.IntN(5) {
	case 0: // as calibrated
		s.RTT = nil
	case 1, 2: // regions
		s.RTT = nil
		for range s.Masters {
			s.RTT = append(s.RTT, time.Duration(50+rng.IntN(200_000))*time.Microsecond)
		}
	}
	if s.Keys > 1 && rng.IntN(2) == 0 {
		s.Zipf = 0.99
	}
	if s.Keys > 0 && rng.IntN(3) == 0 {
		s.Rate = float64(pick(5, 200, 3000))
		return s
	}
	s.Clients, s.Think, s.Own, s.Cores = pick(1, 2, 30, 400), millis(0, 0, 10), rng.IntN(4) == 0, pick(0, 1, 8)
	return s
}

// An acquire takes a round trip to a quorum at least, however the calibration spread, and
// whoever handed the key over; its interval begins no earlier, and a client asks no oftener.
func TestNoAcquireIsFasterThanARoundTrip(t *testing.T) {
	r, rng := batched(), rand.New(rand.NewPCG(28, 0))
	for range 12 {
		s := anyScenario(rng)
		far := slices.Clone(s.RTT)
		if len(far) == 1 {
			far = slices.Repeat(far, s.Masters)
		}
		slices.Sort(far)
		p := predict(t, r, s)
		least := min(r.RTT.Seconds(), p.P50.Value)
		if len(far) > 0 {
			least = far[s.Masters/2].Seconds()
		}
		if p.P50.Value < least || p.P50.Low < least || p.P99.Value < p.P50.Value || p.P99.Low < least {
			t.Errorf("%+v: p50 %g s [%g, %g], p99 %g s [%g, %g], and a round trip takes %g s", s, p.P50.Value, p.P50.Low, p.P50.High, p.P99.Value, p.P99.Low, p.P99.High, least)
		}
		if most := float64(s.Clients) / (least + (s.Hold + s.Think).Seconds()); s.Clients > 0 && len(far) > 0 && p.Rate.High > most*(1+rounding) {
			t.Errorf("%+v: up to %g/s, where %d clients have time for %g/s", s, p.Rate.High, s.Clients, most)
		}
	}
}

// chance is by how much two plays of like situations may differ.
const chance = 0.04

// Throughput grows with processors and clients, at most in proportion, and falls with
// masters, holds and round trips; and the processors carry what the clients ask of them.
func TestThroughputFollowsWhatIsGiven(t *testing.T) {
	for name, r := range map[string]*Report{"one by one": calibratedReport(), "in batches": batched()} {
		m, err := r.Model()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			what   string
			of     Scenario
			values []int
			change func(*Scenario, int)
			falls  bool
		}{
			{"processors", Scenario{Clients: 16}, []int{1, 2, 4, 16, 64}, func(s *Scenario, n int) { s.Cores = n }, false},
			{"processors", Scenario{Clients: 2000}, []int{1, 2, 3, 8, 32}, func(s *Scenario, n int) { s.Cores = n }, false},
			{"processors", Scenario{Clients: 500, Own: true}, []int{1, 2, 8, 64}, func(s *Scenario, n int) { s.Cores = n }, false},
			{"processors", Scenario{Clients: 1000, Think: 5 * time.Millisecond}, []int{1, 2, 4, 16}, func(s *Scenario, n int) { s.Cores = n }, false},
			{"clients", Scenario{}, []int{1, 4, 16, 64, 256, 5000}, func(s *Scenario, n int) { s.Clients = n }, false},
			{"clients", Scenario{Keys: 5000, Hold: 10 * time.Millisecond}, []int{1, 8, 64}, func(s *Scenario, n int) { s.Clients = n }, false},
			{"masters", Scenario{Clients: 500}, []int{3, 5, 9}, func(s *Scenario, n int) { s.Masters = n }, true},
			{"ms of hold", Scenario{Clients: 100, Keys: 300}, []int{1, 5, 80}, func(s *Scenario, n int) { s.Hold = time.Duration(n) * time.Millisecond }, true},
			{"ms of round trip", Scenario{Clients: 100}, []int{1, 3, 100}, func(s *Scenario, n int) { s.RTT = []time.Duration{time.Duration(n) * time.Millisecond} }, true},
		} {
			last := 0.0
			for i, v := range c.values {
				s := c.of
				s.Masters = 5
				c.change(&s, v)
				p := predict(t, r, s)
				now := p.Rate.Value
				low, high := last, math.Inf(1)
				switch {
				case c.falls && i > 0:
					low, high = 0, last
				case i > 0:
					high = last * float64(v) / float64(c.values[i-1])
				}
				if now < low*(1-chance) || now > high*(1+chance) {
					t.Errorf("%s, %+v: %.0f/s with %d %s, after %.0f/s", name, c.of, now, v, c.what, last)
				}
				if most := queueing.Saturation(m.stations(s, m.spentAt(s, p.Under))); now > most*(1+chance) {
					t.Errorf("%s, %+v with %d %s: %.0f/s, where the processors have time for %.0f/s", name, c.of, v, c.what, now, most)
				}
				last = now
			}
		}
	}
}

package capacity

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/reports/capacity/queueing"
)

// A closedLoop is one of one size, in one repeat or in several.
type closedLoop struct {
	size  int     // goroutines
	under float64 // requests under way, on average
	loads []Load
}

// loops are the closed loops to which the service is fitted, by the number of requests under
// way. Goroutines without a hold ask in step: the replies to one client come in one batch, and
// so do its next requests, which costs less. Where there are holds, pauses or random arrivals
// between requests they are not in step: the loops that hold show what that costs.
func (m *Model) loops(s Scenario, repeat int) (out []closedLoop) {
	all := m.r.Sweep
	apart := m.outOfStep(s)
	if apart {
		all = m.r.Calibration.Apart
	}
	by := map[int][]Load{}
	for _, l := range timed(all, repeat) {
		by[l.N] = append(by[l.N], l)
	}
	for n, loads := range by {
		one := closedLoop{size: n, under: float64(n), loads: loads}
		if apart { // Little's law
			one.under = average(loads, func(l Load) float64 { return l.Rate * (l.Acquire.Mean + l.Release.Mean) })
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b closedLoop) int { return cmp.Compare(a.under, b.under) })
	return out
}

// outOfStep reports whether there are holds, pauses or arrivals between the requests, and
// the loops that tell what these cost.
func (m *Model) outOfStep(s Scenario) bool {
	return (s.Rate > 0 || s.Hold > 0 || s.Think > 0) && m.apart()
}

// apart reports whether loops that hold were measured, in two sizes at least.
func (m *Model) apart() bool {
	loads := timed(m.r.Calibration.Apart, -1)
	return slices.ContainsFunc(loads, func(l Load) bool { return l.N != loads[0].N })
}

// A loopFit corrects the simulation of closed loops of one size, whose requests are not in
// step, such that it reproduces what was measured.
type loopFit struct{ rate, power float64 }

// How closely the loops are fitted.
const (
	fitRounds = 8
	fitPairs  = 6000
	narrowest = 0.2 // power of a spread
)

// fitLoops corrects a curve of requests that are not in step, such that a simulation with it
// reproduces the loops that the curve was read from: their latencies contain the variation in
// how many requests are under way, which the simulation would add a second time.
func (m *Model) fitLoops(c *queueing.Curve, s Scenario, repeat int) {
	if m.fitted == nil {
		m.fitted = map[int][]loopFit{}
	}
	by, known := m.fitted[repeat]
	if !known {
		by = m.loopFits(repeat)
		m.fitted[repeat] = by
	}
	for i := range c.Sizes {
		c.Sizes[i] = by[i].apply(c.Sizes[i])
	}
	if s.Rate == 0 {
		m.join(c, s, repeat)
	}
}

func (t loopFit) apply(s queueing.Size) queueing.Size {
	s.Rate *= t.rate
	s.Acquire, s.Release = s.Acquire.Widened(t.power), s.Release.Widened(t.power)
	return s
}

// loopFits simulates the loops as they were measured, corrects the curve by how far the
// simulation is off, and repeats that for fitRounds rounds.
func (m *Model) loopFits(repeat int) []loopFit {
	asMeasured := Scenario{Masters: m.r.Setup.Masters, Hold: m.r.Setup.Hold}
	loops, curve := m.loops(asMeasured, repeat), m.measured(asMeasured, repeat)
	curve.Beyond = pastLast(curve.Sizes)
	measured := slices.Clone(curve.Sizes)
	out := slices.Repeat([]loopFit{{1, 1}}, len(loops))
	for range fitRounds {
		for i, l := range loops {
			mean := average(l.loads, func(l Load) float64 { return l.Acquire.Mean })
			tail := average(l.loads, func(l Load) float64 { return l.Acquire.quantile(0.99) / l.Acquire.Mean })
			d := queueing.Demand{Clients: l.size, OwnKeys: true, Hold: m.r.Setup.Hold.Seconds()}
			played := queueing.Simulate(curve, d, queueing.Delays{}, fitPairs, rand.New(rand.NewPCG(m.r.Seed, 13)))
			if mean <= 0 || played.Mean <= 0 || played.P99 <= played.Mean || tail <= 1 {
				continue
			}
			// Half of the way: what one size takes changes how often the others are met.
			out[i].rate *= math.Sqrt(played.Mean / mean)
			out[i].power = max(out[i].power*math.Sqrt(math.Log(tail)/math.Log(played.P99/played.Mean)), narrowest)
		}
		for i := range out {
			curve.Sizes[i] = out[i].apply(measured[i])
		}
	}
	return out
}

// join moves a curve of requests that are not in step towards that of requests in step: the
// further, the shorter the holds and pauses between requests are than those that were
// measured, by the share of a client's time that is spent in the lock.
func (m *Model) join(c *queueing.Curve, s Scenario, repeat int) {
	together := m.measured(Scenario{}, repeat)
	together.Beyond = pastLast(together.Sizes)
	for i := range c.Sizes {
		one := &c.Sizes[i]
		fast := together.Rate(max(int(math.Round(one.N)), 1))
		round := one.N / fast
		share := func(hold time.Duration) float64 { return round / (round + hold.Seconds()) }
		measured := share(m.r.Setup.Hold)
		part := max((share(s.Hold+s.Think)-measured)/(1-measured), 0)
		one.Rate *= math.Pow(fast/one.Rate, part)
	}
}

package capacity

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"locktorture/reports/capacity/queueing"
)

// A trip is what a phase takes on the network: so many round trips, and what a delay of any
// length adds to them.
type trip struct{ trips, constant float64 }

// tripOf fits a trip to the loads of one size behind delays, by a straight line.
func (m *Model) tripOf(loads []Load, alone float64, pick func(Load) *Times) (t trip, ok bool) {
	var x, y []float64
	for _, d := range m.r.Calibration.Delays {
		at := slices.DeleteFunc(slices.Clone(loads), func(l Load) bool { return l.Delay != d })
		if len(at) > 0 && d > 0 {
			x, y = append(x, d), append(y, average(at, func(l Load) float64 { return mean(pick(l)) }))
		}
	}
	if len(x) < 2 {
		return trip{1, 0}, false
	}
	n := len(x) - 1
	t.trips = max((y[n]-y[0])/(x[n]-x[0]), 0)
	t.constant = y[0] - t.trips*x[0] - alone
	return t, true
}

// trip is that of a phase with so many requests of a client under way. A lock that
// sends one batch at a time to a node has a request wait for the batch before it, which
// is on the network too: the more requests a client has, the nearer a phase comes to two
// round trips. Between the sizes that were measured it goes as the logarithm.
func (m *Model) trip(repeat int, each float64, pick func(Load) *Times) trip {
	c := m.r.Calibration
	delayed := of(c.Delayed, repeat)
	if len(delayed) == 0 {
		return trip{1, 0}
	}
	sizes := map[int][]Load{}
	fewest := delayed[0].N
	for _, l := range delayed {
		sizes[l.N] = append(sizes[l.N], l)
		fewest = min(fewest, l.N)
	}
	// What a request takes without a delay is that of few: with delays, most of many
	// are on the network, and few in the service.
	alone := average(slices.DeleteFunc(slices.Clone(sizes[fewest]), func(l Load) bool { return l.Delay != 0 }), func(l Load) float64 { return mean(pick(l)) })
	low, lowEach := trip{1, 0}, 0.0
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		t, ok := m.tripOf(sizes[n], alone, pick)
		if !ok {
			continue
		}
		at := max(float64(n)/float64(max(c.Linkers, 1)), 1)
		switch {
		case lowEach == 0 || each >= at:
			low, lowEach = t, at
			if each <= at {
				return t
			}
		default:
			part := math.Log(each/lowEach) / math.Log(at/lowEach)
			return trip{low.trips + part*(t.trips-low.trips), low.constant + part*(t.constant-low.constant)}
		}
	}
	return low
}

// networkDelays is what lies between the clients and the masters, with so many requests of each
// client under way.
func (m *Model) networkDelays(s Scenario, curve queueing.Curve, repeat int, each float64) queueing.Delays {
	d := queueing.Delays{Least: s.roundTrip()}
	d.HandOff, d.Handed = m.handOff(curve)
	quorum := m.quorum(s)
	if quorum == 0 {
		return d
	}
	phase := func(pick func(Load) *Times) float64 {
		t := m.trip(repeat, each, pick)
		if !s.Linked { // the links' own clocks are late by so much; a network is not
			t.constant = 0
		}
		return max(t.trips*quorum+t.constant, 0)
	}
	d.Acquire, d.Release = phase(acquiring), phase(releasing)
	d.Spread = m.networkSpread(repeat, each)
	if trips := m.handedTrips(repeat); trips > 0 && d.Acquire+d.Release > 0 {
		d.HandedTrips = trips * quorum / (d.Acquire + d.Release)
		return d
	}
	// Not measured: a release, the notice of it, which is on its way for half a round trip, and an attempt.
	d.HandOff += quorum / 2 * min(m.trip(repeat, 1, acquiring).trips, 1)
	return d
}

// handedTrips is how many round trips a key that is waited for takes from one owner to the
// next, by a straight line through the hot key's turns behind delays; 0 where these were not
// measured.
func (m *Model) handedTrips(repeat int) float64 {
	var x, y []float64
	c := m.r.Calibration
	for _, d := range c.Delays {
		at := slices.DeleteFunc(of(c.HotDelayed, repeat), func(l Load) bool { return l.Delay != d })
		if len(at) > 0 {
			x, y = append(x, d), append(y, 1/average(at, func(l Load) float64 { return l.Rate }))
		}
	}
	if len(x) < 2 {
		return 0
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	return max(slope, 0)
}

// networkSpread is how times on the network lie around their mean: as those of the acquires
// behind the longest delay, with nearly as many requests of each client under way.
func (m *Model) networkSpread(repeat int, each float64) queueing.Spread {
	c := m.r.Calibration
	var near []Load
	for _, l := range of(c.Delayed, repeat) {
		off := func(l Load) float64 { return math.Abs(math.Log(float64(l.N) / float64(max(c.Linkers, 1)) / each)) }
		switch {
		case l.Delay != c.Delays[len(c.Delays)-1] || l.Acquire == nil:
		case len(near) == 0 || off(l) < off(near[0]):
			near = []Load{l}
		case l.N == near[0].N:
			near = append(near, l)
		}
	}
	return blend(near, acquiring)
}

// roundTrip is what a round trip to a quorum takes, where one is asked for.
func (s Scenario) roundTrip() float64 {
	if len(s.RTT) == 0 {
		return 0
	}
	all := make([]float64, s.Masters)
	for i := range all {
		all[i] = s.RTT[i%len(s.RTT)].Seconds()
	}
	return queueing.Quorum(s.Masters/2+1, all)
}

// quorum is what a round trip to a quorum takes longer than in the calibration.
func (m *Model) quorum(s Scenario) float64 {
	return max(s.roundTrip()-m.r.RTT.Seconds(), 0)
}

// handOff is what a change of hands takes beyond the round trips of one request: what
// the hot key took, less its hold and these. Where it took less than these, since the next
// owner is woken while the release is still on its way back, handed is their part in it.
func (m *Model) handOff(c queueing.Curve) (more, handed float64) {
	hot, pair := m.r.Hot, 1/c.Rate(1)
	var took float64
	switch {
	case hot.Hold > 0 && hot.Measured.Known() && hot.Measured.Value > 0:
		took = 1/hot.Measured.Value - hot.Hold.Seconds() - c.Overhold(1)
	case hot.HandOff.Known():
		took = hot.HandOff.Value
	default:
		return 0, 1
	}
	return max(took-pair, 0), min(max(took/pair, leastHanded), 1)
}

// leastHanded is the least part of a request's work that a change of hands is taken for.
const leastHanded = 0.1

package capacity

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/stat"

	"locktorture/reports/capacity/queueing"
	"locktorture/reports/unit"
)

// A Scenario is a situation to predict.
type Scenario struct {
	Masters int             `json:"masters"`
	RTT     []time.Duration `json:"rtt_ns,omitempty"` // to each master, or one for all; none: as calibrated
	Rate    float64         `json:"rate,omitempty"`   // arrivals per second; 0: Clients ask again and again
	Clients int             `json:"clients,omitempty"`
	Shards  int             `json:"shards,omitempty"` // lock groups that share nothing; the busiest is predicted
	Keys    int             `json:"keys,omitempty"`   // of all shards; 0: every client has one of its own
	Zipf    float64         `json:"zipf,omitempty"`
	Hold    time.Duration   `json:"hold_ns"`
	Think   time.Duration   `json:"think_ns,omitempty"`
	Own     bool            `json:"own_machines,omitempty"` // each Redis has a processor of its own, and the clients have Cores
	Cores   int             `json:"cores,omitempty"`        // of the clients, or of the machine that everything shares; 0: as calibrated
	Linked  bool            `json:"linked,omitempty"`       // through the links of the measurement, which cost processor time

	// A Window that is not 0 asks for what a measurement of this length would see, that
	// begins with nothing under way and looks after a Warmup; else for the long run.
	Warmup time.Duration `json:"warmup_ns,omitempty"`
	Window time.Duration `json:"window_ns,omitempty"`
}

// A Prediction is what the model says of a scenario.
type Prediction struct {
	Name     string   `json:"name"`
	Scenario Scenario `json:"scenario"`
	Rate     Estimate `json:"rate"` // pairs per second
	P50      Estimate `json:"acquire_p50_s"`
	P99      Estimate `json:"acquire_p99_s"`
	Behind   bool     `json:"behind,omitempty"` // more arrives than can be served
	Busy     []Use    `json:"busy"`             // the busiest first
	Under    float64  `json:"under_way"`        // requests in the lock's round trips, on average
	Beyond   []string `json:"extrapolated"`     // in which respects it goes beyond what was measured

	// Of an answer to a question alone.
	Warnings    []string `json:"warnings,omitempty"` // of the calibration
	Error       []string `json:"error,omitempty"`    // how far it may go wrong
	Calibration string   `json:"calibration,omitempty"`
}

// A Use is the share of something that is in use; at Full it limits.
type Use struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
	Full  float64 `json:"full"`
}

// A Model predicts from a calibration.
type Model struct {
	r      *Report
	fitted map[int][]loopFit // by repeat; -1: of all
}

// Model prepares predictions.
func (r *Report) Model() (*Model, error) {
	m := &Model{r: r}
	if err := r.disturbed(); err != nil {
		return nil, err
	}
	if r.Calibration == nil || len(m.loops(Scenario{}, -1)) < 2 {
		return nil, errors.New("it holds no calibration of the model: measure it again with this version of torture capacity")
	}
	return m, nil
}

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
	apart := m.comesApart(s)
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

// comesApart reports whether there are holds, pauses or arrivals between the requests, and
// the loops that tell what these cost.
func (m *Model) comesApart(s Scenario) bool {
	return (s.Rate > 0 || s.Hold > 0 || s.Think > 0) && m.apart()
}

// apart reports whether loops that hold were measured, in two sizes at least.
func (m *Model) apart() bool {
	loads := timed(m.r.Calibration.Apart, -1)
	return slices.ContainsFunc(loads, func(l Load) bool { return l.N != loads[0].N })
}

// Check says why the model knows nothing of a scenario.
func (m *Model) Check(s Scenario) error {
	c := m.r.Calibration
	switch {
	case s.Clients > MostClients:
		return fmt.Errorf("clients=%d: want up to %d", s.Clients, MostClients)
	case min(s.Rate*s.Hold.Seconds(), float64(s.Keys)) > MostHeld*float64(max(s.Shards, 1)):
		return fmt.Errorf("rate=%s, hold=%s: that many would hold at once that the model does not play it: want rate × hold of up to %d", unit.Rate(s.Rate), s.Hold, MostHeld)
	case s.Shards > 1 && (s.Rate == 0 || s.Keys < s.Shards):
		return fmt.Errorf("shards=%d: want a rate, and a key for every shard at least", s.Shards)
	case s.Rate > 0 && s.Keys == 0:
		return errors.New("keys: a rate of arrivals wants some to be drawn from")
	case m.r.Setup.TTL > 0 && s.Hold > m.r.Setup.TTL/2:
		return fmt.Errorf("hold=%v: want up to half of the TTL of the calibration (%v): the renewals of longer ones are not in the model", s.Hold, m.r.Setup.TTL)
	case s.Masters != m.r.Setup.Masters && len(c.Fewer) == 0:
		return fmt.Errorf("nodes=%d: the calibration knows %d alone, since the lock was measured on no other number", s.Masters, m.r.Setup.Masters)
	case s.Own && average(c.Same, redis) == 0:
		return errors.New("machines=own: the calibration does not tell the servers' processor time, since they were no processes of its machine")
	case len(s.RTT) > 1 && len(s.RTT) != s.Masters:
		return fmt.Errorf("rtt: %d are given for %d masters", len(s.RTT), s.Masters)
	case len(s.RTT) > 0 && slices.Max(s.RTT) > m.r.RTT && len(c.Delayed) == 0:
		return errors.New("rtt: the calibration holds no loads behind delays, which tell the number of round trips")
	}
	return nil
}

// demands are the processor seconds of a pair: of the clients, and of one master.
type demands struct{ client, master float64 }

// spent is what a pair costs in a loop, in a repeat, on that many masters. What it
// costs the clients grows in a straight line with the masters.
func (m *Model) spent(s Scenario, l closedLoop, repeat int) demands {
	d := demands{average(l.loads, harness), average(l.loads, redis)}
	c := m.r.Calibration
	same, fewer := of(c.Same, repeat), of(c.Fewer, repeat)
	if len(same) > 0 && len(fewer) > 0 {
		now := average(same, harness)
		slope := (now - average(fewer, harness)) / float64(same[0].Masters-fewer[0].Masters) / now
		d.client *= max(1+slope*float64(s.Masters-m.r.Setup.Masters), 0.1)
	}
	if linked := of(c.Linked, repeat); s.Linked && len(linked) > 0 && len(same) > 0 {
		d.client *= average(linked, harness) / average(same, harness)
	}
	return d
}

// stations are what a pair queues for.
func (m *Model) stations(s Scenario, d demands) []queueing.Station {
	if s.Own {
		return []queueing.Station{
			{Demand: d.client, Servers: max(s.Cores, 1)},
			{Demand: d.master, Stretch: queueing.Fork(s.Masters/2+1, s.Masters)},
		}
	}
	return []queueing.Station{
		{Demand: d.client + float64(s.Masters-1)*d.master, Servers: m.cores(s)},
		{Demand: d.master},
	}
}

func (m *Model) cores(s Scenario) int {
	if s.Cores > 0 {
		return s.Cores
	}
	return max(m.r.Calibration.CPUs, 1)
}

// Curve is the service as the scenario has it: as measured, and changed by the factor by
// which mean value analysis changes it.
func (m *Model) Curve(s Scenario, repeat int) queueing.Curve {
	c := m.measured(s, repeat)
	if m.comesApart(s) {
		m.fitLoops(&c, s, repeat)
	}
	c.Beyond = pastLast(c.Sizes)
	m.change(&c, s, repeat)
	return c
}

// measured is the service at every size, as it was measured.
func (m *Model) measured(s Scenario, repeat int) (c queueing.Curve) {
	for _, l := range m.loops(s, repeat) {
		acquire, release := average(l.loads, func(l Load) float64 { return mean(l.Acquire) }), average(l.loads, func(l Load) float64 { return mean(l.Release) })
		c.Sizes = append(c.Sizes, queueing.Size{
			N: l.under, Rate: average(l.loads, func(l Load) float64 { return l.Rate }), Share: acquire / (acquire + release),
			Acquire: blend(l.loads, acquiring), Release: blend(l.loads, releasing), Over: m.over(l),
		})
	}
	return c
}

// change makes of the service as measured that of the scenario. Beyond the last size too it
// is the measured one that is continued, and no processor does more than it has time for.
func (m *Model) change(c *queueing.Curve, s Scenario, repeat int) {
	loops, base := m.loops(s, repeat), Scenario{Masters: m.r.Setup.Masters}
	factors := func(l closedLoop, most int) []float64 {
		out := slices.Repeat([]float64{1}, most)
		before, after := queueing.MVA(m.stations(base, m.spent(base, l, repeat)), 0, most), queueing.MVA(m.stations(s, m.spent(s, l, repeat)), 0, most)
		for i := range out {
			if before[i].Response > 0 && after[i].Response > 0 {
				out[i] = after[i].Response / before[i].Response
			}
		}
		return out
	}
	for i, l := range loops {
		n := max(int(math.Round(l.under)), 1)
		c.Sizes[i].Rate /= factors(l, n)[n-1]
	}
	if c.Beyond == nil {
		return
	}
	last, line := loops[len(loops)-1], c.Beyond
	further := sync.OnceValue(func() []float64 { return factors(last, MostClients) })
	at := func(n float64) float64 { return further()[min(max(int(math.Round(n)), 1), MostClients)-1] }
	cost, rate := m.costBeyond(s, loops, repeat), c.Sizes[len(loops)-1].Rate
	c.Beyond = func(n float64) float64 {
		most := queueing.Saturation(m.stations(s, cost(n)))
		return min(line(n)*at(last.under)/at(n), max(most/rate, 1))
	}
}

// costBeyond continues what a pair costs past the last loop: where requests travel in
// batches, a batch costs a part once, whatever its size.
func (m *Model) costBeyond(s Scenario, loops []closedLoop, repeat int) func(n float64) demands {
	a, b := loops[len(loops)-2], loops[len(loops)-1]
	small, large := m.spent(s, a, repeat), m.spent(s, b, repeat)
	continued := func(small, large, n float64) float64 {
		once := max(small-large, 0) / (1/a.under - 1/b.under)
		return max(large-once*(1/b.under-1/n), large/2)
	}
	return func(n float64) demands {
		return demands{continued(small.client, large.client, n), continued(small.master, large.master, n)}
	}
}

// pastLast continues a curve past its last size: the time that a round of n requests takes
// grows in a straight line, as it did between the last two sizes. Where requests travel in
// batches that costs the batch once and every request the same, and the rate comes near
// an asymptote; where they get in each other's way the line is steep, and the rate falls.
func pastLast(sizes []queueing.Size) func(n float64) float64 {
	if len(sizes) < 2 {
		return nil
	}
	a, b := sizes[len(sizes)-2], sizes[len(sizes)-1]
	round := func(s queueing.Size) float64 { return s.N / s.Rate }
	slope := max((round(b)-round(a))/(b.N-a.N), 0)
	return func(n float64) float64 { return n / (round(b) + slope*(n-b.N)) / b.Rate }
}

// over is by how much a hold outlasts what was asked for.
func (m *Model) over(l closedLoop) float64 {
	if measured := average(l.loads, func(l Load) float64 { return l.Over }); measured > 0 {
		return measured
	}
	return m.r.Calibration.Overhold
}

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

// clients are those over which requests are spread.
func (m *Model) clients(s Scenario) float64 {
	if s.Linked {
		return float64(max(m.r.Calibration.Linkers, 1))
	}
	return float64(max(m.r.Setup.Clients, 1))
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

func (m *Model) hold(asked time.Duration) float64 {
	if asked == 0 {
		return 0
	}
	return asked.Seconds() + m.r.Calibration.Overhold
}

// MostClients is how many may ask again and again: more would be played for less time than
// they need to come to where they wait. MostHeld is how many may hold at once, of arrivals.
const (
	MostClients = 50_000
	MostHeld    = 200_000
)

// Pairs that are played for a prediction; of clients, at least so many rounds.
const (
	playPairs     = 30_000
	mostPairs     = playRounds * MostClients
	playRounds    = 20
	repeatPart    = 3 // of them for each single repeat
	networkRounds = 3 // until the network and the requests on it agree
)

// keyFull is from where on waits for a key grow so fast that a small error of the model is
// a large one of them: held-out points there missed by half.
const keyFull = 0.8

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

// play predicts from one repeat, or from all.
func (m *Model) play(s Scenario, repeat int) (queueing.Outcome, queueing.Curve) {
	curve := m.Curve(s, repeat)
	pairs := min(max(playPairs, playRounds*s.Clients), mostPairs)
	if repeat >= 0 {
		pairs /= repeatPart
	}
	d := queueing.Demand{Rate: s.Rate, Clients: s.Clients, OwnKeys: s.Keys == 0, Hold: s.Hold.Seconds(), Think: s.Think.Seconds(),
		Warmup: s.Warmup.Seconds(), Window: s.Window.Seconds()}
	if s.Rate > 0 || s.Keys > 0 {
		d.OwnKeys = false
		var share float64
		d.Keys, share = queueing.Shard(s.Keys, s.Zipf, s.Shards)
		d.Rate *= share
	}
	simulate := func(delays queueing.Delays, pairs int) queueing.Outcome {
		return queueing.Simulate(curve, d, delays, pairs, rand.New(rand.NewPCG(m.r.Seed, 11)))
	}
	each := 1.0
	if m.quorum(s) > 0 { // how many are on the network depends on how long they are
		for range networkRounds {
			delays := m.networkDelays(s, curve, repeat, each)
			out := simulate(delays, pairs/repeatPart)
			each = max((out.MeanUnder+out.Rate*(delays.Acquire+delays.Release))/m.clients(s), 1)
		}
	}
	return simulate(m.networkDelays(s, curve, repeat, each), pairs), curve
}

// Predict answers a scenario. Its figures have the error that the held-out points
// show, where there are such.
func (m *Model) Predict(name string, s Scenario) (Prediction, error) {
	if err := m.Check(s); err != nil {
		return Prediction{}, err
	}
	out, curve := m.play(s, -1)
	out = m.bounded(s, out, curve)
	p := Prediction{Name: name, Scenario: s, Behind: out.Behind, Under: out.MeanUnder}
	e := m.r.Calibration.Errors
	if _, part := queueing.Shard(s.Keys, s.Zipf, s.Shards); s.Rate > 0 && !out.Behind {
		out.Rate = s.Rate * part // what is not carried of it is chance
	}
	least := s.roundTrip()
	if least == 0 { // as in the calibration, where a median PING tells it
		least = min(m.r.RTT.Seconds(), out.P50)
	}
	p.Rate, p.P50, p.P99 = s.consistent(e.Rate.around(out.Rate), e.P50.around(out.P50), e.P99.around(out.P99))
	p.P50, p.P99 = p.P50.beyond(least), p.P99.beyond(least)
	d := m.spentAt(s, out.MeanUnder)
	p.Busy = m.uses(s, d, out, curve)
	p.Beyond = m.beyond(s, out, curve)
	return p, nil
}

// each predicts from every repeat by itself: how far they differ is how far the
// calibration can be trusted.
func (m *Model) each(s Scenario) (rate, p50, p99 Estimate) {
	var rates, p50s, p99s []float64
	for i := range m.r.Repeats {
		if len(m.loops(Scenario{}, i)) == 0 || len(m.loops(s, i)) == 0 {
			continue
		}
		out, _ := m.play(s, i)
		rates, p50s, p99s = append(rates, out.Rate), append(p50s, out.P50), append(p99s, out.P99)
	}
	out, _ := m.play(s, -1)
	return ofRepeats(out.Rate, rates), ofRepeats(out.P50, p50s), ofRepeats(out.P99, p99s)
}

// spentAt is what a pair costs with so many requests under way, between two loops as the
// logarithm of their number goes.
func (m *Model) spentAt(s Scenario, under float64) demands {
	loops := m.loops(s, -1)
	at := slices.IndexFunc(loops, func(l closedLoop) bool { return l.under >= under })
	switch {
	case at < 0:
		return m.costBeyond(s, loops, -1)(under)
	case at == 0:
		return m.spent(s, loops[0], -1)
	}
	low, high := loops[at-1], loops[at]
	part := math.Log(under/low.under) / math.Log(high.under/low.under)
	a, b := m.spent(s, low, -1), m.spent(s, high, -1)
	return demands{a.client + part*(b.client-a.client), a.master + part*(b.master-a.master)}
}

// serviceFull is from where on the service as a whole counts as what limits.
const serviceFull = 0.9

// uses says how much of everything is in use, the nearest to its limit first.
func (m *Model) uses(s Scenario, d demands, out queueing.Outcome, c queueing.Curve) []Use {
	all := []Use{{"the busiest key", out.KeyBusy, 1}}
	if full := out.Work / c.Highest(); full > serviceFull {
		all = append(all, Use{"the service (clients, network and masters together, attempts that met a key in use included)", min(full, 1), 1})
	}
	if d.master > 0 {
		all = append(all, Use{"each Redis's main thread", out.Rate * d.master, redisFull})
	}
	switch {
	case d.client > 0 && s.Own:
		all = append(all, Use{"the clients' " + unit.Counted(m.cores(s), "processor"), out.Rate * d.client / float64(m.cores(s)), machineFull})
	case d.client > 0:
		all = append(all, Use{fmt.Sprintf("the %s that everything shares", unit.Counted(m.cores(s), "processor")),
			min(out.Rate*(d.client+float64(s.Masters)*d.master)/float64(m.cores(s)), 1), machineFull})
	}
	slices.SortStableFunc(all, func(a, b Use) int {
		if a.Share/a.Full > b.Share/b.Full {
			return -1
		}
		return 1
	})
	return all
}

// mostGoroutines is how many asked at once at most in what was fitted.
func mostGoroutines(r *Report) (most int) {
	for _, l := range slices.Concat(r.Sweep, r.Calibration.Apart) {
		most = max(most, l.N)
	}
	return most
}

// beyond says in which respects a scenario leaves what was measured.
func (m *Model) beyond(s Scenario, out queueing.Outcome, c queueing.Curve) (list []string) {
	r := m.r
	say := func(differs bool, format string, args ...any) {
		if differs {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	fewest := r.Setup.Masters
	if len(r.Calibration.Fewer) > 0 {
		fewest = r.Calibration.Fewer[0].Masters
	}
	say(s.Masters > r.Setup.Masters || s.Masters < fewest, "%s where %d to %d were fitted", unit.Counted(s.Masters, "master"), fewest, r.Setup.Masters)
	most := 0.0
	for _, l := range r.Calibration.Delayed {
		most = max(most, l.Delay)
	}
	if len(s.RTT) > 0 {
		widest := slices.Max(s.RTT)
		say(widest.Seconds() > most+r.RTT.Seconds(), "a round trip of %s where up to %s were fitted", unit.Setting(widest), unit.Setting(time.Duration(most*1e9)))
	}
	say(float64(out.Under) > c.Most(), "up to %s requests under way where %.0f were fitted", unit.Count(out.Under), c.Most())
	say(s.Hold != r.Setup.Hold && s.Hold > 0, "a hold of %s where %s was fitted", unit.Setting(s.Hold), unit.Setting(r.Setup.Hold))
	say(s.Zipf > 0, "keys by Zipf's law where equal ones were fitted")
	say(s.Own, "machines of their own where one was shared")
	say(s.Own && len(s.RTT) == 0, "a round trip of %s between them, as on the one machine that was measured: say rtt=", unit.Latency(r.RTT))
	say(s.Shards > 1 && !s.Own, "each shard on a machine of its own, like the one that was measured")
	say(s.Clients > mostGoroutines(r), "%s that ask at once, where up to %s did, over the connections of %d clients", unit.Count(s.Clients), unit.Count(mostGoroutines(r)), r.Setup.Clients)
	say(out.KeyBusy > keyFull && out.Waited > 0, "keys in use for %s of the time, near their limit: a wait may be twice as long", unit.Percent(out.KeyBusy))
	say(s.Cores > 0 && s.Cores != r.Calibration.CPUs && !s.Own, "%d processors where %d were measured", s.Cores, r.Calibration.CPUs)
	return list
}

package capacity

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

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
	if m.outOfStep(s) {
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

// clients are those over which requests are spread.
func (m *Model) clients(s Scenario) float64 {
	if s.Linked {
		return float64(max(m.r.Calibration.Linkers, 1))
	}
	return float64(max(m.r.Setup.Clients, 1))
}

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

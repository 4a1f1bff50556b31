package capacity

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/reports/capacity/queueing"
)

// The system that the synthetic calibration was measured on: two processors that
// clients and masters share.
const (
	perPair   = 60e-6  // processor seconds of the clients, whatever the masters
	perMaster = 12e-6  // of the clients, for each master
	ofMaster  = 20e-6  // of each master
	roundTrip = 100e-6 // of the calibration
)

// truth is what that system does in a closed loop.
func truth(masters, n int, think float64) queueing.Mean {
	stations := []queueing.Station{
		{Demand: perPair + perMaster*float64(masters) + float64(masters-1)*ofMaster, Servers: 2}, {Demand: ofMaster},
	}
	return queueing.MVA(stations, think, n)[n-1]
}

// loop is a measured closed loop, with times that lie around their mean as evenly as
// can be, and repeats that differ by some per cent.
func loop(masters, n, repeat int, delay float64) Load {
	m := truth(masters, n, 2*delay)
	off := 1 + 0.02*float64(repeat-2)
	return Load{N: n, Repeat: repeat, Rate: m.Rate * off, Masters: masters, Delay: delay, Harness: perPair + perMaster*float64(masters), Redis: ofMaster,
		Acquire: spreadAround(0.6*m.Response + delay), Release: spreadAround(0.4*m.Response + delay)}
}

// spreadAround are times that lie around their mean as evenly as can be.
func spreadAround(mean float64) *Times {
	t := &Times{Mean: mean}
	for _, p := range queueing.Probabilities {
		t.Quantiles = append(t.Quantiles, mean*(0.5+p))
	}
	return t
}

// calibratedReport holds the closed loops of the synthetic system.
func calibratedReport() *Report {
	r := planned()
	r.RTT, r.Setup.Hold, r.Seed = 100*time.Microsecond, 20*time.Millisecond, 3
	r.Sweep = nil
	c := &Calibration{Quorum: 3, CPUs: 2, Size: 32, Delays: []float64{0, 0.002, 0.004}}
	for repeat := range 5 {
		for _, n := range []int{1, 2, 4, 8, 16, 32, 64, 128} {
			r.Sweep = append(r.Sweep, loop(5, n, repeat, 0))
		}
		c.Same, c.Fewer = append(c.Same, loop(5, 32, repeat, 0)), append(c.Fewer, loop(3, 32, repeat, 0))
		c.Linked, c.Linkers = append(c.Linked, loop(5, 32, repeat, 0)), 4
		for _, d := range c.Delays {
			c.Delayed = append(c.Delayed, loop(5, 4, repeat, d))
		}
	}
	alone := 1 / truth(5, 1, 0).Rate
	hot := 1 / (0.02 + 0.001 + alone)
	r.Hot = Hot{Hold: r.Setup.Hold, Measured: Mean([]float64{hot, hot}), HandOff: Mean([]float64{0.001 + alone, 0.001 + alone}), Predicted: Mean([]float64{hot, hot})}
	r.USL = FitUSL(nil)
	r.Calibration = c
	return r
}

func predict(t *testing.T, r *Report, s Scenario) Prediction {
	t.Helper()
	m, err := r.Model()
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict("a question", s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Where the system is what the model takes it for, predictions beyond what was fitted
// are right.
func TestModelPredictsWhatWasNotFitted(t *testing.T) {
	r := calibratedReport()
	for name, c := range map[string]struct {
		s    Scenario
		want float64
	}{
		"as fitted":          {Scenario{Masters: 5, Clients: 32}, truth(5, 32, 0).Rate},
		"7 masters":          {Scenario{Masters: 7, Clients: 32}, truth(7, 32, 0).Rate},
		"twice the clients":  {Scenario{Masters: 5, Clients: 256}, truth(5, 256, 0).Rate},
		"another hold":       {Scenario{Masters: 5, Clients: 64, Hold: 5 * time.Millisecond}, truth(5, 64, 0.005).Rate},
		"longer round trips": {Scenario{Masters: 5, Clients: 32, RTT: []time.Duration{5100 * time.Microsecond}}, truth(5, 32, 0.010).Rate},
		"one hot key": {Scenario{Masters: 5, Clients: 16, Keys: 1, Hold: 40 * time.Millisecond},
			1 / (0.04 + 0.001 + 1/truth(5, 1, 0).Rate)},
		"arrivals": {Scenario{Masters: 5, Rate: 1000, Keys: 1000}, 1000},
	} {
		got := predict(t, r, c.s)
		if math.Abs(got.Rate.Value/c.want-1) > 0.06 || got.Behind {
			t.Errorf("%s: %.0f/s, want %.0f/s", name, got.Rate.Value, c.want)
		}
	}
}

// Requests that come apart cost more than those that come in step: what loops with a
// hold tell is used where there are holds, arrivals or pauses, and nowhere else.
func TestModelOfRequestsThatComeApart(t *testing.T) {
	const dearer = 1.8
	r := calibratedReport()
	stations := []queueing.Station{{Demand: dearer * (perPair + 5*perMaster + 4*ofMaster), Servers: 2}, {Demand: ofMaster}}
	apart := func(n int, hold float64) queueing.Mean { return queueing.MVA(stations, hold, n)[n-1] }
	for repeat := range 5 {
		for _, n := range []int{16, 64, 128, 256, 512} {
			m, l := apart(n, 0.0205), loop(5, n, repeat, 0)
			l.Rate, l.Harness, l.Over = m.Rate, dearer*l.Harness, 0.0005
			l.Acquire, l.Release = spreadAround(0.6*m.Response), spreadAround(0.4*m.Response)
			r.Calibration.Apart = append(r.Calibration.Apart, l)
		}
	}
	inStep := func(n int, hold float64) float64 { return truth(5, n, hold).Rate }
	for name, c := range map[string]struct {
		s         Scenario
		low, high float64 // the shorter the hold, the nearer to requests in step
	}{
		"in step":        {Scenario{Masters: 5, Clients: 64}, inStep(64, 0), inStep(64, 0)},
		"another hold":   {Scenario{Masters: 5, Clients: 64, Hold: 5 * time.Millisecond}, apart(64, 0.0055).Rate, inStep(64, 0.0055)},
		"a longer hold":  {Scenario{Masters: 5, Clients: 200, Hold: 40 * time.Millisecond}, apart(200, 0.0405).Rate, apart(200, 0.0405).Rate},
		"more of them":   {Scenario{Masters: 5, Clients: 200, Hold: 20 * time.Millisecond}, apart(200, 0.0205).Rate, apart(200, 0.0205).Rate},
		"with pauses":    {Scenario{Masters: 5, Clients: 64, Think: 10 * time.Millisecond}, apart(64, 0.010).Rate, inStep(64, 0.010)},
		"hardly a pause": {Scenario{Masters: 5, Clients: 64, Think: 10 * time.Microsecond}, inStep(64, 0), inStep(64, 0)},
	} {
		if got := predict(t, r, c.s).Rate.Value; got < 0.94*c.low || got > 1.06*c.high {
			t.Errorf("%s: %.0f/s, want %.0f/s to %.0f/s", name, got, c.low, c.high)
		}
	}
}

// On a machine that starved, some repeats have loops of one kind and not of the other, or
// loops in which nothing was acquired: they say nothing, and the others do.
func TestModelOfRepeatsThatMeasuredLittle(t *testing.T) {
	r := calibratedReport()
	for repeat := range 5 {
		for _, n := range []int{16, 64} {
			l := loop(5, n, repeat, 0)
			switch repeat {
			case 1:
				continue
			case 2:
				l.Acquire = nil
			case 3:
				l.Rate = 0
			}
			r.Calibration.Apart = append(r.Calibration.Apart, l)
		}
	}
	r.Sweep = slices.DeleteFunc(r.Sweep, func(l Load) bool { return l.Repeat == 4 })
	s := Scenario{Masters: 5, Clients: 20, Hold: time.Millisecond}
	r.Calibration.HeldOut = []HeldOut{NewHeldOut("a point", s, []float64{1000, 1001}, []float64{0.001, 0.001}, []float64{0.002, 0.002})}
	r.Points = nil
	r.Validate()
	if points := r.Calibration.HeldOut; len(points) != 1 || points[0].Predicted.Rate.Value <= 0 {
		t.Errorf("%+v", points)
	}
	for i := range r.Calibration.Apart {
		r.Calibration.Apart[i].Rate = 0
	}
	if p := predict(t, r, s); p.Rate.Value <= 0 {
		t.Errorf("without a loop that holds: %+v", p.Rate)
	}
}

// Where a batch of n requests takes a + b·n, sizes beyond the last one measured do too.
func TestModelPastTheLastSize(t *testing.T) {
	const a, b = 0.002, 0.00004
	rate := func(n float64) float64 { return n / (a + b*n) }
	at := pastLast([]queueing.Size{{N: 64, Rate: rate(64)}, {N: 128, Rate: rate(128)}})
	for _, n := range []float64{128, 256, 1024} {
		if got := at(n) * rate(128); math.Abs(got/rate(n)-1) > 1e-9 {
			t.Errorf("%v under way: %.0f/s, want %.0f/s", n, got, rate(n))
		}
	}
}

// The loops that a curve of requests that come apart was read from, played through it,
// take as long as they did: unsettled, the loop of 64 took half as long again.
func TestModelGivesItsLoopsBack(t *testing.T) {
	r := calibratedReport()
	service := queueing.Curve{Sizes: []queueing.Size{{N: 1, Rate: 3000, Share: 0.6}, {N: 64, Rate: 6000, Share: 0.6}, {N: 512, Rate: 9000, Share: 0.6}}}
	for _, n := range []int{16, 64, 128, 256, 512} {
		out := queueing.Simulate(service, queueing.Demand{Clients: n, OwnKeys: true, Hold: 0.02}, queueing.Delays{}, 30_000, rand.New(rand.NewPCG(1, 1)))
		for repeat := range 5 {
			l := loop(5, n, repeat, 0)
			l.Rate, l.Acquire, l.Release = out.Rate, spreadAround(out.Mean), spreadAround(out.Mean*0.4/0.6)
			r.Calibration.Apart = append(r.Calibration.Apart, l)
		}
	}
	r.Calibration.Overhold = 0
	m, err := r.Model()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range m.loops(Scenario{Hold: r.Setup.Hold}, -1) {
		s := Scenario{Masters: 5, Clients: l.size, Hold: r.Setup.Hold}
		curve := m.Curve(s, -1)
		got := 0.0
		for seed := range uint64(5) { // goroutines that hold alike go on in step as they began
			out := queueing.Simulate(curve, queueing.Demand{Clients: l.size, OwnKeys: true, Hold: 0.02}, queueing.Delays{}, 10_000, rand.New(rand.NewPCG(seed, 2)))
			got += out.Mean / 5
		}
		want := l.loads[0].Acquire.Mean
		if math.Abs(got/want-1) > 0.15 {
			t.Errorf("%d goroutines: %.3g ms, want %.3g ms", l.size, got*1e3, want*1e3)
		}
	}
}

// A client that sends one batch at a time has a request wait for the batch before it,
// the longer the more requests it has: of another delay too, through links and not.
func TestModelOfBatches(t *testing.T) {
	const one, many = 1.0, 1.8 // round trips of a phase, by requests of a client
	r := calibratedReport()
	r.Calibration.Delayed = nil
	behind := func(n int, delay, trips float64) float64 { return truth(5, n, 2*trips*delay).Rate }
	for repeat := range 5 {
		for n, trips := range map[int]float64{4: one, 32: many} {
			for _, d := range r.Calibration.Delays {
				l := loop(5, n, repeat, 0)
				m := truth(5, n, 2*trips*d)
				l.Delay, l.Rate = d, m.Rate
				l.Acquire, l.Release = spreadAround(0.6*m.Response+trips*d), spreadAround(0.4*m.Response+trips*d)
				r.Calibration.Delayed = append(r.Calibration.Delayed, l)
			}
		}
	}
	late := []time.Duration{5100 * time.Microsecond}
	for name, c := range map[string]struct {
		s    Scenario
		want float64
	}{
		"8 of each client, through links": {Scenario{Masters: 5, Clients: 32, RTT: late, Linked: true}, behind(32, 0.005, many)},
		"1 of each client, through links": {Scenario{Masters: 5, Clients: 4, RTT: late, Linked: true}, behind(4, 0.005, one)},
		"2 of each of 16 clients":         {Scenario{Masters: 5, Clients: 32, RTT: late}, behind(32, 0.005, one+(many-one)/3)},
	} {
		if got := predict(t, r, c.s); math.Abs(got.Rate.Value/c.want-1) > 0.06 {
			t.Errorf("%s: %.0f/s, want %.0f/s", name, got.Rate.Value, c.want)
		}
	}
}

// A key that is waited for changes hands over as many round trips as were measured.
func TestModelOfHandOffsOverTheNetwork(t *testing.T) {
	const trips, hold = 1.5, 0.02
	r := calibratedReport()
	alone := 0.001 + 1/truth(5, 1, 0).Rate
	late := Scenario{Masters: 5, Clients: 16, Keys: 1, Hold: 20 * time.Millisecond, RTT: []time.Duration{10100 * time.Microsecond}}
	before := predict(t, r, late).Rate.Value
	for repeat := range 5 {
		for _, d := range r.Calibration.Delays {
			r.Calibration.HotDelayed = append(r.Calibration.HotDelayed, Load{N: 16, Repeat: repeat, Masters: 5, Delay: d, Rate: 1 / (alone + trips*d)})
		}
	}
	want := 1 / (hold + alone + trips*0.010)
	if got := predict(t, r, late).Rate.Value; math.Abs(got/want-1) > 0.03 || math.Abs(before/want-1) < 0.1 {
		t.Errorf("%.1f/s, want %.1f/s, and %.1f/s where nothing was measured", got, want, before)
	}
}

// The quorum waits for the third of five regions.
func TestModelOfRegions(t *testing.T) {
	const ms = time.Millisecond
	got := predict(t, calibratedReport(), Scenario{Masters: 5, Clients: 4, RTT: []time.Duration{80 * ms, ms, 40 * ms, ms, 41 * ms}})
	if got.P50.Value < 0.039 || got.P50.Value > 0.042 {
		t.Errorf("p50 %.4f s", got.P50.Value)
	}
	if !got.Extrapolated() || !strings.Contains(strings.Join(got.Beyond, "; "), "a round trip of 80 ms where up to 4 ms were fitted") {
		t.Errorf("beyond: %q", got.Beyond)
	}
}

func TestModelSaysWhatItCannotKnow(t *testing.T) {
	r := calibratedReport()
	m, err := r.Model()
	if err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]Scenario{
		"keys: a rate":              {Masters: 5, Rate: 10},
		"2 are given for 5 masters": {Masters: 5, Clients: 1, RTT: []time.Duration{1, 2}},
		"shards=2: want a rate":     {Masters: 5, Clients: 1, Shards: 2},
	} {
		if _, err := m.Predict("", s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	r.Calibration.Fewer = nil
	if _, err := m.Predict("", Scenario{Masters: 7, Clients: 1}); err == nil || !strings.Contains(err.Error(), "nodes=7") {
		t.Errorf("masters that nothing was fitted to: %v", err)
	}
	r.Calibration = nil
	if _, err := r.Model(); err == nil {
		t.Error("a report without a calibration has a model")
	}
}

// More than can be served is said to be so, and has no latency.
func TestModelOfOverload(t *testing.T) {
	r := calibratedReport()
	got := predict(t, r, Scenario{Masters: 5, Rate: 1000, Keys: 1, Hold: 20 * time.Millisecond})
	if !got.Behind || got.Rate.Value > 50 || got.Busy[0].Name != "the busiest key" {
		t.Errorf("%+v", got)
	}
	var text bytes.Buffer
	if err := r.Answer(&text, "capacity.json", got); err != nil || !strings.Contains(text.String(), "more arrives than that") || !strings.Contains(text.String(), "grows for as long") {
		t.Errorf("%v:\n%s", err, &text)
	}
}

// Answers state the error that the held-out points have, and it widens their interval.
func TestHeldOutPointsGiveTheError(t *testing.T) {
	r := calibratedReport()
	for i, off := range []float64{0.9, 1.1, 1.2, 0.8} {
		s := Scenario{Masters: 5, Clients: 20 + i, Hold: time.Millisecond}
		rate := truth(5, 20+i, 0.001).Rate * off
		r.Calibration.HeldOut = append(r.Calibration.HeldOut, NewHeldOut("a point", s, []float64{rate, rate * 1.01}, []float64{0.001, 0.001}, []float64{0.002, 0.002}))
	}
	r.Points = nil
	r.Validate()
	e := r.Calibration.Errors.Rate
	if e.N != 4 || e.Median < 0.08 || e.Median > 0.25 || e.Worst < 0.2 || e.Worst > 0.3 {
		t.Errorf("%+v", e)
	}
	p := predict(t, r, Scenario{Masters: 5, Clients: 32})
	if p.Rate.High/p.Rate.Value < 1.3 || !p.Rate.Known() {
		t.Errorf("points that are off by 20 %% give %+v", p.Rate)
	}
	all := ""
	for _, l := range r.modelLines() {
		all += l.Label + " " + l.Text + "\n"
	}
	for _, want := range []string{"model error held out: rate median", "predicted for a point; pairs per second", "what if as measured", "≈ "} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
}

// A plan takes the fewest shards that carry the rate, and says what ends it.
func TestPlan(t *testing.T) {
	r := calibratedReport()
	r.Warning, r.Calibration.Errors.P99 = []string{"this machine is too busy"}, Error{N: 5, Spread: 2}
	m, err := r.Model()
	if err != nil {
		t.Fatal(err)
	}
	w := Wish{Rate: 100_000, P99: 50 * time.Millisecond, Keys: 1_000_000, Hold: 10 * time.Millisecond}
	plans, err := m.Plan(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		// A master carries 0.85 / 20 µs = 42,500/s.
		if p.Why != "" || p.Shards != 3 || p.One.Behind || p.One.P99.Value > 0.05 {
			t.Errorf("%d masters: %+v", p.Masters, p)
		}
	}
	answer := func() string {
		var text bytes.Buffer
		if err := r.AnswerPlan(&text, "capacity.json", "rate=…", plans); err != nil {
			t.Error(err)
		}
		return text.String()
	}
	for _, want := range []string{"what breaks first: each Redis's main thread", "warning         this machine is too busy", "not by the whole of its interval", "no headroom for bursts"} {
		if text := answer(); !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	far := Wish{Rate: 1000, P99: 50 * time.Millisecond, Keys: 1_000_000, Hold: 10 * time.Millisecond, RTT: []time.Duration{80 * time.Millisecond}, Nodes: 5}
	if plans, err := m.Plan(far); err != nil || !strings.Contains(plans[0].Why, "round trips of 80.0 ms to a quorum") || strings.Contains(plans[0].Why, "processors") {
		t.Errorf("further away than the objective: %+v, %v", plans, err)
	}
	w.Keys = 10
	if plans, err = m.Plan(w); err != nil || !strings.Contains(plans[0].Why, "no number of shards parts a key") {
		t.Errorf("ten keys for 100,000/s: %+v, %v", plans, err)
	}
	if text := answer(); strings.Contains(text, "no headroom") {
		t.Errorf("headroom of no plan:\n%s", text)
	}
}

package capacity

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"locktorture/reports/capacity/queueing"
)

// No answer goes beyond what the most popular key, the arrivals or the clients allow.
func TestAnswersStayWithinWhatIsPossible(t *testing.T) {
	r := calibratedReport()
	hold := 30 * time.Millisecond
	hottest := queueing.NewPopularity(1_000_000, 0.99).Hottest()
	for _, clients := range []int{500, 5000, 50_000} {
		p := predict(t, r, Scenario{Masters: 5, Clients: clients, Keys: 1_000_000, Zipf: 0.99, Hold: hold})
		if most := 1 / (hottest * hold.Seconds()); p.Rate.Value > most {
			t.Errorf("%d clients: %.0f/s, where the most popular key allows %.0f/s", clients, p.Rate.Value, most)
		}
	}
	for _, wanted := range []float64{48, 60, 200} { // of one key that is held for 20 ms
		if p := predict(t, r, Scenario{Masters: 5, Rate: wanted, Keys: 1, Hold: 20 * time.Millisecond}); !p.Behind || p.Rate.Value > 50 {
			t.Errorf("%v/s of one key: %.1f/s carried, behind: %v", wanted, p.Rate.Value, p.Behind)
		}
	}
	r.Calibration.Errors.Rate = Error{N: 5, Spread: 0.2}
	if p := predict(t, r, Scenario{Masters: 5, Rate: 100, Keys: 1000, Hold: hold}); p.Rate.High > 100 {
		t.Errorf("of 100/s [%.0f/s, %.0f/s] are served", p.Rate.Low, p.Rate.High)
	}
	if p := predict(t, r, Scenario{Masters: 5, Clients: 2, Hold: hold}); p.Rate.High > 2/hold.Seconds() {
		t.Errorf("2 clients that hold for %v: up to %.0f/s", hold, p.Rate.High)
	}
	if p := predict(t, r, Scenario{Masters: 5, Rate: 400, Keys: 1_000_000, Hold: hold}); p.Busy[0].Name == "the busiest key" {
		t.Errorf("a million equal keys: %+v", p.Busy[0])
	}
}

// What a pair costs goes smoothly with the load.
func TestCostsGoSmoothly(t *testing.T) {
	r := calibratedReport()
	m, err := r.Model()
	if err != nil {
		t.Fatal(err)
	}
	s := Scenario{Masters: 5, Clients: 64}
	last := m.spentAt(s, 1).client
	for under := 1.25; under < 200; under *= 1.25 {
		now := m.spentAt(s, under).client
		if now > 1.25*last || now < last/1.25 {
			t.Errorf("%.0f under way: %g after %g", under, now, last)
		}
		last = now
	}
}

func TestUnsoundReportsAreRefused(t *testing.T) {
	sound := func() *Report {
		r := calibratedReport()
		r.Schema, r.Began, r.Setup.TTL = 1, time.Unix(1, 0), 2*time.Second
		return r
	}
	if err := sound().Sound(1); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Report){
		"schema is 99":                      func(r *Report) { r.Schema = 99 },
		"setup.masters is 0":                func(r *Report) { r.Setup.Masters = 0 },
		"setup.masters is 2":                func(r *Report) { r.Setup.Masters = 2 },
		"setup.keys is 1000000000":          func(r *Report) { r.Setup.Keys = 1_000_000_000 },
		"setup.hold_ns is -1":               func(r *Report) { r.Setup.Hold = -1 },
		"setup.ttl_ns is 0":                 func(r *Report) { r.Setup.TTL = 0 },
		"rtt_ns is -5000000":                func(r *Report) { r.RTT = -5 * time.Millisecond },
		"repeats is 1000000000":             func(r *Report) { r.Repeats = 1_000_000_000 },
		"limit: value -5":                   func(r *Report) { r.Limit = Estimate{Value: -5, N: 5} },
		"limit: value 5000":                 func(r *Report) { r.Limit = Estimate{Value: 5000, Low: 900, High: 1100, Confidence: 0.95, N: 5} },
		"began":                             func(r *Report) { r.Began = time.Time{} },
		"sweep[0].repeat is -1":             func(r *Report) { r.Sweep[0].Repeat = -1 },
		"sweep[0].n is 0":                   func(r *Report) { r.Sweep[0].N = 0 },
		"sweep[0].rate is NaN":              func(r *Report) { r.Sweep[0].Rate = math.NaN() },
		"calibration.cpus is -5":            func(r *Report) { r.Calibration.CPUs = -5 },
		"calibration.cpus is 0":             func(r *Report) { r.Calibration.CPUs = 0 },
		"calibration.overhold_s is -5":      func(r *Report) { r.Calibration.Overhold = -5 },
		"calibration.overhold_s is 1e+09":   func(r *Report) { r.Calibration.Overhold = 1e9 },
		"calibration.errors.rate":           func(r *Report) { r.Calibration.Errors.Rate.Spread = -1 },
		"calibration.errors.acquire_p50":    func(r *Report) { r.Calibration.Errors.P50.Spread = 1e9 },
		"calibration.errors.acquire_p99":    func(r *Report) { r.Calibration.Errors.P99.N = -5 },
		"calibration.delays_s":              func(r *Report) { r.Calibration.Delays = nil },
		"calibration.delays_s[1]":           func(r *Report) { r.Calibration.Delays = []float64{0.002, 0.001} },
		"sweep[0].acquire.quantile":         func(r *Report) { r.Sweep[0].Acquire = &Times{Mean: 1} },
		"sweep[0].acquire.mean_s is -0.001": func(r *Report) { r.Sweep[0].Acquire = &Times{Mean: -0.001, Quantiles: make([]float64, 10)} },
		"sweep[0].release.quantiles_s": func(r *Report) {
			r.Sweep[0].Release = &Times{Mean: 1, Quantiles: []float64{9, 8, 7, 6, 5, 4, 3, 2, 1, 1}}
		},
		"sweep[0]: harness_s_per_pair -0.1": func(r *Report) { r.Sweep[0].Harness = -0.1 },
		"harness_s_per_pair 1e+06":          func(r *Report) { r.Sweep[0].Harness = 1e6 },
	} {
		r := sound()
		change(r)
		if err := r.Sound(1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// However far arrivals outrun the service, it carries no less than at its limit.
func TestAnOverloadServesWhatTheLimitIs(t *testing.T) {
	r := calibratedReport()
	for _, c := range []struct {
		name string
		of   Scenario
	}{
		{"four keys", Scenario{Masters: 5, Keys: 4, Hold: 10 * time.Millisecond}},
		{"many keys", Scenario{Masters: 5, Keys: 1_000_000}},
		{"skewed keys", Scenario{Masters: 5, Keys: 1000, Zipf: 0.99, Hold: 10 * time.Millisecond}},
		{"a hold of a second", Scenario{Masters: 5, Keys: 2, Hold: time.Second}},
	} {
		last := 0.0
		for _, wanted := range []float64{30, 300, 3000, 3e4, 1e6, 1e7} {
			s := c.of
			s.Rate = wanted
			p := predict(t, r, s)
			if p.Rate.Value < 0.97*last || p.Rate.Value == 0 || wanted > 2e5 && !p.Behind {
				t.Errorf("%s: %g/s carried of %g/s, after %g/s; behind: %v", c.name, p.Rate.Value, wanted, last, p.Behind)
			}
			last = max(last, p.Rate.Value)
		}
	}
	if p := predict(t, r, Scenario{Masters: 5, Keys: 4, Hold: 10 * time.Millisecond, Rate: 1e5}); p.Busy[0].Name != "the busiest key" || p.Busy[0].Share < 0.95 {
		t.Errorf("%+v", p.Busy)
	}
}

// Clients obey Little's law, as many as may be asked for: their number is the rate times
// what a round of theirs takes.
func TestManyClientsObeyLittlesLaw(t *testing.T) {
	r := calibratedReport()
	last := 0.0
	for _, clients := range []int{1000, 7500, 20_000, MostClients} {
		s := Scenario{Masters: 5, Clients: clients, Keys: 1, Hold: 20 * time.Millisecond}
		p := predict(t, r, s)
		round := float64(clients) / p.Rate.Value
		if off := p.P50.Value/round - 1; math.Abs(off) > 0.05 {
			t.Errorf("%d clients of one key: p50 %.1f s, and N/X is %.1f s", clients, p.P50.Value, round)
		}
		s = Scenario{Masters: 5, Clients: clients, Keys: 10_000_000}
		if p := predict(t, r, s); p.Rate.Value < 0.97*last || p.Rate.Value > 2*max(last, p.Rate.Value/2) && last > 0 {
			t.Errorf("%d clients of keys of their own: %.0f/s after %.0f/s", clients, p.Rate.Value, last)
		} else {
			last = p.Rate.Value
		}
	}
	m, err := r.Model()
	if err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]Scenario{
		"clients=50001: want up to 50000": {Masters: 5, Clients: MostClients + 1},
		"rate × hold":                     {Masters: 5, Rate: 1000, Hold: time.Hour, Keys: 10_000_000},
	} {
		if err := m.Check(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// One client never waits for a key, however often it has it; two of one key get as much as
// the key can give, and so do many.
func TestOneClientWaitsForNobody(t *testing.T) {
	r := calibratedReport()
	alone := predict(t, r, Scenario{Masters: 5, Clients: 1, Keys: 1, Hold: time.Millisecond})
	if said := strings.Join(alone.Beyond, "; "); strings.Contains(said, "keys in use") {
		t.Errorf("one client: %s", said)
	}
	for _, u := range alone.Busy {
		if u.Name == "the busiest key" && u.Share > alone.Rate.Value*0.0015 {
			t.Errorf("one client: %+v at %.0f/s", u, alone.Rate.Value)
		}
	}
	two, many := predict(t, r, Scenario{Masters: 5, Clients: 2, Keys: 1, Hold: time.Millisecond}), predict(t, r, Scenario{Masters: 5, Clients: 64, Keys: 1, Hold: time.Millisecond})
	if math.Abs(two.Rate.Value/many.Rate.Value-1) > 0.001 || two.Busy[0].Share < 0.999 {
		t.Errorf("2 clients get %.1f/s of one key, 64 get %.1f/s; %+v", two.Rate.Value, many.Rate.Value, two.Busy)
	}
}

// An answer carries what its calibration says against itself, how far the model goes wrong,
// and where it comes from, for people and for programs.
func TestAnswersNameTheirSource(t *testing.T) {
	r := calibratedReport()
	r.Warning, r.Calibration.Errors.Rate = []string{"this machine is too busy"}, Error{N: 5, Median: 0.04, Worst: 0.3, At: "7 masters"}
	p := r.Sourced(predict(t, r, Scenario{Masters: 5, Clients: 4}), "runs/capacity.json")
	var text strings.Builder
	if err := r.Answer(&text, "runs/capacity.json", p); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"this machine is too busy", "(7 masters)", "runs/capacity.json: redlock on 5"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(string(raw), want) {
			t.Errorf("%q is not in\n%s\nor not in %s", want, &text, raw)
		}
	}
}

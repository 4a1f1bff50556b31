package capacity

import (
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
		r.Schema = 1
		return r
	}
	if err := sound().Sound(1); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Report){
		"schema is 99":              func(r *Report) { r.Schema = 99 },
		"at least one master":       func(r *Report) { r.Setup.Masters = 0 },
		"calibration.cpus is -5":    func(r *Report) { r.Calibration.CPUs = -5 },
		"calibration.delays_s":      func(r *Report) { r.Calibration.Delays = nil },
		"sweep[0].acquire.quantile": func(r *Report) { r.Sweep[0].Acquire = &Times{Mean: 1} },
	} {
		r := sound()
		change(r)
		if err := r.Sound(1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

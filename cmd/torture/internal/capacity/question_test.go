package capacity

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"locktorture/reports"
	"locktorture/reports/capacity"
)

func stored() *capacity.Report {
	return &capacity.Report{
		Setup:       capacity.Setup{Masters: 5, Clients: 16, Keys: 64, Hold: 20 * time.Millisecond},
		Calibration: &capacity.Calibration{CPUs: 2},
	}
}

func TestQuestions(t *testing.T) {
	const ms = time.Millisecond
	for q, want := range map[string]capacity.Scenario{
		"nodes=5,rtt=2ms,clients=5000,keys=1e6 zipf 0.99,hold=30ms": {Masters: 5, RTT: []time.Duration{2 * ms}, Clients: 5000, Keys: 1_000_000, Zipf: 0.99, Hold: 30 * ms},
		"rate=900/s":                 {Masters: 5, Rate: 900, Keys: 64, Hold: 20 * ms},
		"rtt=1ms/2ms/3ms, nodes = 3": {Masters: 3, RTT: []time.Duration{ms, 2 * ms, 3 * ms}, Clients: 16, Keys: 64, Hold: 20 * ms},
		"machines=own,hold=0s":       {Masters: 5, Clients: 16, Keys: 64, Own: true, Cores: 2},
	} {
		got, err := WhatIf(q, stored())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", q, got, err)
		}
	}
	w, err := PlanFor("rate=20000/s,acquire.p99<50ms,keys=1e6", stored())
	if want := (capacity.Wish{Rate: 20_000, P99: 50 * ms, Keys: 1_000_000, Hold: 20 * ms}); err != nil || !reflect.DeepEqual(w, want) {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestBadQuestionsNameTheKey(t *testing.T) {
	for q, want := range map[string]string{
		"":                      "want key=value",
		"node=5":                `no key "node"; did you mean "nodes"`,
		"nodes=4":               "nodes=4: want an odd number",
		"rtt=2":                 "rtt=2: want a round trip such as 2ms",
		"rtt=-1ms":              "rtt=-1ms: want",
		"clients=0":             "clients=0: want",
		"keys=1e6 zipf":         "keys=1e6 zipf: want",
		"keys=1e6 zipf NaN":     "want a number up to",
		"keys=1.5":              "keys=1.5: want",
		"rate=500":              "rate=500: want arrivals such as 2000/s",
		"rate=5/s,clients=3":    "exclude each other",
		"hold=1ms,hold=2ms":     "hold is given twice",
		"hold=30":               "hold=30: want a time such as 30ms",
		"rate=1/s,think=1ms":    "a rate has none",
		"machines=many":         "machines=many: want shared",
		"rtt=1ms/1ms/1ms/1ms":   "rtt: 4 round trips, one for every master: want an odd number",
		"clients=50001":         "clients=50001: want how many ask again and again, 1 to 50000",
		"clients=99999999999":   "clients=99999999999: want",
		"clients=5,keys=1e9":    "keys=1e9: want",
		"nodes=5,,clients=1000": "want key=value",
	} {
		if _, err := WhatIf(q, stored()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--what-if") {
			t.Errorf("%q: %v, want %q", q, err, want)
		}
	}
	for q, want := range map[string]string{
		"acquire.p99<50ms":                "want a rate",
		"rate=2000/s,acquire.p98<5ms":     "acquire.p98",
		"rate=2000/s,release.p99<5ms":     "predicts acquire.p99 alone",
		"rate=2000/s,rtt=1ms/2ms":         "rtt: 2 round trips, one for every master: want an odd number",
		"rate=2000/s,clients=5":           `no key "clients"`,
		"rate=2000/s,acquire.p99<=x,hold": "acquire.p99",
	} {
		if _, err := PlanFor(q, stored()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--plan") {
			t.Errorf("%q: %v, want %q", q, err, want)
		}
	}
}

// A calibration that somebody else has written is shown as text, and every line of what is
// wrong with it names the file.
func TestForeignCalibrationsAreReadAsText(t *testing.T) {
	r := stored()
	r.Schema, r.Repeats, r.Began, r.Setup.TTL, r.Setup.Lock = reports.Schema, 1, time.Unix(1, 0), 2*time.Second, "\x1b[31mevil\n<script>"
	file := filepath.Join(t.TempDir(), capacity.JSONFile)
	write := func() {
		var out bytes.Buffer
		if err := errors.Join(r.JSON(&out), os.WriteFile(file, out.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write()
	got, _, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(got.Title(), "\x1b\n") || !strings.Contains(got.Title(), "evil") {
		t.Errorf("%q", got.Title())
	}
	r.Setup.Masters, r.RTT = 2, -1
	write()
	_, _, err = Load(file)
	if err == nil {
		t.Fatal("it is believed")
	}
	for line := range strings.Lines(err.Error()) {
		if !strings.HasPrefix(line, file+": ") {
			t.Errorf("%q does not name its file", line)
		}
	}
}

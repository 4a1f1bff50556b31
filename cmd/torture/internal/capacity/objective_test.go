package capacity

import (
	"strings"
	"testing"
	"time"

	"locktorture/reports/slo"
	"locktorture/workload/load"
)

// hundred is a load of 100 requests, which took 1 to 100 ms.
func hundred() *load.Result {
	r := &load.Result{Window: time.Second, Offered: 100, Pairs: 100, Grants: []int64{100}}
	for i := range 100 {
		d := time.Duration(i+1) * time.Millisecond
		r.Response, r.Service, r.Release, r.Lag = append(r.Response, d), append(r.Service, d), append(r.Release, d), append(r.Lag, d)
	}
	return r
}

func TestObjectivesAreHeldAgainstALoad(t *testing.T) {
	with := func(change func(*load.Result)) *load.Result {
		r := hundred()
		change(r)
		return r
	}
	for _, c := range []struct {
		objective string
		of        *load.Result
		met       bool
		observed  string
	}{
		{objective: "acquire.p99<101ms", of: hundred(), met: true, observed: "99 ms"},
		{objective: "acquire.p99<50ms", of: hundred(), observed: "99 ms"},
		{objective: "service.p50<51ms", of: hundred(), met: true, observed: "50 ms"},
		{objective: "release.max<=100ms", of: hundred(), met: true, observed: "100 ms"},
		{objective: "lag.p50<1ms", of: hundred(), observed: "50 ms"},
		{objective: "served>99%", of: hundred(), met: true, observed: "100 %"},
		{objective: "error<1%", of: hundred(), met: true, observed: "0 %"},
		{objective: "grants/s>99", of: hundred(), met: true, observed: "100"},
		{objective: "longest_wait<100ms", of: hundred(), observed: "100 ms"},
		{objective: "jain>0.9", of: hundred(), met: true, observed: "1"},
		{objective: "acquire.p99<101ms", of: with(func(r *load.Result) { r.Dropped, r.Offered = 5, 105 }), observed: "> "},
		{objective: "served>99%", of: with(func(r *load.Result) { r.Dropped, r.Offered = 5, 105 }), observed: "95.2 %"},
		{objective: "served>99%", of: with(func(r *load.Result) { r.Refused = 10 }), observed: "90 %"},
		{objective: "acquire.p99<101ms", of: with(func(r *load.Result) { r.CutOff = 10 }), observed: "> "},
		{objective: "acquire.p99<101ms", of: with(func(r *load.Result) { r.CutOff, r.Pending = 10, 10 }), met: true, observed: "99 ms"},
	} {
		o, err := slo.Parse(c.objective)
		if err != nil {
			t.Fatal(err)
		}
		if err := measurable([]slo.Objective{o}); err != nil {
			t.Errorf("%s is refused: %v", c.objective, err)
		}
		r := o.Evaluate(measured(c.of))
		if r.OK != c.met || !strings.HasPrefix(strings.ReplaceAll(r.Observed, "\u202f", " "), c.observed) {
			t.Errorf("%s: met %v, observed %q; want %v, %q", c.objective, r.OK, r.Observed, c.met, c.observed)
		}
	}
}

func TestObjectivesThatNoLoadMeasuresAreRefused(t *testing.T) {
	for _, objective := range []string{"recovery<1s", "gap<1s", "write.p99<1s", "acquire.faulted.p99<1s", "unknown<1%"} {
		o, err := slo.Parse(objective)
		if err != nil {
			t.Fatal(err)
		}
		if err := measurable([]slo.Objective{o}); err == nil || !strings.Contains(err.Error(), "--slo \""+o.String()) {
			t.Errorf("%s: %v", objective, err)
		}
	}
}

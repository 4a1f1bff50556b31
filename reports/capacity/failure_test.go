package capacity

import (
	"strings"
	"testing"
	"time"

	"locktorture/reports/stats"
)

// failed is a failure in which every tenth request waited for the outage.
func failed(masters int) *Failure {
	var before, during []time.Duration
	for i := range 2000 {
		d := time.Millisecond + time.Duration(i)*time.Microsecond
		before = append(before, d)
		if i%10 == 0 {
			d = 2*time.Second - time.Duration(i)*time.Millisecond/2
		}
		during = append(during, d)
	}
	return &Failure{
		Masters: masters, Outage: 2 * time.Second, Times: 3, Rate: 759, Requests: 2000, Late: 200,
		Before: stats.QuantilesOfAll(before), During: stats.QuantilesOfAll(during), BeforeShares: Shares(before), DuringShares: Shares(during),
	}
}

// A distribution agrees with the quantiles that the text gives, and ends with the longest.
func TestSharesAreTheQuantiles(t *testing.T) {
	f := failed(1)
	last := Share{}
	for _, s := range f.DuringShares {
		if s.Share < last.Share || s.Within < last.Within {
			t.Errorf("%v after %v", s, last)
		}
		last = s
	}
	if last != (Share{1, f.During.Max}) {
		t.Errorf("it ends with %v, and the longest is %v", last, f.During.Max)
	}
	at := map[float64]time.Duration{}
	for _, s := range f.DuringShares {
		at[float64(int(1000*s.Share+0.5))/1000] = s.Within
	}
	if at[0.9] != f.During.P90 || at[0.99] != f.During.P99 {
		t.Errorf("p90 %v, want %v; p99 %v, want %v", at[0.9], f.During.P90, at[0.99], f.During.P99)
	}
	if s := Shares(nil); s != nil {
		t.Errorf("of nothing: %v", s)
	}
	if s := Shares([]time.Duration{5}); len(s) != 2 || s[1] != (Share{1, 5}) {
		t.Errorf("of one: %v", s)
	}
}

// The figure has a line for each failure; without one there is none.
func TestFailuresAreDrawnAsDistributions(t *testing.T) {
	r := planned()
	if f := r.failureFigure(); f != nil {
		t.Errorf("nothing failed, and %q is drawn", f.Alt)
	}
	r.LostMaster, r.Recovery.Felt = failed(1), failed(3)
	f := r.failureFigure()
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one master silent for 2 s: 2 000 requests due in 3 outages, 10 % beyond the objective", "3 masters silent", "no interval", "99 %"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("%q is not in the figure", want)
		}
	}
}

// An error names its point, and of an overload says how it comes about.
func TestTheWorstErrorNamesItsPointAndCause(t *testing.T) {
	over := Scenario{Masters: 5, Rate: 2500}
	points := []HeldOut{
		{Name: "a loop", Measured: Figures{Rate: Mean([]float64{1000, 1001}), P99: Mean([]float64{0.1, 0.1})}, Predicted: Figures{Rate: Estimate{Value: 1050}, P99: Estimate{Value: 0.11}}},
		{Name: "open loop of 2 500/s", Scenario: over, Measured: Figures{Rate: Mean([]float64{2000, 2001}), P99: Mean([]float64{1, 1.01})}, Predicted: Figures{Rate: Estimate{Value: 2150}, P99: Estimate{Value: 0.7}}},
	}
	e := Errors{P99: errorOf(points, p99Of), Rate: errorOf(points, rateOf)}
	if e.P99.At != "open loop of 2 500/s" || !strings.Contains(e.P99.words(), "(open loop of 2 500/s)") {
		t.Errorf("%+v: %s", e.P99, e.P99.words())
	}
	why := strings.Join(e.causes(), "\n")
	for _, want := range []string{"p99", "backlog", "500/s measured, 350/s predicted (-30 %)"} {
		if !strings.Contains(why, want) {
			t.Errorf("%q is not in %q", want, why)
		}
	}
	if n := len(e.causes()); n != 1 {
		t.Errorf("%d causes for one point: %s", n, why)
	}
	if e := errorOf(points[:1], p99Of); e.At != "a loop" || e.Why != "" {
		t.Errorf("%+v", e)
	}
}

// What a million keys take is extrapolated from those that were held, and says how far.
func TestMemoryNamesItsBasis(t *testing.T) {
	key := Mean([]float64{213, 214, 212})
	for _, c := range []struct {
		cost Cost
		want []string
	}{
		{Cost{Commands: key, Key: key, Keys: 5000}, []string{"of 5 000 held at once", " (n = 3) for 1 M keys on each master, extrapolated 200-fold from 5 000"}},
		{Cost{Commands: key, Key: suppressed("nobody held any"), Keys: 5000}, []string{"of a held key: suppressed"}},
	} {
		text := ""
		for _, l := range c.cost.lines(5) {
			text += l.Text + "\n"
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %s", want, text)
			}
		}
	}
}

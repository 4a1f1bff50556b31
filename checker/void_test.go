package checker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker/anomaly"
	"locktorture/workload/history"
)

// TestVoid judges a double grant of a harness that lagged. Where the history tells
// when, only what lies across those intervals is excused; a lag that it does
// not explain, and standing still for most of the run, leave nothing to judge.
func TestVoid(t *testing.T) {
	const overlap = `
		  0ms a invoke acquire k
		  1ms a ok acquire k until 100ms
		  2ms b invoke acquire k
		  3ms b ok acquire k until 102ms`
	for _, c := range []struct {
		name, then string
		want       Verdict
		why        string // of V4
	}{
		{"no lag", "", Fail, ""},
		{"a lag at unknown times", "\n500ms nemesis ok phase final lag 11ms", Inconclusive, "does not tell when"},
		{"a lag of which the history tells when", "\n490ms nemesis ok stall began 300ms ended 400ms\n500ms nemesis ok phase final lag 90ms", Fail, ""},
		{"a lag that is no matter of the stalls told", "\n490ms nemesis ok stall began 300ms ended 309ms\n500ms nemesis ok phase final lag 90ms", Inconclusive, "does not tell when"},
		{"stalls for half of the run", "\n490ms nemesis ok stall began 200ms ended 449ms\n500ms nemesis ok phase final lag 11ms", Fail, ""},
		{"stalls for most of the run, by threads that the rest did not wait for", "\n490ms nemesis ok stall began 200ms ended 452ms\n500ms nemesis ok phase final lag 10ms", Fail, ""},
		{"stalls for most of the run", "\n490ms nemesis ok stall began 200ms ended 452ms\n500ms nemesis ok phase final lag 11ms", Inconclusive, "stood still for 252ms of"},
	} {
		r := judge(t, "ttl 100ms", overlap+c.then)
		if r.Verdict != c.want {
			t.Errorf("%s: %s %v, want %s", c.name, r.Verdict, r.Inconclusive, c.want)
		}
		lagged := slices.IndexFunc(r.Inconclusive, func(f Finding) bool { return f.ID == "V4" })
		if (lagged >= 0) != (c.why != "") || lagged >= 0 && !strings.Contains(r.Inconclusive[lagged].Text, c.why) {
			t.Errorf("%s: %v, want %q", c.name, r.Inconclusive, c.why)
		}
		if void := len(r.Void) == 1 && slices.Contains(r.Void[0].IDs, "S1"); void != (c.why != "") {
			t.Errorf("%s: void are %v", c.name, r.Void)
		}
	}
}

// TestBusyRunPasses has a lag that the history tells the times of, and no finding:
// that run is judged.
func TestBusyRunPasses(t *testing.T) {
	r := judge(t, "ttl 100ms", oneGrant+`
		490ms nemesis ok stall began 300ms ended 400ms
		500ms nemesis ok phase final lag 90ms`)
	if r.Verdict != Pass || len(r.Void) > 0 {
		t.Errorf("%s %v, void %v", r.Verdict, r.Inconclusive, r.Void)
	}
}

// TestHarmVoidsLiveness: after harm nobody says that liveness is well, nor that
// anything else is not.
func TestHarmVoidsLiveness(t *testing.T) {
	r := judge(t, "ttl 100ms", oneGrant+`
		500ms nemesis ok phase final note "harness: n1 was killed"`)
	if len(r.Void) != 1 || !slices.Equal(r.Void[0].IDs, anomaly.With(anomaly.NeedsHealth)) || !strings.Contains(r.Void[0].Why, "came to harm at 0.500000 s") {
		t.Errorf("%s, void %v", r.Verdict, r.Void)
	}
}

// TestWideClocksVoidTheirPairs: of a host whose clock is known to no more than a tenth of
// the TTL it is said that nothing of it was compared by time with others; the run's own
// verdict does not hang on that.
func TestWideClocksVoidTheirPairs(t *testing.T) {
	const handover = `
		 0ms a invoke acquire k host A
		 1ms a ok acquire k until 90ms
		 2ms a invoke release k host A
		 3ms a ok release k
		40ms b invoke acquire k host B
		50ms b ok acquire k until 130ms`
	for _, c := range []struct {
		wide time.Duration // bound of A's clock
		want bool          // voided
	}{
		{11 * time.Millisecond, true},
		{10 * time.Millisecond, false},
		{time.Second, true},
	} {
		h, err := history.Parse("header ttl 100ms lock x nodes 1" + handover)
		if err != nil {
			t.Fatal(err)
		}
		h.Header.Hosts = map[string]history.Host{"A": {Epsilon: c.wide}, "B": {}}
		j := New(h.Header, Options{})
		for i := range h.Events {
			j.Event(&h.Events[i])
		}
		r := j.Finish(t.Context(), false)
		void := len(r.Void) == 1 && slices.Contains(r.Void[0].IDs, "S1") && !slices.Contains(r.Void[0].IDs, "S2") && strings.Contains(r.Void[0].Why, "host A")
		if void != c.want {
			t.Errorf("±%v: void are %v", c.wide, r.Void)
		}
		if r.Verdict != Inconclusive || len(r.Inconclusive) != 1 || r.Inconclusive[0].ID != "V5" { // the history breaks off
			t.Errorf("±%v: %s %v", c.wide, r.Verdict, r.Inconclusive)
		}
	}
}

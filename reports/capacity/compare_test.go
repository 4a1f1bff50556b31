package capacity

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	at := func(v float64) *Report {
		r := planned()
		r.Recommended = Estimate{Value: v, Low: v * 0.97, High: v * 1.03, Confidence: 0.95, N: 5}
		return r
	}
	guard, err := ParseGuard("recommended -10%")
	if err != nil {
		t.Fatal(err)
	}
	if c := Compare(at(1000), at(945), []Guard{{"recommended", -0.05}}); len(c.Failed) != 1 || !strings.Contains(c.Failed[0], "the intervals overlap: it may be chance") {
		t.Errorf("a change within the intervals: %q", c.Failed)
	}
	for after, failed := range map[float64]bool{1000: false, 920: false, 890: true, 1500: false} {
		c := Compare(at(1000), at(after), []Guard{guard})
		if (len(c.Failed) > 0) != failed || len(c.Unknown) > 0 {
			t.Errorf("1,000/s and then %g/s: %+v", after, c)
		}
	}
	lost := at(1000)
	lost.Recommended = suppressed("nothing was measured")
	if c := Compare(at(1000), lost, []Guard{guard}); len(c.Unknown) != 1 {
		t.Errorf("a figure that is not there: %+v", c)
	}
	other := at(800)
	other.Setup.Keys = 8
	if all := told(Compare(at(1000), other, nil)); !strings.Contains(all, "not the same load: keys 64 against 8") || !strings.Contains(all, "-20 %, the intervals are apart") {
		t.Errorf("%s", all)
	}
}

func told(c Comparison) string {
	var out strings.Builder
	_ = c.Text(&out) // a builder takes everything
	return out.String()
}

func TestBadGuardsAreNamed(t *testing.T) {
	for _, bad := range []string{"", "recommended", "speed -10%", "recommended 10%", "recommended -10", "recommended -x%", "recommended -0%", "recommended -NaN%", "recommended -1%  x"} {
		if g, err := ParseGuard(bad); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%q: %+v, %v", bad, g, err)
		}
	}
}

// A guard says nothing of two loads that are not the same.
func TestGuardsWantTheSameLoad(t *testing.T) {
	before, after := planned(), planned()
	guards := []Guard{{Figure: "recommended", Change: -0.1}}
	if c := Compare(before, after, guards); len(c.Unknown) > 0 || len(c.Failed) > 0 {
		t.Fatalf("of the same: %+v", c)
	}
	after.Redis = "another version"
	if c := Compare(before, after, guards); len(c.Unknown) > 0 {
		t.Errorf("servers of another version: %+v", c)
	}
	after.Setup.Hold *= 2
	after.Recommended = before.Recommended.Times(0.5)
	if c := Compare(before, after, guards); len(c.Unknown) != 1 || len(c.Failed) > 0 {
		t.Errorf("another hold: %+v", c)
	}
}

// A change of just what is too much is too much, whatever floating point makes of it, and
// what a measurement says against itself stands before its figures.
func TestGuardsHoldAtTheirEdge(t *testing.T) {
	of := func(v float64) *Report {
		return &Report{Recommended: Estimate{Value: v, Low: v - 1, High: v + 1, Confidence: 0.95, N: 5}, Warning: []string{"this machine is too busy"}}
	}
	for _, c := range []struct {
		after, change float64
		fails         bool
	}{{900, -0.1, true}, {901, -0.1, false}, {1100, 0.1, true}, {1099, 0.1, false}, {700, -0.3, true}} {
		got := Compare(of(1000), of(c.after), []Guard{{"recommended", c.change}})
		if (len(got.Failed) > 0) != c.fails {
			t.Errorf("1000 → %v by %v: %q", c.after, c.change, got.Failed)
		}
		other := of(c.after)
		other.Warning = []string{"the budget left no time"}
		apart := Compare(of(1000), other, nil).Cautions
		if !strings.HasPrefix(got.Cautions[0], "warning of both: this machine") || !strings.HasPrefix(apart[0], "warning of the first: this machine") || !strings.HasPrefix(apart[1], "warning of the second: the budget") {
			t.Errorf("%q", got.Cautions)
		}
	}
}

// The page says in its first sentence what came out.
func TestComparePageBeginsWithTheOutcome(t *testing.T) {
	of := func(v float64) *Report {
		return &Report{Recommended: Estimate{Value: v, Low: v * 0.99, High: v * 1.01, Confidence: 0.95, N: 5}}
	}
	guard := []Guard{{"recommended", -0.1}}
	for want, c := range map[string]Comparison{
		"Too much has changed: recommended changed by -20":                    Compare(of(1000), of(800), guard),
		"Not known whether too much has changed: recommended: one of the two": Compare(of(1000), &Report{}, guard),
		"The two differ by more than their intervals in 1 of 1 figure":        Compare(of(1000), of(950), guard),
		"No difference is shown: the intervals overlap in 1 of 1 figure":      Compare(of(1000), of(1001), guard),
		"Nothing to compare: no figure is known of both":                      Compare(&Report{}, &Report{}, nil),
	} {
		if got := c.headline(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

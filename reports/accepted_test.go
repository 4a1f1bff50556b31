package reports

import (
	"strings"
	"testing"

	"locktorture/checker"
	"locktorture/reports/internal/sample"
)

// accepted is a run of which every violation is accepted.
func accepted(t *testing.T) *Run {
	t.Helper()
	h := sample.History(sample.Failing)
	h.Header.Accepted = []string{"S1", "S3z"}
	r := &Run{Dir: t.TempDir(), Report: sample.Report(h), Meta: Meta{Scenario: "standard", Lock: "mine"}}
	for i := range r.Report.Violations {
		r.Report.Violations[i].Accepted = true
	}
	r.Report.Verdict, r.Report.Inconclusive = checker.Pass, nil
	if err := r.Measure(&sample.Source{History: h}); err != nil {
		t.Fatal(err)
	}
	return r
}

// What was accepted stands in every artefact, and nowhere as a failure.
func TestAcceptedIsNeverSilent(t *testing.T) {
	r := accepted(t)
	const want = "accepted: S1 ×1"
	if got := r.Qualified(); got != ", "+want {
		t.Fatalf("%q, want %q", got, ", "+want)
	}
	if got := r.Headline(); !strings.HasPrefix(got, "no other violation in ") {
		t.Errorf("headline %q", got)
	}
	page, err := r.page(nil)
	if err != nil {
		t.Fatal(err)
	}
	junit := string(r.junit())
	text, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ in, want string }{
		"summary": {r.Summary(), "VERDICT PASS, " + want}, "page": {string(page), "VERDICT PASS, " + want},
		"junit": {junit, `<property name="accepted" value="S1 ×1">`}, "results": {string(text), `"S1 ×1"`},
	} {
		if !strings.Contains(c.in, c.want) {
			t.Errorf("%s does not say %q", name, c.want)
		}
	}
	if strings.Contains(junit, "<failure") || len(r.Annotations()) > 0 {
		t.Errorf("accepted and a failure: %v %s", r.Annotations(), junit)
	}
}

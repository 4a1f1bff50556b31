package terminal

import (
	"bytes"
	"strings"
	"testing"

	"locktorture/checker"
	"locktorture/reports/internal/sample"
)

// What was seen and accepted ends the last line, and follows the verdict's name in the
// first, quiet or not; what was accepted beside a violation that was not does so too.
func TestAcceptedInTheVerdictLine(t *testing.T) {
	for name, c := range map[string]struct {
		accepted []string
		verdict  checker.Verdict
		missed   bool // an objective
		first    string
		last     string
	}{
		"all of it": {[]string{"S1", "S3z"}, checker.Pass, false, "VERDICT PASS, accepted: S1 ×1  S3z ×5  no other violation", "VERDICT PASS exit 0, accepted: S1 ×1  S3z ×5"},
		"an objective missed": {
			[]string{"S1", "S3z"}, checker.Pass, true,
			"VERDICT SLO BREACH, accepted: S1 ×1  S3z ×5  1 objective missed; no other violation", "VERDICT SLO BREACH exit 4, accepted: S1 ×1  S3z ×5",
		},
		"not enough seen": {
			[]string{"S1", "S3z"}, checker.Inconclusive, false,
			"VERDICT INCONCLUSIVE, accepted: S1 ×1  S3z ×5  nothing else wrong was seen", "VERDICT INCONCLUSIVE exit 3, accepted: S1 ×1  S3z ×5",
		},
		"one of two": {[]string{"S3z"}, checker.Fail, false, "VERDICT FAIL, accepted: S3z ×5  ", "VERDICT FAIL exit 1, accepted: S3z ×5"},
		"nothing":    {nil, checker.Fail, false, "VERDICT FAIL  ", "VERDICT FAIL exit 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, sample.Failing)
			r.Report.Violations = []checker.Finding{r.Report.Violations[0], {ID: "S3z", Name: "zombie effect"}}
			r.Report.Violations[0].ID = "S1"
			r.Report.Totals = map[string]int{"S1": 1, "S3z": 5}
			for i, f := range r.Report.Violations {
				for _, id := range c.accepted {
					r.Report.Violations[i].Accepted = r.Report.Violations[i].Accepted || f.ID == id
				}
			}
			r.Report.Verdict, r.Report.Inconclusive = c.verdict, nil
			if !c.missed {
				r.SLOs = nil
			}
			for _, quiet := range []bool{false, true} {
				var out bytes.Buffer
				if err := Verdict(&out, Options{Quiet: quiet}, r); err != nil {
					t.Fatal(err)
				}
				lines := strings.Split(strings.TrimSpace(out.String()), "\n")
				if got := lines[len(lines)-1]; got != c.last {
					t.Errorf("last line %q, want %q", got, c.last)
				}
				if got := lines[0]; !strings.HasPrefix(got, c.first) && !(quiet && len(lines) == 1) {
					t.Errorf("first line %q, want %q", got, c.first)
				}
			}
		})
	}
}

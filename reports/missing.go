package reports

import (
	"fmt"
	"strings"

	"locktorture/checker"
	"locktorture/checker/anomaly"
	"locktorture/reports/story"
	"locktorture/reports/unit"
)

// Missing lists what keeps the run from being conclusive: the checker's
// reasons, expected violations that did not appear, an interruption.
func (r *Run) Missing() []checker.Finding {
	out := append([]checker.Finding(nil), r.Report.Inconclusive...)
	for _, id := range r.Report.ExpectedMissing {
		out = append(out, checker.Finding{ID: id, Text: "the scenario means to see " + id + ", and did not"})
	}
	if r.Canary != nil && !r.Canary.Caught && !has(out, "V6") {
		out = append(out, checker.Finding{ID: "V6", Text: "the canary, " + r.Canary.Mutant + ", was not caught"})
	}
	if r.Interrupted {
		out = append(out, checker.Finding{ID: "V5", Text: "the run was interrupted"})
	}
	return out
}

func has(all []checker.Finding, id string) bool {
	for _, f := range all {
		if f.ID == id {
			return true
		}
	}
	return false
}

// Advice says what to change when the finding keeps a run from being
// conclusive; empty when nothing general can be said, and for a run that came to
// harm, of which more would not help.
func (r *Run) Advice(f checker.Finding) string {
	if len(r.Troubles()) > 0 {
		return ""
	}
	a, _ := anomaly.Find(f.ID)
	return a.Advice
}

// StoryText is a story as lines of text, each after the indent.
func StoryText(s story.Story, indent string) string {
	width := 0
	for _, step := range s.Steps {
		width = max(width, len(step.Who))
	}
	var b strings.Builder
	for _, step := range s.Steps {
		fmt.Fprintf(&b, "%s%d  %8s  %-*s  %s  (history %d)\n", indent, step.N, unit.Seconds(step.Time), width, step.Who, step.Text, step.Index)
	}
	return b.String()
}

package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/checker/anomaly"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// A mishap is damage to the run that is not the lock's fault: the death of a server that the
// nemesis did not cause, or a full disk. Findings from then on may be due to it.
type mishap struct {
	from time.Duration
	idx  int
	text string
}

// mishap notes damage to the run, from the time on that e gives.
func (j *Judge) mishap(e *history.Event, text string) {
	from := e.Time
	if e.HasAll(history.HasBegan) {
		from = min(from, e.Began)
	}
	j.mishaps = append(j.mishaps, mishap{from: from, idx: e.Index, text: strings.Clone(text)})
}

// brokeDown notes that the lock under test panicked, or that its process ended
// by itself (P1): a user's program would have gone down with it.
func (j *Judge) brokeDown(e *history.Event, text string) {
	text = fmt.Sprintf("At %s the lock broke down: %s. A program that uses it would have gone down with it, holding what it held.", words.At(e.Time), strings.TrimSuffix(text, "."))
	j.panics = append(j.panics, Finding{ID: "P1", Name: anomaly.Name("P1"), Witness: []int{e.Index}, Blame: rule.BlamePanic, Text: text})
}

// befell says why h proves nothing about the lock: it was found after a mishap; "" when it was
// proved before.
func (j *Judge) befell(h *rule.Candidate) string {
	first, harmed := j.harmed()
	if !harmed || h.To < first {
		return ""
	}
	return fmt.Sprintf(" This was found when the run itself had come to harm, at %s, and proves nothing.", words.At(first))
}

// harm lists the mishaps of the run, in order.
func (j *Judge) harm() (all []Finding) {
	slices.SortStableFunc(j.mishaps, func(a, b mishap) int { return cmp.Compare(a.from, b.from) })
	for _, m := range j.mishaps {
		all = append(all, Finding{ID: "H1", Name: anomaly.Name("H1"), Witness: []int{m.idx}, Text: m.text})
	}
	return all
}

// Crashed adds how a run ended that its history cannot tell of: by a panic that
// took the whole harness down, the lock's own (P1) or ours.
func (r *Report) Crashed(text string, lock bool) {
	if lock {
		r.Violations = append(r.Violations, Finding{ID: "P1", Name: anomaly.Name("P1"), Blame: rule.BlamePanic,
			Text: "The lock broke down and took the whole program with it: " + text + "."})
		r.Verdict = Worse(r.Verdict, Fail)
	} else {
		r.Harness = append(r.Harness, Finding{ID: "H1", Name: anomaly.Name("H1"), Text: "the harness crashed: " + text})
		r.Verdict = Worse(r.Verdict, HarnessError)
	}
	r.Exit = r.Verdict.Exit()
}

package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"locktorture/checker/anomaly"
	"locktorture/checker/internal/rule"
	"locktorture/workload/history/coverage"
)

// Finish ends the judging. truncated says that the history broke off. The
// context bounds what may take long, the second opinion and checkers of the
// user's own; a verdict without the former is no weaker, and the report says how
// far it got.
func (j *Judge) Finish(ctx context.Context, truncated bool) Report {
	if j.o.Patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, j.o.Patience)
		defer cancel()
	}
	j.env.Truncated = truncated || !j.env.Ended
	j.guardedClose()
	j.env.FinishRules()
	left := j.env.Violations.Retract(j.env.Proved, &j.env.Suspicious)
	_ = j.withdraw(j.befell) // a harness error decides nothing more
	left = append(left, j.withdraw(j.undecided)...)
	if j.covered != nil {
		j.ev.Cells = coverage.Met(j.covered.Cells())
	}
	r := Report{
		Schema: 1, Evidence: j.ev.Evidence, Checked: Checked{Events: j.env.Seen},
		Violations: findings(&j.env.Violations, &j.env.Nemesis, true), Suspicious: findings(&j.env.Suspicious, &j.env.Nemesis, false),
		ExpectedMissing: []string{}, Breaches: named(j.service.Breaches.Remarks()),
	}
	r.Violations = append(r.Violations, j.panics...)
	slices.SortStableFunc(r.Violations, compareFindings)
	r.Harness = j.harm()
	j.publish()
	r.Inconclusive = j.inconclusive(truncated || !j.env.Ended, left)
	j.void(&r)
	if j.o.OurStore {
		r.disown()
	}
	j.askOwn(ctx, &r)
	j.expected(&r)
	j.overflow(&r)
	if j.fences != nil {
		r.Counterfactual = &j.fences.Out
	}
	if j.second != nil {
		o, disagreements, views := j.second.Ask(ctx)
		r.SecondOpinion, r.Views = &o, views
		r.Harness = append(r.Harness, named(disagreements)...)
	}
	j.decide(&r)
	j.unsaid(&r)
	return r
}

// guardedClose closes what is open, unless the ledger is broken.
func (j *Judge) guardedClose() {
	if j.broken != nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			j.broken = &rule.Crash{Cause: r, Events: j.env.Seen}
		}
	}()
	j.env.Close()
}

// inconclusive lists what keeps a pass from being one. left are the ids of which some cases
// were found, not kept, and so not looked at again.
func (j *Judge) inconclusive(truncated bool, left []string) []Finding {
	out := j.ev.short()
	out = append(out, unproved(&j.env.Nemesis)...)
	out = append(out, j.phases.gaps()...)
	if j.gaveUp {
		out = append(out, unjudged(j.gaveUpText()))
	} else if truncated {
		out = append(out, unjudged("The history breaks off before its end: what is there was judged, and operations still open count as unknown."))
	}
	for _, id := range left {
		if !j.counts(id) {
			continue
		}
		out = append(out, unjudged(fmt.Sprintf("Of the cases of %s only the first %d were kept, and the rest of the history refuted one of them or more, or the harness stood still. Whether the others stand is not decided.", id, j.o.Limit)))
	}
	for _, r := range j.env.Rules {
		if !slices.ContainsFunc(r.IDs(), j.counts) {
			continue
		}
		if r, limited := r.(rule.Limited); limited && r.Unplaced() != "" {
			out = append(out, unjudged(r.Unplaced()))
		}
	}
	for _, c := range j.env.Crashed {
		out = append(out, unjudged(fmt.Sprintf("The checker of %s broke down after %d of %d events (%v): what it decides is not decided.",
			strings.Join(c.Ids, ", "), c.Events, j.env.Seen, c.Cause)))
	}
	if c := j.broken; c != nil {
		out = append(out, unjudged(fmt.Sprintf("Judging broke down after %d of %d events (%v): only what came before is judged.", c.Events, j.env.Seen, c.Cause)))
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(a.ID, b.ID) })
	if out == nil {
		out = []Finding{}
	}
	return out
}

// counts reports whether findings of id are not accepted in this history: of the others it makes no
// difference whether there are more.
func (j *Judge) counts(id string) bool { return !slices.Contains(j.env.Header.Accepted, id) }

func unjudged(text string) Finding { return Finding{ID: "V5", Name: anomaly.Name("V5"), Text: text} }

// expected marks the findings that the scenario accepts and those that it means to see, and
// lists the latter that were missed. A double grant that an expected early takeover explains is
// expected too.
func (j *Judge) expected(r *Report) {
	seen := make(map[string]bool)
	explained := make(map[string]bool)
	for _, f := range r.Violations {
		seen[f.ID] = true
		if f.ID == "S10" {
			explained[fmt.Sprint(f.Key, f.Owners)] = true
		}
	}
	for i := range r.Violations {
		f := &r.Violations[i]
		f.Accepted = !j.counts(f.ID)
		f.Expected = slices.Contains(j.env.Header.Expected, f.ID) ||
			f.ID == "S1" && slices.Contains(j.env.Header.Expected, "S10") && explained[fmt.Sprint(f.Key, f.Owners)]
	}
	for _, id := range j.env.Header.Expected {
		if !seen[id] && !slices.Contains(r.ExpectedMissing, id) {
			r.ExpectedMissing = append(r.ExpectedMissing, id)
		}
	}
}

// overflow returns the numbers of findings by id where not all are listed.
func (j *Judge) overflow(r *Report) {
	totals := make(map[string]int)
	j.env.Violations.Overflow(totals)
	if len(totals) > 0 {
		r.Totals = totals
	}
	rest := make(map[string]int)
	j.env.Suspicious.Overflow(rest)
	for i, f := range slices.Backward(r.Suspicious) {
		if n := rest[f.ID]; n > 0 {
			r.Suspicious[i].Text += fmt.Sprintf(" There were %d such cases.", n)
			delete(rest, f.ID)
		}
	}
	if n := j.ev.stands; n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("The lock promised no deadline for %d of %d grants; TTL less drift, from the invocation, stands in.", n, j.ev.Grants))
	}
}

// decide draws the verdict.
func (j *Judge) decide(r *Report) {
	r.Verdict = Pass
	if len(r.Breaches) > 0 {
		r.Verdict = Worse(r.Verdict, SLOBreach)
	}
	if len(r.Harness) > 0 {
		r.Verdict = Worse(r.Verdict, HarnessError)
	}
	if len(r.Inconclusive) > 0 || len(r.ExpectedMissing) > 0 {
		r.Verdict = Worse(r.Verdict, Inconclusive)
	}
	for _, f := range r.Violations {
		if !f.Expected && !f.Accepted {
			r.Verdict = Worse(r.Verdict, Fail)
		}
	}
	r.Exit = r.Verdict.Exit()
}

// disown turns findings about the store's books into harness errors: in a run of ours the store
// is our own.
func (r *Report) disown() {
	r.Violations = slices.DeleteFunc(r.Violations, func(f Finding) bool {
		ours := anomaly.Has(f.ID, anomaly.Bookkeeping)
		if ours {
			r.Harness = append(r.Harness, f)
		}
		return ours
	})
}

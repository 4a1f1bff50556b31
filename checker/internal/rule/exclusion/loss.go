package exclusion

import (
	"fmt"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// Losses decides S11 and L5: a loss is reported when there is one, and not
// long after.
type Losses struct{ *rule.Env }

func (*Losses) IDs() []string            { return []string{"S11", "L5"} }
func (*Losses) Remembers() ledger.Memory { return ledger.Crossings }

func (*Losses) Wants() []ledger.Kind { return []ledger.Kind{ledger.Lost} }
func (*Losses) Finish()              {}

func (l *Losses) Observe(f *ledger.Fact) {
	g := f.Grant
	if g.ReleasedAt != ledger.Never {
		return
	}
	if by := g.Intruders(); len(by) > 0 && by[0].OK-l.From(by[0], l.By(f.Event)) <= ledger.ReportedAt(f.Event) {
		l.late(f, by[0])
		return
	}
	if !l.Phased || l.Nemesis.MayBeSince(g.Start) {
		return // nobody says that nothing was wrong
	}
	switch t := ledger.ReportedAt(f.Event); {
	case t < g.Deadline:
		l.causeless(f, fmt.Sprintf("%s before the lease could run out", words.Span(g.Deadline-t)))
	case g.Renewed:
		l.causeless(f, "after its automatic renewal had stopped")
	}
}

// late judges a report that came after another's grant.
func (l *Losses) late(f *ledger.Fact, x *ledger.Grant) {
	g, told := f.Grant, ledger.ReportedAt(f.Event)
	declared, documented := l.Header.Bounds[history.BoundLoss]
	bound := time.Duration(declared)
	eps := l.Clocks.Apart(x.By(), l.By(f.Event))
	if told-x.OK-eps <= bound || !documented && l.Suspicious.Full("S11") {
		return
	}
	promise := "The library documents no bound for that."
	if documented {
		promise = fmt.Sprintf("The library promises it within %s.", words.Span(bound))
	}
	text := fmt.Sprintf("%s held %s%s from %s. %s was granted it at %s, so it was gone for %s by then; the library said so only at %s, %s later. %s",
		g.Owner(), f.Key.Name, words.Token(g.Fence), words.At(g.OK), x.Owner(), words.At(x.OK), g.Owner(), words.At(told), words.Span(told-x.OK), promise)
	h := &rule.Candidate{
		ID: "S11", Key: f.Key, Owners: words.Owners(g.Owner(), x.Owner()), Witness: []int{g.OKIdx, x.OKIdx, f.Event.Index}, Blame: rule.BlameLibrary,
		From: g.Inv, To: f.Event.Time, Text: func() string { return text },
	}
	g.Pin()
	h.Refuted = func() bool { return g.ReleasedAt <= told } // as the history told late
	h.Stamp = rule.Stamped(x.OK, told, told-x.OK-bound-eps, f.Event.HasAll(history.HasBegan), false)
	if documented && !l.MayBeStopped(g.Owner(), x.OK, told) { // a client that stands still can be told nothing
		l.Violate(h)
	} else {
		l.Suspect(h)
	}
}

func (l *Losses) causeless(f *ledger.Fact, when string) {
	g, told := f.Grant, ledger.ReportedAt(f.Event)
	g.Pin()
	text := fmt.Sprintf("%s was told at %s that its lease on %s%s was lost, %s, although no fault had been in force since %s and nobody else was granted it.",
		g.Owner(), words.At(told), f.Key.Name, words.Token(g.Fence), when, words.At(g.Start))
	l.Violate(&rule.Candidate{
		ID: "L5", Key: f.Key, Owners: []string{g.Owner()}, Witness: []int{g.DeadlineIdx, f.Event.Index}, Blame: rule.BlameLibrary,
		From: g.Start, To: f.Event.Time, Text: func() string { return text },
		Refuted: func() bool { return g.ReleasedAt <= told }, // as the history told late
	})
}

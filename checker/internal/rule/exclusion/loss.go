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
type Losses struct {
	*rule.Env
	Lifetimes *rule.Lifetimes
	stopped   []stoppedLease // whose renewal had stopped, the first few
}

// A stoppedLease is one that was renewed automatically, and whose loss was reported when it ended.
type stoppedLease struct {
	*rule.Candidate
	lived time.Duration // from its grant to its deadline
}

const (
	mostStopped = 64 // leases that are remembered until it is known whether the lock keeps to a maximum
	endShare    = 10 // part of a TTL before a lease's end from which on a report counts as made at its end
)

func (*Losses) IDs() []string            { return []string{"S11", "L5"} }
func (*Losses) Remembers() ledger.Memory { return ledger.Crossings }

func (*Losses) Wants() []ledger.Kind { return []ledger.Kind{ledger.Lost} }

// Finish reports the losses at the end of leases of which some lasted longer. Where all that were let
// run out lasted equally long, and none longer, the lock seems to keep to a maximum, and told the truth.
func (l *Losses) Finish() {
	for _, x := range l.stopped {
		if !l.Lifetimes.AtMaximum(x.lived) {
			l.Violate(x.Candidate)
			continue
		}
		text := x.Text
		x.Text = func() string {
			return text() + fmt.Sprintf(" No lease lasted longer than %s, and several ended so: the lock seems to renew none for longer.", words.Span(l.Lifetimes.Longest()))
		}
		l.Suspect(x.Candidate)
	}
}

func (l *Losses) Observe(f *ledger.Fact) {
	g := f.Grant
	if g.ReleasedAt != ledger.Never {
		return
	}
	atEnd := g.Renewed && ledger.Later(ledger.ReportedAt(f.Event), l.Header.TTL/endShare) >= g.Deadline
	l.Lifetimes.Ended(g)
	if atEnd {
		l.Lifetimes.Told(g)
	}
	if by := g.Intruders(); len(by) > 0 && by[0].OK-l.From(by[0], l.By(f.Event)) <= ledger.ReportedAt(f.Event) {
		l.late(f, by[0])
		return
	}
	if !l.Phased || l.Nemesis.MayBeSince(g.Start) {
		return // nobody says that nothing was wrong
	}
	var x *rule.Candidate
	switch t := ledger.ReportedAt(f.Event); {
	case t < g.Deadline:
		x = l.causeless(f, fmt.Sprintf("%s before the lease could run out", words.Span(g.Deadline-t)))
	case g.Renewed:
		x = l.causeless(f, "after its automatic renewal had stopped")
	default:
		return
	}
	switch {
	case !atEnd:
		l.Violate(x)
	case len(l.stopped) < mostStopped:
		l.stopped = append(l.stopped, stoppedLease{x, g.Deadline - g.OK})
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

// causeless is the finding of a loss that was reported without a cause.
func (l *Losses) causeless(f *ledger.Fact, when string) *rule.Candidate {
	g, told := f.Grant, ledger.ReportedAt(f.Event)
	g.Pin()
	text := fmt.Sprintf("%s was told at %s that its lease on %s%s was lost, %s, although no fault had been in force since %s and nobody else was granted it.",
		g.Owner(), words.At(told), f.Key.Name, words.Token(g.Fence), when, words.At(g.Start))
	return &rule.Candidate{
		ID: "L5", Key: f.Key, Owners: []string{g.Owner()}, Witness: []int{g.DeadlineIdx, f.Event.Index}, Blame: rule.BlameLibrary,
		From: g.Start, To: f.Event.Time, Text: func() string { return text },
		Refuted: func() bool { return g.ReleasedAt <= told }, // as the history told late
	}
}

package ledger

import (
	"math"
	"slices"
	"time"

	"locktorture/workload/history"
)

// nests says whether o, which gives its owner a lease with a token of its own, re-entered
// another lease of that owner's: surely or perhaps. It marks the latter leases, since a later
// release may be of any of them.
func (l *Ledger) nests(o *Op) (sure, perhaps bool) {
	if h := o.Holder; h.Grant == nil || !h.beside && !h.Grant.GoesOn() && l.OverBefore(h.Grant, o) { // it has no other lease
		return false, false
	}
	for x := range o.Holder.Leases {
		if x.Mode != o.Mode || x.Fence == o.Fence || l.OverBefore(x, o) {
			continue
		}
		if o.Inv <= Later(l.From(x, o.By()), x.ServedUntil) {
			x.Rarely().mayNest, perhaps = true, true
		}
		sure = sure || o.OK < x.End() && (x.AcquiredByBefore(o.Process, o.InvIdx) || x.OK+l.From(x, o.By()) < o.Inv)
	}
	return sure, perhaps
}

// reenter notes that o re-entered g, and so extended it to d.
func (l *Ledger) reenter(e *history.Event, o *Op, g *Grant, d time.Duration) {
	g.depth++
	l.Under(o, g)
	if o.Process != g.Process {
		l.entered(g, o)
		g.Rare.side = g.Rare.side || o.Fence == 0 && o.Inv <= Later(l.From(g, o.By()), g.OK)
		g.Rare.again = reentry{inv: o.Inv, ok: o.OK, invIdx: o.InvIdx, idx: o.OKIdx, by: o.Process, host: o.Host, fence: o.Fence, until: d}
	}
	g.Rarely().before = g.Rarely().latest
	g.Rare.latest = reentry{inv: o.Inv, ok: o.OK, invIdx: o.InvIdx, idx: o.OKIdx, by: o.Process, host: o.Host, fence: o.Fence, until: d}
	if o.Fence != 0 && o.Fence != g.Fence {
		g.Rarely().secondToken, g.Rare.renamedAt = o.Fence, o.OKIdx
	}
	g.enter(promise{d, o.OKIdx, int32(o.Process), o.Fence})
	old := g.Deadline
	g.Ambiguous = g.Ambiguous || o.OK >= old // the model of a hold has no gap
	g.stampedBy(o.By())
	if g.Rare != nil {
		g.Rare.ServedBefore = g.ServedUntil
	}
	if d > g.Deadline {
		if g.Extended {
			g.Rarely().ExtendedBefore = extension{g.Start, g.DeadlineIdx}
		}
		if int(g.DueBy) != o.Process {
			g.Rarely().dueBefore = dueBy{g.Deadline, g.DueBy}
		}
		g.Rare.latest.replaced, g.Rare.latest.replacedIdx = dueBy{g.Deadline, g.DueBy}, g.DeadlineIdx
		g.Deadline, g.DeadlineIdx, g.DueBy, g.Start, g.Extended = d, o.OKIdx, int32(o.Process), o.Inv, false
		g.Rare.leaving = promise{}
	}
	l.serve(g, o, d)
	l.change(Reentered, e, o, old)
}

// entered notes that o re-entered g by another process than its first.
func (l *Ledger) entered(g *Grant, o *Op) {
	r := g.Rarely()
	if g.enteredBy(o.Process) {
		return
	}
	if len(r.entrants) == MostEntrants {
		if p := g.Holder.Prior; p != nil && p.GoesOn() { // an ending of the forgotten process may now seem to be that lease's
			l.EntrantsForgotten++
		}
		r.entrants = r.entrants[:copy(r.entrants, r.entrants[1:])]
	}
	r.entrants = append(r.entrants, entrant{o.Process, o.OKIdx})
}

// MostEntrants is how many other processes that re-entered one lease are remembered: the
// latest.
const MostEntrants = 32

// enteredBy says whether process is one of those, other than the first, that re-entered g.
func (g *Grant) enteredBy(process int) bool {
	return g.enteredBefore(process, math.MaxInt)
}

// enteredBefore says whether such a process re-entered g by an answer before the event at idx.
func (g *Grant) enteredBefore(process, idx int) bool {
	return g.Rare != nil && slices.ContainsFunc(g.Rare.entrants, func(x entrant) bool { return x.process == process && x.idx < idx })
}

// Reentered says whether another process than its first re-entered g.
func (g *Grant) Reentered() bool { return g.Rare != nil && len(g.Rare.entrants) > 0 }

// Reentries yields the index of the event by which another process of g's owner re-entered it
// and may have a lease of its own, and of the one that changed its token last, if any.
func (g *Grant) Reentries(yield func(idx int) bool) {
	switch {
	case g.Rare == nil:
	case g.Rare.side && !yield(g.Rare.again.idx):
	case g.Rare.renamedAt != 0:
		yield(g.Rare.renamedAt)
	}
}

// TwoTokens says whether a re-entry changed g's token: an operation that names one of the two
// tokens may be of either lease, if there are two.
func (g *Grant) TwoTokens() bool { return g.Rare != nil && g.Rare.secondToken != 0 }

// acquiredBy says whether this process was granted g, or is among those that re-entered it.
func (g *Grant) acquiredBy(process int) bool { return g.Process == process || g.enteredBy(process) }

// AcquiredByBefore says whether process was granted g, or re-entered it, by an answer before the
// event at idx.
func (g *Grant) AcquiredByBefore(process, idx int) bool {
	return g.Process == process && g.OKIdx < idx || g.enteredBefore(process, idx)
}

// AcquiredAt is the index of the event by which a process was granted g, or re-entered it: of
// the latest re-entry, where that was by this process and another one was granted g first.
func (g *Grant) AcquiredAt(process int) int {
	if g.Process != process && g.Rare != nil && g.Rare.again.idx != 0 && g.Rare.again.by == process {
		return g.Rare.again.idx
	}
	return g.OKIdx
}

// acquiredLast is when g's owner was granted it, or re-entered it last: re-entries by g's first
// process, and by the process that stopped it, do not count.
func (g *Grant) acquiredLast() time.Duration {
	if g.Rare == nil || g.Rare.again.idx == 0 || g.Rare.again.by == int(g.StopBy) {
		return g.OK
	}
	return max(g.OK, g.Rare.again.ok)
}

// MayBeAcquiredSince says whether the ending of g may have been before its owner was granted g, or
// re-entered it, as far as the clocks tell.
func (l *Ledger) MayBeAcquiredSince(g *Grant, o *Op) bool {
	return g.StoppedAt <= Later(l.From(g, o.By()), g.acquiredLast())
}

// AcquiredBefore is the index of the event by which g's owner was granted it, or re-entered
// it, last before the event at idx.
func (g *Grant) AcquiredBefore(idx int) int {
	if g.Rare == nil {
		return g.OKIdx
	}
	for _, r := range [...]reentry{g.Rare.latest, g.Rare.before} {
		if r.idx != 0 && r.idx < idx {
			return r.idx
		}
	}
	return g.OKIdx
}

// Again is the latest acquire by which g's owner re-entered it, with g's first token.
func (g *Grant) Again() (o Op, found bool) {
	if g.Rare == nil || g.Rare.latest.idx == 0 {
		return o, false
	}
	r := g.Rare.latest
	return Op{Action: history.Acquire, Holder: g.Holder, Fence: g.Fence, Mode: g.Mode, Process: r.by, Host: r.host, Inv: r.inv, InvIdx: r.invIdx, OK: r.ok, OKIdx: r.idx}, true
}

// ReenteredMeanwhile says whether another process of g's owner surely re-entered it before o
// was issued, by an answer of which the history tells only after o.
func (l *Ledger) ReenteredMeanwhile(g *Grant, o *Op) bool {
	if g == nil || g.Rare == nil || g.enteredBy(o.Process) {
		return false
	}
	r := g.Rare.again
	return r.idx > o.InvIdx && r.ok+l.From(g, o.By()) < o.Inv
}

// NoteReentry notes for o, a write under way, that another process of its owner's has
// re-entered g.
func (l *Ledger) NoteReentry(g *Grant, o *Op) {
	if g.Rare == nil || g.Rare.latest.by == o.Process || g.Rare.latest.idx == 0 {
		return
	}
	if t := g.Rare.latest.ok + l.From(g, o.By()); o.Doubt().reentered == 0 || t < o.Doubts.reentered {
		o.Doubts.reentered = max(t, 1)
	}
}

// ReenteredBefore says whether such a re-entry was answered before o was issued.
func (o *Op) ReenteredBefore() bool {
	return o.Doubts != nil && o.Doubts.reentered != 0 && o.Doubts.reentered < o.Inv
}

// reenteredBy says whether o, an acquire of g's owner, re-entered g.
func (l *Ledger) reenteredBy(g *Grant, o *Op) bool {
	if g.StoppedAt != Never || g.Mode != o.Mode || l.crossed(g, o) {
		return false
	}
	return o.OK < g.Deadline || o.Inv < g.Deadline && o.Fence == g.Fence && g.Fence != 0
}

// crossed says whether o, which gave its owner another token than g's, was asked for before g
// was surely answered: each of the two acquires then began a lease of its own.
func (l *Ledger) crossed(g *Grant, o *Op) bool {
	return g.MayNameOther(o.Fence) && !g.Bears(o.Fence) && !g.acquiredBy(o.Process) && o.Inv <= Later(l.From(g, o.By()), g.OK)
}

// MayReenter says whether o, by which the owner of g was granted g's token, may have been a
// re-entry: the servers may keep a lease beyond its deadline.
func (l *Ledger) MayReenter(g *Grant, o *Op) bool {
	if g == nil || g.Fence == 0 || g.Fence != o.Fence {
		return false
	}
	switch {
	case l.OverBefore(g, o):
		return false
	case g.Rare != nil && g.Rare.VagueExtensions > 0 && (g.Rare.FirstVague < o.OKIdx || o.OKIdx == 0): // it may be carried out at any time
		return true
	}
	return o.Inv <= Later(l.From(g, o.By()), g.ServedUntil)
}

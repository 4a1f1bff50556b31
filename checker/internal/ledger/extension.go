package ledger

import (
	"slices"
	"time"

	"locktorture/workload/history"
)

// MayBeExtending says whether an extension is under way that may be of g: one that acts under
// g, or one under another lease of its owner's that names no token.
func (l *Ledger) MayBeExtending(g *Grant) bool {
	if g.Extending > 0 {
		return true
	}
	return g.Holder.extends.idx > g.OKIdx && g.Holder.extends.fence == 0
}

// Extending says whether an extension of one of k's leases is under way.
func (k *Key) Extending() bool {
	return slices.ContainsFunc(k.Held, func(g *Grant) bool { return g.Extending > 0 })
}

// extensionDone completes an extension that was invoked.
func (l *Ledger) extensionDone(e *history.Event, o *Op) {
	if o.Outcome != history.Info {
		o.Holder.answered(o)
	}
	switch {
	case o.Grant != nil:
		o.Grant.Extending--
	case o.Holder.Grant != nil && !o.Holder.Grant.forgot(o.Fence) && !l.answeredBefore(o.Holder.Grant, o) && (o.Outcome == history.OK || o.Outcome == history.Fail && l.refusedMeanwhile(o.Holder.Grant, o)): // granted meanwhile
		l.Under(o, o.Holder.Grant)
	default:
		if o.Outcome == history.Info {
			l.unsettled(e, o)
		}
		l.strayed(o)
		return
	}
	if g := o.Holder.Grant; o.Fence == 0 && g != o.Grant && g.OKIdx > o.InvIdx && !o.Grant.GoesOn() && !l.answeredBefore(g, o) && (o.Outcome == history.OK && o.Grant.StopIdx < o.InvIdx || o.Outcome == history.Fail && l.refusedMeanwhile(g, o)) {
		l.Under(o, g)
	}
	if of := o.Holder.named(o); of != nil { // it says only now which lease it was of
		if asked := o.Grant; asked != nil && o.Outcome == history.OK {
			d, _ := l.deadline(o)
			asked.stampedBy(o.By())
			asked.movedBeside(o.Inv, d)
		}
		l.Under(o, of)
	}
	switch {
	case o.Outcome == history.Fail && NeverSent(e.Err): // nobody was asked, and it says nothing of the lease
		l.emit(Unmoved, e, o)
		return
	case o.Outcome == history.Fail:
		o.Grant.refuse(o)
		l.denyBeside(o)
	}
	l.moved(e, o)
}

// answered notes that the outcome of o, an extension of h's, is known, and so whether it moved
// the deadline of leases that were granted while it was under way.
func (h *Holder) answered(o *Op) {
	if h.extends.idx == o.InvIdx {
		h.extends = asking{}
	}
	if (h.Grant == nil || h.Grant.OKIdx < o.InvIdx) && (h.Prior == nil || h.Prior.OKIdx < o.InvIdx) { // none was
		return
	}
	for x := range h.Leases {
		if x.Rare != nil && x.Rare.VagueBy == o.InvIdx && o.InvIdx != 0 {
			x.Rare.VagueExtensions--
			x.Rare.VagueBy = 0
		}
	}
}

// answeredBefore says whether o was surely answered before g was asked for.
func (l *Ledger) answeredBefore(g *Grant, o *Op) bool {
	return g.Process != o.Process && Later(l.From(g, o.By()), o.OK) < g.Inv
}

// refusedMeanwhile says whether o, an extension that was asked for before the history told of
// g, was an extension of g and refused: it names g, or g had been granted before it.
func (l *Ledger) refusedMeanwhile(g *Grant, o *Op) bool {
	if o.Fence != 0 {
		return g.Bears(o.Fence)
	}
	return g.Process != o.Process && Later(l.From(g, o.By()), g.OK) < o.Inv
}

// renewed applies a round of automatic renewal, which has no invocation.
func (l *Ledger) renewed(e *history.Event) {
	h := l.HolderOf(l.Key(e.Key), l.Owner(e.Owner))
	o := l.newOp(e, h)
	o.Outcome, o.OK, o.OKIdx = e.Kind, e.Time, e.Index
	if e.Began <= e.Time {
		o.Inv = e.Began
	}
	o.narrow(e)
	o.learn(e)
	l.Under(o, h.meant(o.Inv, o.Fence, o.Process))
	if o.Grant != nil {
		o.Grant.Renewed = true
		l.moved(e, o)
	} else {
		l.strayed(o)
	}
	l.recycle(o)
}

// moved applies the outcome of an extension. A refused one ends the definite hold.
func (l *Ledger) moved(e *history.Event, o *Op) {
	g := o.Grant
	g.stampedBy(o.By())
	g.Holder.Key.Answered = max(g.Holder.Key.Answered, o.OK)
	switch o.Outcome {
	case history.OK:
		old := g.Deadline
		if g.TwoTokens() {
			g.Rare.Most = max(g.Rare.Most, g.Deadline)
		}
		if g.resumes(o) {
			old = g.End()
			g.StoppedAt, g.Rare.perhapsOver = Never, false
			o.Holder.over = o.Holder.over && g != o.Holder.Grant
		}
		if g.Extended && o.Inv < g.Start { // asked for before one that was answered sooner
			g.Rarely().ExtendedBefore = extension{g.Start, g.DeadlineIdx}
		}
		d, assumed := l.deadline(o)
		g.previousIdx = g.DeadlineIdx
		g.previous, g.Deadline, g.DueBy, g.Start, g.DeadlineIdx, g.Assumed, g.Extended = g.Deadline, d, int32(o.Process), o.Inv, o.OKIdx, assumed, true
		if g.Rare != nil { // it may have moved that one, too
			g.Rare.dueBefore, g.Rare.leaving = dueBy{}, promise{}
		}
		g.prolonged(o.Fence)
		served := g.ServedUntil
		l.serve(g, o, d)
		o.Holder.moveBeside(g, o.Fence, o.Inv, d, o.By())
		l.serveBeside(g, served, o, d)
		if o.Fence == 0 {
			o.Fence = g.Fence
		}
		l.recall(g)
		l.change(Extended, e, o, old)
	case history.Fail:
		g.stopAt(o.OK, o.OKIdx, o.Process)
		o.Holder.stopBeside(g, o.By(), o.Fence, o.OK, o.OKIdx, false)
		l.emit(Unmoved, e, o)
	default:
		g.vagueBy(o.InvIdx)
		o.Holder.vagueBeside(o, 1)
		g.Holder.Key.UnknownExtension = max(g.Holder.Key.UnknownExtension, o.OK)
		l.emit(Unmoved, e, o)
		l.unsettled(e, o)
	}
}

// change dispatches, as a fact of kind w, that o moved its lease's deadline from old.
func (l *Ledger) change(w Kind, e *history.Event, o *Op, old time.Duration) {
	l.fact = Fact{Kind: w, Event: e, Op: o, Grant: o.Grant, Key: o.Holder.Key, Old: old}
	l.Dispatch()
	switch g := o.Grant; {
	case w == Postponed:
		l.crossAgain(g)
	case o.Fence != 0 && o.Fence != g.Fence:
		g.Holder.Key.Tokens.rename(TokenGrant{Ok: o.OK, Fence: o.Fence, Idx: o.OKIdx, Owner: int32(g.Holder.OwnerNo)})
	}
}

// serve notes that because of o the servers may keep g: from when they were asked, which is
// before o was answered, for the TTL, or for as long as o promised.
func (l *Ledger) serve(g *Grant, o *Op, d time.Duration) {
	length := l.lasting(o, d)
	g.ServedUntil = max(g.ServedUntil, Later(o.OK, length))
	g.stampedBy(o.By())
	k := g.Holder.Key
	k.ServedUntil, l.Longest = max(k.ServedUntil, g.ServedUntil), max(l.Longest, length)
}

// serveBeside notes that o, an extension of g's, may have made the servers keep another lease x
// of its owner's longer, too: where g may be a re-entry into x, or x into g. Before o, they may
// have kept g until served.
func (l *Ledger) serveBeside(g *Grant, served time.Duration, o *Op, d time.Duration) {
	if !o.Holder.beside {
		return
	}
	for _, x := range [...]*Grant{o.Holder.Grant, o.Holder.Prior} {
		if x == nil || x == g {
			continue
		}
		first, second, until := x, g, x.ServedUntil
		if g.OKIdx < x.OKIdx {
			first, second, until = g, x, served
		}
		if second.Inv <= Later(l.Apart(g, x), first.servedWhen(second, until)) {
			l.serve(x, o, d)
		}
		if first == g {
			g.servedSince(second, o, served, l.From(second, o.By()))
		}
	}
}

// servedWhen is until when the servers may have kept g, by the extensions that were asked for
// before its owner was granted the lease second; until where none is known.
func (g *Grant) servedWhen(second *Grant, until time.Duration) time.Duration {
	if g.Rare != nil && g.Rare.secondIdx == second.OKIdx && g.Rare.secondIdx != 0 {
		return g.Rare.servedThen
	}
	return until
}

// servedSince notes that o extended g, which the servers may have kept until served before
// that. If o was asked for only after second was granted, it proves nothing about whether
// second is a re-entry into g.
func (g *Grant) servedSince(second *Grant, o *Op, served, eps time.Duration) {
	then := g.servedWhen(second, served)
	if o.InvIdx < second.OKIdx || o.Inv <= Later(eps, second.OK) {
		then = g.ServedUntil
	}
	g.Rarely().secondIdx, g.Rare.servedThen = second.OKIdx, then
}

// lasting is how long the servers may keep a lease that o began or extended until d.
func (l *Ledger) lasting(o *Op, d time.Duration) time.Duration {
	if d-o.Inv > l.Header.TTL-l.Header.Drift {
		return Later(l.Header.Drift, d-o.Inv)
	}
	return l.Header.TTL
}

// Length is how long the servers may keep the lease that o gave, from when it was asked for.
func (l *Ledger) Length(o *Op) time.Duration {
	d, _ := l.deadline(o)
	return l.lasting(o, d)
}

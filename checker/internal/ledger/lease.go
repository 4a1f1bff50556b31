package ledger

import (
	"math"
	"slices"
	"time"

	"locktorture/workload/history"
)

// DeadlineFor is g's deadline as far as by could know it when it invoked something at inv: the
// deadline before, where the latest extension was surely asked for only after inv.
func (l *Ledger) DeadlineFor(g *Grant, inv time.Duration, by Stamper) time.Duration {
	d, _, _ := l.deadlineFor(g, inv, by)
	return d
}

// deadlineFor is that deadline, the index of the event that set it, and when a later deadline
// was set, if one was: by an extension that was surely asked for only after inv, or by a
// re-entry of another process that was surely answered only after inv.
func (l *Ledger) deadlineFor(g *Grant, inv time.Duration, by Stamper) (d time.Duration, idx int, since time.Duration) {
	behind := Later(l.From(g, by), inv)
	if g.Extended && g.Start > behind {
		return g.previous, g.previousIdx, g.Start
	}
	if g.Rare != nil {
		if r := &g.Rare.latest; r.replacedIdx != 0 && r.idx == g.DeadlineIdx && r.by != by.Process && r.ok > behind {
			return r.replaced.until, r.replacedIdx, r.ok
		}
	}
	return g.Deadline, g.DeadlineIdx, Never
}

// deadline is until when the lease of the acquire or extension o lasts: as promised, which
// stands reports, or else for the TTL less the drift.
func (l *Ledger) deadline(o *Op) (d time.Duration, stands bool) {
	if o.Has&history.HasValidUntil != 0 {
		return o.validUntil, false
	}
	return Later(o.Inv-l.Header.Drift, l.Header.TTL), true
}

// acquired completes an acquire.
func (l *Ledger) acquired(e *history.Event, o *Op) {
	h := o.Holder
	h.Key.Answered = max(h.Key.Answered, o.OK)
	switch o.Outcome {
	case history.OK:
		l.granted(e, o)
		return
	case history.Fail:
		h.tried, h.vain = UseRefused, o.asking()
		l.emit(Refused, e, o)
	default:
		h.tried, h.vain = UseUnknown, o.asking()
		l.unsettled(e, o)
	}
}

// granted notes a successful acquire: of a fresh lease, or of one that its owner re-enters.
func (l *Ledger) granted(e *history.Event, o *Op) {
	h := o.Holder
	h.tried = UseHeld
	d, stands := l.deadline(o)
	if p := h.Prior; p != nil && l.reenteredBy(p, o) && p.Bears(o.Fence) && !h.Grant.Bears(o.Fence) && p.OK <= o.OK {
		if !h.Grant.GoesOn() { // its owner has but this one left
			l.precede(h, p)
		}
		l.reenter(e, o, p, d)
		return
	}
	if g := h.Grant; g != nil && !h.over && g.OK <= o.OK && (l.reenteredBy(g, o) || h.Key.Last == g && g.Mode == o.Mode && l.MayReenter(g, o)) {
		l.reenter(e, o, g, d)
		return
	}
	o.MayReenter = l.MayReenter(h.Grant, o) || l.MayReenter(h.Prior, o)
	nested, perhaps := l.nests(o)
	g := l.newGrant(h.Prior)
	h.Prior = h.Grant
	*g = Grant{}
	g.Holder, g.Mode, g.Fence, g.depth, g.Process, g.Host = h, o.Mode, o.Fence, 1, o.Process, o.Host
	g.Inv, g.InvIdx, g.Start, g.OK, g.OKIdx = o.Inv, o.InvIdx, o.Inv, o.OK, o.OKIdx
	g.Deadline, g.DeadlineIdx, g.DueBy, g.FirstDeadline, g.Assumed = d, o.OKIdx, int32(o.Process), d, stands
	g.StoppedAt, g.ReleasedAt, g.ReleaseOK, g.LostAt = Never, Never, Never, Never
	if x := h.extends; x.idx > o.InvIdx && x.idx < o.OKIdx && o.OK <= Later(l.Clocks.Widest, x.inv) { // told late: that may have been of it
		g.vagueBy(x.idx)
		g.Rare.VagueBy = x.idx
	}
	if perhaps {
		g.Rarely().nested, g.Rare.mayNest = nested, true
	}
	l.serve(g, o, d)
	l.Under(o, g)
	h.granted++
	if o.OK < l.Now {
		h.Key.endFollowing(o.OK-l.Clocks.Widest, l.Now)
	}
	l.emit(Granted, e, o)
	l.issue(g)
	l.cross(g)
	before := h.Grant
	h.beside = h.beside || before != nil && (before.GoesOn() || g.OK < before.OK)
	h.Grant, h.over = g, false
	if before != nil && g.OK < before.OK {
		l.precede(h, before)
		if before.Mode == g.Mode && before.OK < g.End() && g.OK+l.From(g, before.By()) < before.Inv && before.MayNameOther(g.Fence) {
			before.Rarely().nested, before.Rare.mayNest = true, true
		}
		if l.MayReenter(g, &Op{Fence: before.Fence, Inv: before.Inv, Process: before.Process, Host: before.Host}) {
			before.Rarely().MayBeInner = true
		}
	}
	h.Key.Last = h.Grant
	l.remember(g)
}

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
	}
	l.serve(g, o, d)
	l.change(Reentered, e, o, old)
}

// precede makes later, a lease that was granted or re-entered later, the latest lease of h, and
// the one that was the latest the one before.
func (l *Ledger) precede(h *Holder, later *Grant) {
	h.Grant, h.Prior, h.over = later, h.Grant, later.StoppedAt != Never
	h.Key.unwatch(h.Prior)
	if l.Memory&Crossings != 0 && later.ReleasedAt == Never && later.Watched == 0 {
		h.Key.watch(later)
	}
}

// Bears says whether g bears a token: the one that it was granted with, or the latest to which
// a re-entry changed it.
func (g *Grant) Bears(fence uint64) bool {
	return fence != 0 && (fence == g.Fence || g.Rare != nil && fence == g.Rare.secondToken)
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

// Reentered says whether another process than its first re-entered g.
func (g *Grant) Reentered() bool { return g.Rare != nil && len(g.Rare.entrants) > 0 }

// AcquiredByBefore says whether process was granted g, or re-entered it, by an answer before the
// event at idx.
func (g *Grant) AcquiredByBefore(process, idx int) bool {
	return g.Process == process && g.OKIdx < idx || g.enteredBefore(process, idx)
}

// acquiredBy says whether this process was granted g, or is among those that re-entered it.
func (g *Grant) acquiredBy(process int) bool { return g.Process == process || g.enteredBy(process) }

// TwoTokens says whether a re-entry changed g's token: an operation that names one of the two
// tokens may be of either lease, if there are two.
func (g *Grant) TwoTokens() bool { return g.Rare != nil && g.Rare.secondToken != 0 }

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

// MayNameOther says whether an operation that names this token may be of another lease than g.
func (g *Grant) MayNameOther(fence uint64) bool {
	return fence != 0 && g.Fence != 0 && (fence != g.Fence || g.TwoTokens())
}

// Concerns says whether an ending of g that named the token word (0 for none) surely tells a
// writer with the token fence that it holds nothing.
func (g *Grant) Concerns(word, fence uint64) bool {
	return !g.MayNameOther(word) || g.TwoTokens() && word == fence
}

// Tokens yields g's tokens: the one that it was granted with, and those to which re-entries and
// extensions changed it, as far as they are remembered.
func (g *Grant) Tokens(yield func(fence uint64) bool) {
	if !yield(g.Fence) || g.TwoTokens() && !yield(g.Rare.secondToken) {
		return
	}
	for _, x := range g.Holder.Key.Tokens.renamed {
		if int(x.Owner) == g.Holder.OwnerNo && x.Idx > g.OKIdx && !g.Bears(x.Fence) && !yield(x.Fence) {
			return
		}
	}
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

// named is the lease that the completion of o names, where it is not the one that o seemed to
// be of; else nil.
func (h *Holder) named(o *Op) *Grant {
	g := h.Grant
	switch {
	case o.Fence == 0:
		return nil
	case o.Grant == nil || !o.Grant.Bears(o.Fence):
	case o.Action == history.Extend && o.Grant != g && g.Bears(o.Fence) && o.Grant.StoppedAt != Never && (o.Grant.StopIdx < o.InvIdx || o.Grant.StopIdx < g.OKIdx && o.OK >= g.Inv):
		return g // that one was over, and this was granted meanwhile
	default:
		return nil
	}
	if of := h.acted(o); of != nil && of != o.Grant && (o.Grant == nil && o.Action == history.Extend || of.Bears(o.Fence)) {
		return of
	}
	return nil
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

// OverBefore says whether g had surely been released, or its owner been told that it was gone,
// before o was asked for.
func (l *Ledger) OverBefore(g *Grant, o *Op) bool {
	eps := l.From(g, o.By())
	gone := func(t time.Duration, by int) bool { return by == o.Process && t <= o.Inv || t+eps < o.Inv }
	for no := g.Refused(); no != nil; no = no.Next {
		if gone(no.T, no.By) {
			return true
		}
	}
	if g.Rare != nil && slices.ContainsFunc(g.Rare.GivenBack, func(x givenBack) bool { return gone(x.T, x.By) }) {
		return true
	}
	return g.ReleaseOK != Never && gone(g.ReleaseOK, g.ReleasedBy)
}

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

// at is the lease that a renewal or a loss at t is about: the latest that had begun by t, or,
// where the token says so, the one before.
func (h *Holder) at(t time.Duration, fence uint64) *Grant {
	g := h.Grant
	p := h.Prior
	switch {
	case g == nil || p == nil || g.Bears(fence) && !p.Bears(fence):
		return g
	case p.Bears(fence) && !g.Bears(fence), t < g.Inv && p.ReleaseOK > t:
		return p
	case fence != 0 && !g.Bears(fence):
		if x := h.Bearing(fence); x != nil || g.forgot(fence) {
			return x
		}
	}
	return g
}

// Bearing is the latest of h's remembered leases with this token, preferably one that goes on;
// nil when there is none.
func (h *Holder) Bearing(fence uint64) (best *Grant) {
	for x := range h.Leases {
		if x.Bears(fence) && (best == nil || x.GoesOn() && !best.GoesOn() || x.GoesOn() == best.GoesOn() && x.OKIdx > best.OKIdx) {
			best = x
		}
	}
	return best
}

// forgot says whether this token, which no remembered lease bears, may be that of an older
// lease than g: then its owner had leases that are forgotten.
func (g *Grant) forgot(fence uint64) bool {
	return fence != 0 && fence < g.Fence && !g.Bears(fence) && g.Holder.granted > 1
}

// acted is the lease that an extension or release is of: the latest, unless the token names an
// older one, or, without a token, the process is the one that acquired the one before. It is
// nil when that lease is forgotten.
func (h *Holder) acted(o *Op) *Grant {
	g, before := h.Grant, h.Prior
	switch {
	case g == nil || before == nil && g.Bears(o.Fence):
		return g
	case g.Bears(o.Fence):
		if before.Bears(o.Fence) && before.acquiredBy(o.Process) && !g.acquiredBy(o.Process) && before.GoesOn() && before.Deadline > o.Inv {
			return before
		}
		return g
	case before == nil:
	case before.Bears(o.Fence),
		o.Fence == 0 && o.Action == history.Release && g.ReleasedAt != Never && !g.owesRelease(before, o) && (before.ReleasedAt == Never || before.ReleaseToken() != 0 && before.MayNameOther(before.ReleaseToken())),
		o.Fence == 0 && before.ReleasedAt == Never && before.acquiredBy(o.Process) && !g.acquiredBy(o.Process):
		return before
	}
	if o.Fence != 0 && before != nil {
		if x := h.Bearing(o.Fence); x != nil {
			return x
		}
	}
	if g.forgot(o.Fence) {
		return nil
	}
	return g
}

// owesRelease says whether o, a release after one of g by another process, is a release of g as
// well: its process acquired g when the lease before had run out, or after it had been told
// that that was gone.
func (g *Grant) owesRelease(before *Grant, o *Op) bool {
	over := before.Latest() <= g.Inv && before.Process == o.Process || before.RefusedTo(o.Process, g.InvIdx)
	return g.ReleasedBy != o.Process && g.Process == o.Process && over
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
		d, stands := l.deadline(o)
		g.previousIdx = g.DeadlineIdx
		g.previous, g.Deadline, g.DueBy, g.Start, g.DeadlineIdx, g.Assumed, g.Extended = g.Deadline, d, int32(o.Process), o.Inv, o.OKIdx, stands, true
		if g.Rare != nil { // it may have moved that one, too
			g.Rare.dueBefore = dueBy{}
		}
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

// lost applies a loss that the library reported.
func (l *Ledger) lost(e *history.Event, h *Holder) {
	g := h.meant(ReportedAt(e), e.Fence, e.Process)
	if g != nil && g.TwoTokens() && e.Fence != 0 && len(g.Rare.losses) < MaxDenials {
		g.Rare.losses = append(g.Rare.losses, givenBack{e.Time, e.Index, e.Process, e.Fence})
	}
	if g == nil || g.LostAt != Never && (!g.MayNameOther(g.LossToken()) || g.MayNameOther(e.Fence)) { // unless that loss may have been of another lease
		return
	}
	g.LostAt, g.LostIdx, g.LostBy = e.Time, e.Index, e.Process
	g.stampedBy(l.By(e))
	if g.MayNameOther(e.Fence) || g.Rare != nil {
		g.Rarely().lossToken = e.Fence
	}
	l.fact = Fact{Kind: Lost, Event: e, Grant: g, Key: h.Key}
	l.Dispatch()
	g.stopAt(ReportedAt(e), e.Index, e.Process)
	h.stopBeside(g, l.By(e), e.Fence, ReportedAt(e), e.Index, false)
}

// meant is the lease that a renewal at t, or a loss, is about that process was told of:
// without a token, of the two latest the one that the process acquired.
func (h *Holder) meant(t time.Duration, fence uint64, process int) *Grant {
	g := h.at(t, fence)
	if x := h.Grant; fence == 0 && g != nil && g != x && x.acquiredBy(process) && !g.acquiredBy(process) {
		return x
	}
	if p := h.Prior; fence == 0 && g == h.Grant && p != nil && p.GoesOn() && p.acquiredBy(process) && !g.acquiredBy(process) {
		return p
	}
	return g
}

// ReportedAt is when the library reported a loss. Its client may have received that later, at
// the event's time: a client that is stopped receives nothing.
func ReportedAt(e *history.Event) time.Duration {
	if e.HasAll(history.HasBegan) && e.Began <= e.Time {
		return e.Began
	}
	return e.Time
}

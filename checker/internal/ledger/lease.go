package ledger

import (
	"math"
	"slices"
	"time"

	"locktorture/workload/history"
)

// DeadlineFor is g's deadline as it may have been known to whoever issued something at inv:
// the one before, when the latest extension was asked for after that beyond doubt.
func (l *Ledger) DeadlineFor(g *Grant, inv time.Duration, by Stamper) time.Duration {
	d, _, _ := l.deadlineFor(g, inv, by)
	return d
}

// deadlineFor is that deadline, the event that set it, and since when there was a later one,
// if there was: the latest extension may have been asked for only behind inv, beyond doubt,
// or another process of g's owner have been told only then that it took g once more.
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

// deadline is until when a lease that began at start holds: as promised, or
// else for the time asked for less the drift.
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

// granted books a successful acquire: of a fresh lease, or of one that its
// owner holds already.
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
	g.Waited = stands && o.Waits
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
		if before.Mode == g.Mode && before.OK < g.End() && g.OK+l.From(g, before.By()) < before.Inv && before.Strange(g.Fence) {
			before.Rarely().nested, before.Rare.mayNest = true, true
		}
		if l.MayReenter(g, &Op{Fence: before.Fence, Inv: before.Inv, Process: before.Process, Host: before.Host}) {
			before.Rarely().MayBeInner = true
		}
	}
	h.Key.Last = h.Grant
	l.remember(g)
}

// nests says whether o, by which its owner is granted a lease with a token of its own, took
// another one of its leases once more, for certain or perhaps, and notes the latter of both:
// which of them a release was of is then open.
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
		sure = sure || o.OK < x.End() && (x.TookBefore(o.Process, o.InvIdx) || x.OK+l.From(x, o.By()) < o.Inv)
	}
	return sure, perhaps
}

// reenter books that o took g, which its owner holds, once more, until d.
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

// precede puts the latest lease of h, of which the history tells late or which is over,
// before another one, granted later or taken once more.
func (l *Ledger) precede(h *Holder, later *Grant) {
	h.Grant, h.Prior, h.over = later, h.Grant, later.StoppedAt != Never
	h.Key.unwatch(h.Prior)
	if l.Memory&Crossings != 0 && later.ReleasedAt == Never && later.Watched == 0 {
		h.Key.watch(later)
	}
}

// Bears says whether a token is one of g's: the one that it was granted with, or the
// latest that a re-entry changed it to.
func (g *Grant) Bears(fence uint64) bool {
	return fence != 0 && (fence == g.Fence || g.Rare != nil && fence == g.Rare.secondToken)
}

// entered notes that o, of another process than its first, re-entered g.
func (l *Ledger) entered(g *Grant, o *Op) {
	r := g.Rarely()
	if g.enteredBy(o.Process) {
		return
	}
	if len(r.entrants) == MostEntrants {
		if p := g.Holder.Prior; p != nil && p.GoesOn() { // a word of the one forgotten may now seem to be of that lease
			l.EntrantsForgotten++
		}
		r.entrants = r.entrants[:copy(r.entrants, r.entrants[1:])]
	}
	r.entrants = append(r.entrants, entrant{o.Process, o.OKIdx})
}

// MostEntrants is how many other processes are remembered that re-entered one lease, the
// latest of them.
const MostEntrants = 32

// enteredBy says whether this process is among the other ones that re-entered g.
func (g *Grant) enteredBy(process int) bool {
	return g.enteredBefore(process, math.MaxInt)
}

// enteredBefore says whether it re-entered g by an answer before the event at idx.
func (g *Grant) enteredBefore(process, idx int) bool {
	return g.Rare != nil && slices.ContainsFunc(g.Rare.entrants, func(x entrant) bool { return x.process == process && x.idx < idx })
}

// TakenAt is the event by which a process was granted g, or took it once more: the latest
// by another than its first.
func (g *Grant) TakenAt(process int) int {
	if g.Process != process && g.Rare != nil && g.Rare.again.idx != 0 && g.Rare.again.by == process {
		return g.Rare.again.idx
	}
	return g.OKIdx
}

// takenLast is when g's owner was granted it, or took it once more by another process than
// its first and the one that stopped it.
func (g *Grant) takenLast() time.Duration {
	if g.Rare == nil || g.Rare.again.idx == 0 || g.Rare.again.by == int(g.StopBy) {
		return g.OK
	}
	return max(g.OK, g.Rare.again.ok)
}

// MayBeTakenSince says whether the word that ended g may have come before its owner was
// granted g, or took it once more, as far as clocks tell.
func (l *Ledger) MayBeTakenSince(g *Grant, o *Op) bool {
	return g.StoppedAt <= Later(l.From(g, o.By()), g.takenLast())
}

// TakenBefore is the event of the latest acquire before the one at idx by which g's owner
// took it, or took it once more.
func (g *Grant) TakenBefore(idx int) int {
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

// Again is the latest acquire by which g's owner took it once more, with its token.
func (g *Grant) Again() (o Op, found bool) {
	if g.Rare == nil || g.Rare.latest.idx == 0 {
		return o, false
	}
	r := g.Rare.latest
	return Op{Action: history.Acquire, Holder: g.Holder, Fence: g.Fence, Mode: g.Mode, Process: r.by, Host: r.host, Inv: r.inv, InvIdx: r.invIdx, OK: r.ok, OKIdx: r.idx}, true
}

// ReenteredMeanwhile says whether another process of g's owner took it once more, beyond
// doubt before o was issued, by an answer that the history tells of only later.
func (l *Ledger) ReenteredMeanwhile(g *Grant, o *Op) bool {
	if g == nil || g.Rare == nil || g.enteredBy(o.Process) {
		return false
	}
	r := g.Rare.again
	return r.idx > o.InvIdx && r.ok+l.From(g, o.By()) < o.Inv
}

// NoteReentry notes for o, a write under way, that another process of its owner's has taken
// g once more.
func (l *Ledger) NoteReentry(g *Grant, o *Op) {
	if g.Rare == nil || g.Rare.latest.by == o.Process || g.Rare.latest.idx == 0 {
		return
	}
	if t := g.Rare.latest.ok + l.From(g, o.By()); o.Doubt().reentered == 0 || t < o.Doubts.reentered {
		o.Doubts.reentered = max(t, 1)
	}
}

// ReenteredBefore says whether such a word, told while o was under way, was answered before
// o was issued.
func (o *Op) ReenteredBefore() bool {
	return o.Doubts != nil && o.Doubts.reentered != 0 && o.Doubts.reentered < o.Inv
}

// TakenTwice says whether another process than its first re-entered g.
func (g *Grant) TakenTwice() bool { return g.Rare != nil && len(g.Rare.entrants) > 0 }

// TookBefore says whether a process was granted g, or took it once more, by an answer before
// the event at idx.
func (g *Grant) TookBefore(process, idx int) bool {
	return g.Process == process && g.OKIdx < idx || g.enteredBefore(process, idx)
}

// takenBy says whether this process was granted g, or is among those that re-entered it.
func (g *Grant) takenBy(process int) bool { return g.Process == process || g.enteredBy(process) }

// TwoTokens says whether a re-entry changed g's token: of which of the two a word is
// that bears one of them is then open.
func (g *Grant) TwoTokens() bool { return g.Rare != nil && g.Rare.secondToken != 0 }

// TakenAgain calls yield with the event by which another process of g's owner took it once
// more and may have a lease of its own, and with the one that changed its token last, if any.
func (g *Grant) TakenAgain(yield func(idx int) bool) {
	switch {
	case g.Rare == nil:
	case g.Rare.side && !yield(g.Rare.again.idx):
	case g.Rare.renamedAt != 0:
		yield(g.Rare.renamedAt)
	}
}

// Strange says whether a word with this token may be of another lease than g.
func (g *Grant) Strange(fence uint64) bool {
	return fence != 0 && g.Fence != 0 && (fence != g.Fence || g.TwoTokens())
}

// Concerns says whether word, the token of a word that ended g (0 when there was
// none), tells a writer with this token for sure that it holds nothing.
func (g *Grant) Concerns(word, fence uint64) bool {
	return !g.Strange(word) || g.TwoTokens() && word == fence
}

// Tokens calls yield with g's: the one that it was granted with, and those that re-entries and
// extensions changed it to, as far as they are remembered.
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

// reenteredBy says whether an acquire by the same owner found it still holding.
func (l *Ledger) reenteredBy(g *Grant, o *Op) bool {
	if g.StoppedAt != Never || g.Mode != o.Mode || l.crossed(g, o) {
		return false
	}
	return o.OK < g.Deadline || o.Inv < g.Deadline && o.Fence == g.Fence && g.Fence != 0
}

// crossed says whether o, which gave its owner another token than g's, was asked for
// before g was surely answered: each of the two acquires took a lease of its own then.
func (l *Ledger) crossed(g *Grant, o *Op) bool {
	return g.Strange(o.Fence) && !g.Bears(o.Fence) && !g.takenBy(o.Process) && o.Inv <= Later(l.From(g, o.By()), g.OK)
}

// named is the lease that the completion of o names, when it is not the one that o
// seemed to be of; else nil.
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

// serve books that o made the servers keep g: for the TTL, or for as long as was
// promised by it, from when they were asked, which was before o was answered.
func (l *Ledger) serve(g *Grant, o *Op, d time.Duration) {
	length := l.lasting(o, d)
	g.ServedUntil = max(g.ServedUntil, Later(o.OK, length))
	g.stampedBy(o.By())
	k := g.Holder.Key
	k.ServedUntil, l.Longest = max(k.ServedUntil, g.ServedUntil), max(l.Longest, length)
}

// serveBeside books that o, an extension of g's, may have kept another lease of its
// owner's too: where g, kept until served before, may have been a re-entry into that one,
// or that one into g.
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

// servedWhen is until when the servers may have kept g, by what had been asked for when
// its owner was granted another lease, second; until otherwise.
func (g *Grant) servedWhen(second *Grant, until time.Duration) time.Duration {
	if g.Rare != nil && g.Rare.secondIdx == second.OKIdx && g.Rare.secondIdx != 0 {
		return g.Rare.servedThen
	}
	return until
}

// servedSince books that o extended g, which the servers may have kept until served before
// that. Asked for once second was granted, that makes second no re-entry into g.
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

// Length is how long the lease that o gave was asked for.
func (l *Ledger) Length(o *Op) time.Duration {
	d, _ := l.deadline(o)
	return l.lasting(o, d)
}

// MayReenter says whether o, which its owner was granted with the token of g, may have
// found g on the servers: its promise may be over by then, but not their TTL.
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

// OverBefore says whether g had been given back, or its owner been told that it was
// gone, before o was asked for.
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
// it, or under another lease of its owner's and names none.
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

// answered books that the outcome of o, an extension of h's, is known: what it did to the
// leases that were granted while it was under way is vague no more.
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

// answeredBefore says whether o was answered before g was asked for, beyond doubt.
func (l *Ledger) answeredBefore(g *Grant, o *Op) bool {
	return g.Process != o.Process && Later(l.From(g, o.By()), o.OK) < g.Inv
}

// refusedMeanwhile says whether o, an extension that was asked for before the history told
// of g, was refused it: it names g, or g had been granted before.
func (l *Ledger) refusedMeanwhile(g *Grant, o *Op) bool {
	if o.Fence != 0 {
		return g.Bears(o.Fence)
	}
	return g.Process != o.Process && Later(l.From(g, o.By()), g.OK) < o.Inv
}

// renewed books a round of automatic renewal, which has no invocation.
func (l *Ledger) renewed(e *history.Event) {
	h := l.HolderOf(l.Key(e.Key), l.Owner(e.Owner))
	o := l.newOp(e, h)
	o.Outcome, o.OK, o.OKIdx = e.Kind, e.Time, e.Index
	if e.Began <= e.Time {
		o.Inv = e.Began
	}
	o.narrow(e)
	o.learn(e)
	l.Under(o, h.spokenOf(o.Inv, o.Fence, o.Process))
	if o.Grant != nil {
		o.Grant.Renewed = true
		l.moved(e, o)
	} else {
		l.strayed(o)
	}
	l.recycle(o)
}

// at is the lease that a renewal at t, or a loss, was of: the latest that had
// begun, or the one before when the token says so.
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

// Bearing is the latest of h's remembered leases with this token, one that goes on when
// there is one; or nil.
func (h *Holder) Bearing(fence uint64) (best *Grant) {
	for x := range h.Leases {
		if x.Bears(fence) && (best == nil || x.GoesOn() && !best.GoesOn() || x.GoesOn() == best.GoesOn() && x.OKIdx > best.OKIdx) {
			best = x
		}
	}
	return best
}

// forgot says whether this token, which no lease bears that is remembered, may be of an
// older one than g: its owner was granted others, then.
func (g *Grant) forgot(fence uint64) bool {
	return fence != 0 && fence < g.Fence && !g.Bears(fence) && g.Holder.granted > 1
}

// acted is the lease that an extension or release is of: the latest, unless the
// token names an older one, or, without a token, the process is the one that took
// the one before. It is nil when that is forgotten.
func (h *Holder) acted(o *Op) *Grant {
	g, before := h.Grant, h.Prior
	switch {
	case g == nil || before == nil && g.Bears(o.Fence):
		return g
	case g.Bears(o.Fence):
		if before.Bears(o.Fence) && before.takenBy(o.Process) && !g.takenBy(o.Process) && before.GoesOn() && before.Deadline > o.Inv {
			return before
		}
		return g
	case before == nil:
	case before.Bears(o.Fence),
		o.Fence == 0 && o.Action == history.Release && g.ReleasedAt != Never && !g.owesRelease(before, o) && (before.ReleasedAt == Never || before.ReleaseToken() != 0 && before.Strange(before.ReleaseToken())),
		o.Fence == 0 && before.ReleasedAt == Never && before.takenBy(o.Process) && !g.takenBy(o.Process):
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

// owesRelease says whether o, a release behind another process's one of g, is of g all the
// same: its process took g, when its owner's lease before had run out, or it had been told
// that it was gone.
func (g *Grant) owesRelease(before *Grant, o *Op) bool {
	over := before.Latest() <= g.Inv && before.Process == o.Process || before.RefusedTo(o.Process, g.InvIdx)
	return g.ReleasedBy != o.Process && g.Process == o.Process && over
}

// moved gives an extended lease its deadline. A refused extension ends the
// definite hold: the caller has been told no.
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

// change dispatches that o moved its lease's deadline from old.
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

// lost books what the library told its user: the lease is gone.
func (l *Ledger) lost(e *history.Event, h *Holder) {
	g := h.spokenOf(ToldAt(e), e.Fence, e.Process)
	if g != nil && g.TwoTokens() && e.Fence != 0 && len(g.Rare.losses) < MaxDenials {
		g.Rare.losses = append(g.Rare.losses, givenBack{e.Time, e.Index, e.Process, e.Fence})
	}
	if g == nil || g.LostAt != Never && (!g.Strange(g.LossToken()) || g.Strange(e.Fence)) { // unless that word may have been of another lease
		return
	}
	g.LostAt, g.LostIdx, g.LostBy = e.Time, e.Index, e.Process
	g.stampedBy(l.By(e))
	if g.Strange(e.Fence) || g.Rare != nil {
		g.Rarely().lossToken = e.Fence
	}
	l.fact = Fact{Kind: Lost, Event: e, Grant: g, Key: h.Key}
	l.Dispatch()
	g.stopAt(ToldAt(e), e.Index, e.Process)
	h.stopBeside(g, l.By(e), e.Fence, ToldAt(e), e.Index, false)
}

// spokenOf is the lease that a renewal at t, or a loss, was of that a process was told:
// without a token, rather the one that the process took, of the two latest.
func (h *Holder) spokenOf(t time.Duration, fence uint64, process int) *Grant {
	g := h.at(t, fence)
	if x := h.Grant; fence == 0 && g != nil && g != x && x.takenBy(process) && !g.takenBy(process) {
		return x
	}
	if p := h.Prior; fence == 0 && g == h.Grant && p != nil && p.GoesOn() && p.takenBy(process) && !g.takenBy(process) {
		return p
	}
	return g
}

// ToldAt is when the library told of a loss. Its user may have heard of it later,
// at the event's time: a client that stands still is told nothing.
func ToldAt(e *history.Event) time.Duration {
	if e.HasAll(history.HasBegan) && e.Began <= e.Time {
		return e.Began
	}
	return e.Time
}

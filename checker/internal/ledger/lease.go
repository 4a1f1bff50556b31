package ledger

import (
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

// deadline is until when the lease of the acquire or extension o lasts: as promised, or, where nothing
// was, as assumed reports, for the TTL less the drift.
func (l *Ledger) deadline(o *Op) (d time.Duration, assumed bool) {
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
		h.triedInVain(o, UseRefused)
		l.emit(Refused, e, o)
	default:
		h.triedInVain(o, UseUnknown)
		l.unsettled(e, o)
	}
}

// triedInVain notes that o, an acquire of h's, was refused or not answered. One asked for within a
// hold says nothing of that hold. Nor does one without an answer of somebody who wrote on meanwhile, under
// a hold that has run out but was not ended: that was asked for within its section, and the writes are late.
func (h *Holder) triedInVain(o *Op, told Use) {
	g := h.Grant
	if g != nil && (o.Inv < g.Latest() || told == UseUnknown && g.GoesOn() && h.wrote > o.InvIdx) {
		return
	}
	h.tried, h.vain = told, o.asking()
}

// granted notes a successful acquire: of a fresh lease, or of one that its owner re-enters.
func (l *Ledger) granted(e *history.Event, o *Op) {
	h := o.Holder
	h.tried = UseHeld
	d, assumed := l.deadline(o)
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
	o.MayReenter = l.mayReenterAny(h, o)
	nested, perhaps := l.nests(o)
	g := l.newGrant(h.Prior)
	h.Prior = h.Grant
	*g = Grant{}
	g.Holder, g.Mode, g.Fence, g.depth, g.Process, g.Host = h, o.Mode, o.Fence, 1, o.Process, o.Host
	g.Inv, g.InvIdx, g.Start, g.OK, g.OKIdx = o.Inv, o.InvIdx, o.Inv, o.OK, o.OKIdx
	g.Deadline, g.DeadlineIdx, g.DueBy, g.FirstDeadline, g.Assumed = d, o.OKIdx, int32(o.Process), d, assumed
	g.Waited = assumed && o.Waits
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

// mayReenterAny says whether o may have been a re-entry of any of its holder's leases. An older one than the latest
// two, of which a release was not answered, may have been re-entered by these, and be held beyond their ends.
func (l *Ledger) mayReenterAny(h *Holder, o *Op) bool {
	if l.MayReenter(h.Grant, o) || l.MayReenter(h.Prior, o) {
		return true
	}
	if o.Fence == 0 || h.Prior == nil || h.Prior.Fence != o.Fence {
		return false
	}
	for g := range h.Leases {
		if l.MayReenter(g, o) {
			return true
		}
	}
	return false
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

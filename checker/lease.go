package checker

import (
	"slices"
	"time"

	"locktorture/workload/history"
)

// deadline is until when a lease that began at start holds: as promised, or
// else for the time asked for less the drift.
func (j *Judge) deadline(o *op) (d time.Duration, stands bool) {
	if o.has&history.HasValidUntil != 0 {
		return o.until, false
	}
	return j.test.deadline(o, j.h.TTL, j.h.Drift), true
}

// acquired completes an acquire.
func (j *Judge) acquired(e *history.Event, o *op) {
	h := o.holder
	h.key.touched = max(h.key.touched, o.ok)
	switch o.outcome {
	case history.OK:
		j.granted(e, o)
		return
	case history.Fail:
		h.tried = useRefused
		j.say(refused, e, o)
	default:
		h.tried = useUnknown
		j.unsettled(e, o)
	}
}

// granted books a successful acquire: of a fresh lease, or of one that its
// owner holds already.
func (j *Judge) granted(e *history.Event, o *op) {
	h := o.holder
	h.tried = useHeld
	d, stands := j.deadline(o)
	if g := h.grant; g != nil && !h.over && g.ok <= o.ok && (g.reenteredBy(o) || h.key.last == g && g.mode == o.mode && j.lingers(g, o)) {
		g.depth++
		j.under(o, g)
		if o.process != g.by {
			g.inTrouble().entrant = o.process + 1
		}
		if o.fence != 0 && o.fence != g.fence {
			g.inTrouble().again = o.fence
		}
		old := g.d
		g.stampedBy(o.host)
		if g.trouble != nil {
			g.trouble.kept = g.served
		}
		if d > g.d {
			g.d, g.dIdx, g.start, g.longer = d, o.okIdx, o.inv, false
		}
		j.serve(g, o, d)
		j.change(reentered, e, o, old)
		return
	}
	o.again = j.lingers(h.grant, o) || j.lingers(h.prior, o)
	g := j.newGrant(h.prior)
	h.prior = h.grant
	*g = grant{}
	g.holder, g.mode, g.fence, g.depth, g.by, g.host = h, o.mode, o.fence, 1, o.process, o.host
	g.inv, g.invIdx, g.start, g.ok, g.okIdx = o.inv, o.invIdx, o.inv, o.ok, o.okIdx
	g.d, g.dIdx, g.first, g.stands = d, o.okIdx, d, stands
	g.stop, g.rel, g.relOK, g.lost = never, never, never, never
	j.serve(g, o, d)
	j.under(o, g)
	j.say(granted, e, o)
	before := h.grant
	h.beside = h.beside || before != nil && (before.goesOn() || g.ok < before.ok)
	h.grant, h.over = g, false
	if before != nil && g.ok < before.ok {
		h.precede(before)
		if j.lingers(g, &op{fence: before.fence, inv: before.inv, process: before.by, host: before.host}) {
			before.inTrouble().inside = true
		}
	}
	h.key.last = h.grant
	j.remember(g)
}

// precede puts the latest lease of h, of which the history tells late, before the one
// that was granted later.
func (h *holder) precede(later *grant) {
	h.grant, h.prior, h.over = later, h.grant, later.stop != never
	h.key.unwatch(h.prior)
	if later.rel == never && later.watched == 0 {
		h.key.watchOver(later)
	}
}

// bears says whether a token is one of g's: the one that it was granted with, or the
// latest that a re-entry changed it to.
func (g *grant) bears(fence uint64) bool {
	return fence != 0 && (fence == g.fence || g.trouble != nil && fence == g.trouble.again)
}

// enteredBy says whether this process was the latest other one that re-entered g.
func (g *grant) enteredBy(process int) bool {
	return g.trouble != nil && g.trouble.entrant == process+1
}

// takenBy says whether this process was granted g, or the latest other one that
// re-entered it.
func (g *grant) takenBy(process int) bool { return g.by == process || g.enteredBy(process) }

// muddled says whether a re-entry changed g's token: of which of the two a word is
// that bears one of them is then open.
func (g *grant) muddled() bool { return g.trouble != nil && g.trouble.again != 0 }

// strange says whether a word with this token may be of another lease than g.
func (g *grant) strange(fence uint64) bool {
	return fence != 0 && g.fence != 0 && (fence != g.fence || g.muddled())
}

// concerns says whether word, the token of a word that ended g (0 when there was
// none), tells a writer with this token for sure that it holds nothing.
func (g *grant) concerns(word, fence uint64) bool {
	return !g.strange(word) || g.muddled() && word == fence
}

// reenteredBy says whether an acquire by the same owner found it still holding.
func (g *grant) reenteredBy(o *op) bool {
	if g.stop != never || g.mode != o.mode {
		return false
	}
	return o.ok < g.d || o.inv < g.d && o.fence == g.fence && g.fence != 0
}

// named is the lease that the completion of o names, when it is not the one that o
// seemed to be of; else nil.
func (h *holder) named(o *op) *grant {
	g := h.grant
	switch {
	case o.fence == 0:
		return nil
	case o.grant == nil || !o.grant.bears(o.fence):
	case o.what == history.Extend && o.grant != g && g.bears(o.fence) && o.grant.stop != never && o.grant.stopIdx < o.invIdx:
		return g // that one was over, and this was granted meanwhile
	default:
		return nil
	}
	if of := h.acted(o); of != nil && of != o.grant && (o.grant == nil || of.bears(o.fence)) {
		return of
	}
	return nil
}

// serve books that o made the servers keep g: for the TTL, or for as long as was
// promised by it, from when they were asked, which was before o was answered.
func (j *Judge) serve(g *grant, o *op, d time.Duration) {
	length := j.lasting(o, d)
	g.served = max(g.served, later(o.ok, length))
	k := g.holder.key
	k.served, j.longest = max(k.served, g.served), max(j.longest, length)
}

// lasting is how long the servers may keep a lease that o began or extended until d.
func (j *Judge) lasting(o *op, d time.Duration) time.Duration {
	if d-o.inv > j.h.TTL-j.h.Drift {
		return later(j.h.Drift, d-o.inv)
	}
	return j.h.TTL
}

// length is how long the lease that o gave was asked for.
func (j *Judge) length(o *op) time.Duration {
	d, _ := j.deadline(o)
	return j.lasting(o, d)
}

// lingers says whether o, which its owner was granted with the token of g, may have
// found g on the servers: its promise may be over by then, but not their TTL.
func (j *Judge) lingers(g *grant, o *op) bool {
	if g == nil || g.fence == 0 || g.fence != o.fence {
		return false
	}
	switch {
	case j.overBefore(g, o):
		return false
	case g.trouble != nil && g.trouble.vague > 0: // it may be carried out at any time
		return true
	}
	return o.inv <= later(j.from(g, o.host), g.served)
}

// overBefore says whether g had been given back, or its owner been told that it was
// gone, before o was asked for.
func (j *Judge) overBefore(g *grant, o *op) bool {
	eps := j.from(g, o.host)
	gone := func(t time.Duration, by int) bool { return by == o.process && t <= o.inv || t+eps < o.inv }
	for no := g.denied(); no != nil; no = no.next {
		if gone(no.t, no.by) {
			return true
		}
	}
	return g.relOK != never && gone(g.relOK, g.relBy)
}

// extending says whether an extension of one of k's leases is under way.
func (k *key) extending() bool {
	return slices.ContainsFunc(k.held, func(g *grant) bool { return g.extends > 0 })
}

// extensionDone completes an extension that was invoked.
func (j *Judge) extensionDone(e *history.Event, o *op) {
	switch {
	case o.grant != nil:
		o.grant.extends--
	case o.holder.grant != nil && !o.holder.grant.forgot(o.fence) && (o.outcome == history.OK || o.outcome == history.Fail && o.fence != 0 && o.holder.grant.bears(o.fence)): // granted meanwhile
		j.under(o, o.holder.grant)
	default:
		if o.outcome == history.Info {
			j.unsettled(e, o)
		}
		j.strayed(o)
		return
	}
	if of := o.holder.named(o); of != nil { // it says only now which lease it was of
		j.under(o, of)
	}
	if o.outcome == history.Fail {
		o.grant.deny(o)
		j.denyBeside(o)
	}
	j.moved(e, o)
}

// renewed books a round of automatic renewal, which has no invocation.
func (j *Judge) renewed(e *history.Event) {
	h := j.holderOf(j.key(e.Key), j.owner(e.Owner))
	o := j.newOp(e, h)
	o.outcome, o.ok, o.okIdx = e.Kind, e.Time, e.Index
	if e.Began <= e.Time {
		o.inv = e.Began
	}
	o.narrow(e)
	o.take(e)
	j.under(o, h.at(o.inv, o.fence))
	if o.grant != nil {
		o.grant.renewed = true
		j.moved(e, o)
	} else {
		j.strayed(o)
	}
	j.recycle(o)
}

// at is the lease that a renewal at t, or a loss, was of: the latest that had
// begun, or the one before when the token says so.
func (h *holder) at(t time.Duration, fence uint64) *grant {
	g := h.grant
	p := h.prior
	switch {
	case g == nil || p == nil || g.bears(fence) && !p.bears(fence):
		return g
	case p.bears(fence) && !g.bears(fence), t < g.inv && p.relOK > t:
		return p
	case g.forgot(fence):
		return nil
	}
	return g
}

// forgot says whether this token, which no lease bears that is remembered, is older
// than g's.
func (g *grant) forgot(fence uint64) bool {
	return fence != 0 && fence < g.fence && !g.bears(fence)
}

// acted is the lease that an extension or release is of: the latest, unless the
// token names an older one, or, without a token, the process is the one that took
// the one before. It is nil when that is forgotten.
func (h *holder) acted(o *op) *grant {
	g, before := h.grant, h.prior
	switch {
	case g == nil || before == nil && g.bears(o.fence):
		return g
	case g.bears(o.fence):
		if before.bears(o.fence) && before.by == o.process && !g.takenBy(o.process) && before.goesOn() && before.d > o.inv {
			return before
		}
		return g
	case before == nil:
	case before.bears(o.fence),
		o.fence == 0 && o.what == history.Release && g.rel != never && before.rel == never,
		o.fence == 0 && o.process == before.by && !g.takenBy(o.process) && before.rel == never:
		return before
	}
	if g.forgot(o.fence) {
		return nil
	}
	return g
}

// moved gives an extended lease its deadline. A refused extension ends the
// definite hold: the caller has been told no.
func (j *Judge) moved(e *history.Event, o *op) {
	g := o.grant
	g.stampedBy(o.host)
	g.holder.key.touched = max(g.holder.key.touched, o.ok)
	switch o.outcome {
	case history.OK:
		old := g.d
		if g.muddled() {
			g.trouble.most = max(g.trouble.most, g.d)
		}
		if g.resumes(o) {
			old = g.end()
			g.stop, g.trouble.perhaps = never, false
			o.holder.over = o.holder.over && g != o.holder.grant
		}
		d, stands := j.deadline(o)
		g.d, g.start, g.dIdx, g.stands, g.longer = d, o.inv, o.okIdx, stands, true
		j.serve(g, o, d)
		o.holder.moveBeside(g, o.fence, d)
		if o.fence == 0 {
			o.fence = g.fence
		}
		j.recall(g)
		j.change(extended, e, o, old)
	case history.Fail:
		g.stopAt(o.ok, o.okIdx)
		o.holder.stopBeside(g, o.process, o.fence, o.ok, o.okIdx)
		j.say(unmoved, e, o)
	default:
		g.inTrouble().vague++
		g.holder.key.unsure = max(g.holder.key.unsure, o.ok)
		j.say(unmoved, e, o)
		j.unsettled(e, o)
	}
}

// change dispatches that o moved its lease's deadline from old.
func (j *Judge) change(w what, e *history.Event, o *op, old time.Duration) {
	j.f = fact{what: w, e: e, op: o, grant: o.grant, key: o.holder.key, old: old}
	j.dispatch(&j.f)
}

// lost books what the library told its user: the lease is gone.
func (j *Judge) lost(e *history.Event, h *holder) {
	g := h.lostBy(e)
	if g == nil || g.lost != never {
		return
	}
	g.lost, g.lostIdx, g.lostBy = e.Time, e.Index, e.Process
	g.stampedBy(j.host(e))
	if g.strange(e.Fence) || g.trouble != nil {
		g.inTrouble().lostWord = e.Fence
	}
	j.f = fact{what: lost, e: e, grant: g, key: h.key}
	j.dispatch(&j.f)
	g.stopAt(said(e), e.Index)
	h.stopBeside(g, e.Process, e.Fence, said(e), e.Index)
}

// lostBy is the lease that the loss in e was of: without a token, rather the one before
// where its process took that, and not the latest.
func (h *holder) lostBy(e *history.Event) *grant {
	g := h.at(said(e), e.Fence)
	if p := h.prior; e.Fence == 0 && g == h.grant && p != nil && p.goesOn() && p.takenBy(e.Process) && !g.takenBy(e.Process) {
		return p
	}
	return g
}

// said is when the library told of a loss. Its user may have heard of it later,
// at the event's time: a client that stands still is told nothing.
func said(e *history.Event) time.Duration {
	if e.HasAll(history.HasBegan) && e.Began <= e.Time {
		return e.Began
	}
	return e.Time
}

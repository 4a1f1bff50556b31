package ledger

import (
	"math"
	"slices"
	"time"

	"locktorture/workload/history"
)

// A storeLog is what the store did to one key, in the store's own order. A write is held back
// only while another open write of the key may have landed before it.
type storeLog struct {
	open    queue // writes invoked and not completed
	pending []*Op // with a seq, in its order, behind an open one
	top     uint64
	high    Mark        // the write that carried top, the highest token so far
	Order   tokenOrder  // how top grew, in the store's order
	timed   []timedMark // the same, of writes that have no number
	Recent  []timedMark // the latest of those with a token, for one that is told behind them
	Dropped bool        // there were more
	fresh   []*Op       // unknown writes that no higher token has followed yet

	LateTop  uint64 // highest token among unknown writes that the audit settled
	LateHigh Mark
}

// issueWrite applies a write's invocation: what its owner knew of its lease, and which sequence
// numbers it can no longer get.
func (l *Ledger) issueWrite(o *Op) {
	h := o.Holder
	h.wrote = o.InvIdx
	if g, p := o.Grant, h.Prior; g != nil && p != nil {
		named := !g.Bears(o.Fence) && p.Bears(o.Fence) && (p.GoesOn() || !g.TwoTokens()) && (o.Inv < p.Latest() || !g.bore(o.Fence))
		either := g.Bears(o.Fence) == p.Bears(o.Fence) // its token does not tell which
		longer := either && (p.Latest() > g.Latest() || p.Latest() == g.Latest() && p.Deadline > g.Deadline) && p.GoesOn() && g.GoesOn() &&
			!(o.Late && l.DeadlineFor(p, o.Inv, o.By()) < l.DeadlineFor(g, o.Inv, o.By()))
		elsewhere := either && p.Deadline > g.Latest() && h.tried != UseHeld && p.lostElsewhere(o.Process)
		left := either && (p.Process == o.Process || o.Inv < p.Deadline) && !g.acquiredBy(o.Process) && p.GoesOn() && !g.GoesOn() && o.Inv >= g.End()
		if named || longer || left || elsewhere {
			l.Under(o, p)
		}
	}
	if x := h.older(o); x != nil {
		l.Under(o, x)
	}
	if x := h.outer(o); x != nil {
		l.Under(o, x)
	}
	o.Use = l.right(h, o)
	l.overdue(o)
	o.floor = l.maxSeq
	if k := h.Key; o.Fence > k.Newest {
		k.Newest = o.Fence
	}
	log := &h.Key.Log
	if log.top > o.Fence && o.Fence != 0 {
		o.Doubt().above = TokenMark{log.high, log.top}
	}
	log.open.push(o)
}

// older is the remembered lease under which o may have been issued where neither of h's two
// latest leases both bears its token and lasts; else nil.
func (h *Holder) older(o *Op) *Grant {
	if !h.beside {
		return nil
	}
	borne := false // by one of them, which is over
	for _, x := range [...]*Grant{h.Grant, h.Prior} {
		if x != nil && (x.Bears(o.Fence) && x.GoesOn() && o.Inv < x.Latest() || o.Fence == 0 && (!x.GoesOn() || o.Inv < x.Latest())) {
			return nil
		}
		borne = borne || x != nil && x.bore(o.Fence)
	}
	var best *Grant // one that goes on, or else the latest
	for x := range h.Leases {
		lasts := x.GoesOn() && o.Inv < x.Latest()
		named := x.Bears(o.Fence) && (lasts || !borne) || o.Fence == 0 && lasts
		if named && (best == nil || x.GoesOn() && !best.GoesOn() || x.GoesOn() == best.GoesOn() && x.OKIdx > best.OKIdx) {
			best = x
		}
	}
	return best
}

// outer is the lease of o's owner that is left when the one that o seems to be under was
// released, and had been a re-entry into another: the one that lasts longest; nil when there is
// none.
func (h *Holder) outer(o *Op) (best *Grant) {
	g := o.Grant
	if g == nil || g.Rare == nil || !g.Rare.nested || g.ReleasedAt == Never || g.Releasing && g.ReleaseOK == Never {
		return nil
	}
	for x := range h.Leases {
		if x != g && x.GoesOn() && x.ReleasedAt == Never && x.Mode == g.Mode && o.MayBeOf(x) && (best == nil || x.Latest() > best.Latest()) {
			best = x
		}
	}
	return best
}

// ahead says whether o, a write, was by its own stamps issued before its owner was granted the
// lease that it seemed to be under, and sets the lease that it was under.
func (l *Ledger) ahead(o *Op) bool {
	if g := o.Grant; g == nil || !l.grantedBehind(g, o) {
		return false
	}
	var best *Grant
	leases := int32(0)
	for x := range o.Holder.Leases {
		leases++
		if !l.grantedBehind(x, o) && (best == nil || x.suits(o) > best.suits(o) || x.suits(o) == best.suits(o) && x.OK > best.OK) {
			best = x
		}
	}
	if best == nil && leases < o.Holder.granted {
		l.AheadOfKnown++
		return false
	}
	l.Under(o, best)
	if o.Use = UseNever; best != nil {
		o.Use = l.right(o.Holder, o)
	}
	if o.Doubts != nil {
		o.Doubts.Late = nil // that was by another lease
	}
	return true
}

// grantedBehind says whether g was surely granted after o was issued: by the clocks, unless the
// order of one process's events says otherwise.
func (l *Ledger) grantedBehind(g *Grant, o *Op) bool {
	return Later(l.From(g, o.By()), o.Inv) < g.OK && g.Process != o.Process && !g.enteredBefore(o.Process, o.InvIdx)
}

// suits ranks g among the leases under which o may have been issued: one with its token before
// others, and one that lasted then.
func (g *Grant) suits(o *Op) (n int) {
	if g.Bears(o.Fence) {
		n += 2
	}
	if o.Inv < g.End() {
		n++
	}
	return n
}

// right is what h's owner knew of its lease when it issued o. Until a release is answered its
// owner may not have begun it: a child process receives it later. Of two releases under way the
// first answer counts.
func (l *Ledger) right(h *Holder, o *Op) Use {
	g := o.Grant
	switch {
	case g == nil && h.tried != UseHeld:
		return h.tried
	case g == nil:
		return UseNever
	case g.ReleasedAt != Never && (!g.Releasing || g.ReleaseOK != Never):
		return UseReleased
	case g != h.Grant && g.lostElsewhere(o.Process):
		return UseHeld
	case g.ReportedLost():
		return UseLost
	case g.Refused() != nil:
		return UseDenied
	case g == h.Grant && o.Inv >= g.Latest() && !l.heldBefore(h, o) && !l.triedSince(h, o):
		return h.tried // useHeld unless it tried again since
	}
	return UseHeld
}

// triedSince says whether h's latest refused attempt was surely made after o, which by its own
// stamps was issued before its line.
func (l *Ledger) triedSince(h *Holder, o *Op) bool {
	return h.vain.by != o.Process && h.vain.idx < o.InvIdx && Later(l.Clocks.Widest, o.Inv) < h.vain.inv
}

// heldBefore says whether another lease of h's than its latest may still last when o is issued.
func (l *Ledger) heldBefore(h *Holder, o *Op) bool {
	for p := range h.Leases {
		if p == h.Grant || o.Inv >= p.Latest() {
			continue
		}
		released := p.ReleasedAt != Never && !(p.Releasing && p.ReleaseOK == Never) && (p.Rare == nil || !p.Rare.mayNest)
		refused := p.Refused() != nil && !p.partlyRefused() && !p.TwoTokens()
		over := released || refused || p.LostAt != Never && !p.MayNameOther(p.LossToken()) && !p.Reentered()
		if p.GoesOn() || !over || l.MayBeAcquiredSince(p, o) {
			return true
		}
	}
	return false
}

// written completes a write.
func (l *Ledger) written(e *history.Event, o *Op) {
	log := &o.Holder.Key.Log
	l.emit(Wrote, e, o)
	if o.Has&history.HasSeq != 0 {
		l.maxSeq = max(l.maxSeq, o.Seq)
	}
	switch {
	case o.Outcome == history.OK && o.Has&history.HasSeq == 0:
		l.land(e, o, o.OKIdx, 0, false)
	case o.Outcome == history.Info:
		if o.Newer().Seq == 0 {
			log.fresh = append(log.fresh, o)
		}
		l.unknown[o.Value] = o
		l.unsettled(e, o)
	case o.Has&history.HasSeq == 0: // refused before it was sent
	case log.open.Head == nil && len(log.pending) == 0:
		l.place(e, o)
		return
	default:
		o.Kept = true
		log.wait(o)
	}
	l.flush(e, log)
}

// wait inserts a write that the store numbered into the writes that are held back.
func (l *storeLog) wait(o *Op) {
	i := len(l.pending)
	for i > 0 && l.pending[i-1].Seq > o.Seq {
		i--
	}
	l.pending = slices.Insert(l.pending, i, o)
}

// flush lands every write that no open one can precede any more.
func (l *Ledger) flush(e *history.Event, log *storeLog) {
	limit := uint64(math.MaxUint64)
	if log.open.Head != nil {
		limit = log.open.Head.floor
	}
	n := 0
	for n < len(log.pending) && log.pending[n].Seq <= limit {
		o := log.pending[n]
		n++
		l.place(e, o)
	}
	log.pending = slices.Delete(log.pending, 0, n)
}

// place shows a write at its place in the store's order, accepted or not.
func (l *Ledger) place(e *history.Event, o *Op) {
	if o.Outcome == history.Fail {
		l.emit(Rejected, e, o)
		return
	}
	l.land(e, o, o.OKIdx, o.Seq, false)
}

// land shows an accepted write to the rules, and moves the log on. The event at
// idx proves it; late is one that the store's log settled.
func (l *Ledger) land(e *history.Event, o *Op, idx int, seq uint64, late bool) {
	log := &o.Holder.Key.Log
	w := &l.landing
	w.Op, w.Idx, w.Seq, w.Late, w.Top, w.High = o, idx, seq, late, log.top, log.high
	w.Below, w.Lost = TokenMark{}, false
	here := Mark{seq, idx}
	if o.Fence != 0 {
		log.rank(w, here, &l.Clocks)
	}
	l.fact.Landing = w
	l.emit(Landed, e, o)
	switch {
	case seq == 0:
		l.timed(o, idx)
	case late:
		if o.Fence > log.LateTop {
			log.LateTop, log.LateHigh = o.Fence, here
		}
	default:
		log.pass(o, here)
		if o.Fence > log.top {
			log.top, log.high = o.Fence, here
		}
	}
}

// rank says which tokens were accepted before and behind w: in the store's order,
// or, of writes without a number, in the order of their events.
func (l *storeLog) rank(w *Landing, here Mark, clock *Clocks) {
	if w.Seq == 0 {
		for _, m := range l.timed {
			if w.Op.Outcome == history.OK && m.Fence > w.Op.Fence && m.before(w.Op, clock) {
				w.Top, w.High = m.Fence, Mark{0, m.Idx}
				return
			}
		}
		w.Top = 0
		for _, m := range l.Recent { // one process's own order tells more
			if m.By.Process == w.Op.Process && m.InIdx < w.Op.InvIdx && m.Fence > max(w.Op.Fence, w.Top) && w.Op.Outcome == history.OK {
				w.Top, w.High = m.Fence, Mark{0, m.Idx}
			}
		}
		return
	}
	above, below, ok := l.Order.add(TokenMark{here, w.Op.Fence})
	w.Top, w.High, w.Below, w.Lost = above.Fence, above.Mark, below, !ok
}

// A timedMark is an accepted write that has no number, and when it was answered.
type timedMark struct {
	Idx   int
	Fence uint64
	ok    time.Duration
	By    Stamper
	Inv   time.Duration
	InIdx int // of its invocation
}

// before says whether m was answered before o was issued. One process's own order
// needs no clock.
func (m timedMark) before(o *Op, clock *Clocks) bool {
	return m.By.Process == o.Process || m.ok+clock.Apart(m.By, o.By()) < o.Inv
}

// timed adds a write without a number to those with which others without a number are compared,
// and drops those after which every open write surely came.
func (l *Ledger) timed(o *Op, idx int) {
	log := &o.Holder.Key.Log
	me := timedMark{idx, o.Fence, o.OK, o.By(), o.Inv, o.InvIdx}
	if o.Outcome == history.OK && o.Fence != 0 && l.Header.Fenced {
		log.remember(me)
	}
	if l.Clocks.Several() {
		l.timedByHost(log, o, me)
		return
	}
	if o.Outcome == history.OK {
		log.rise(me)
	}
	bound := o.Inv
	if log.open.Head != nil {
		bound = min(bound, log.open.Head.Inv)
	}
	past := 0
	for past+1 < len(log.timed) && log.timed[past+1].ok+l.Header.Epsilon < bound {
		past++
	}
	log.timed = log.timed[:copy(log.timed, log.timed[past:])]
}

// rise adds me to the writes by which tokens rose, in the order of their answers: one of which
// the history tells late may have been answered before others.
func (l *storeLog) rise(me timedMark) {
	i := len(l.timed)
	for i > 0 && l.timed[i-1].ok > me.ok {
		i--
	}
	if i > 0 && l.timed[i-1].Fence >= me.Fence {
		return
	}
	past := i
	for past < len(l.timed) && l.timed[past].Fence <= me.Fence {
		past++
	}
	l.timed = slices.Replace(l.timed, i, past, me)
}

// lateTimed is how many writes without a number are remembered of a key, to compare with one of
// which the history tells after them.
const lateTimed = 32

func (l *storeLog) remember(me timedMark) {
	if len(l.Recent) == lateTimed {
		l.Recent, l.Dropped = l.Recent[:copy(l.Recent, l.Recent[1:])], true
	}
	l.Recent = append(l.Recent, me)
}

// timedByHost does the same where the clock bounds of hosts differ: of two writes of one host,
// the later one without a higher token adds nothing.
func (l *Ledger) timedByHost(log *storeLog, o *Op, me timedMark) {
	known := func(m timedMark) bool { return m.By.Host == me.By.Host && m.Fence >= me.Fence && m.ok <= me.ok }
	if o.Outcome == history.OK && !slices.ContainsFunc(log.timed, known) {
		log.timed = append(log.timed, me)
	}
	bound := o.Inv
	if log.open.Head != nil {
		bound = min(bound, log.open.Head.Inv)
	}
	var top uint64 // of those that every write still open came after
	for _, m := range log.timed {
		if m.ok+l.Header.Epsilon < bound {
			top = max(top, m.Fence)
		}
	}
	log.timed = slices.DeleteFunc(log.timed, func(m timedMark) bool { return m.Fence < top })
}

// passable is how many writes are compared with one whose outcome is unknown.
const passable = 64

// pass tells the writes of the key whose outcome is unknown that w was accepted. The first
// higher token decides all that can be decided about them.
func (l *storeLog) pass(w *Op, here Mark) {
	for o := l.open.Head; o != nil; o = o.Next {
		o.pass(w, here)
	}
	if len(l.fresh) == 0 {
		return
	}
	l.fresh = slices.DeleteFunc(l.fresh, func(u *Op) bool {
		u.Doubt().passed++
		return u.Settled != 0 || u.pass(w, here) || u.Doubts.passed > passable
	})
}

// pass compares o with an accepted write, and reports whether later ones can add nothing.
func (o *Op) pass(w *Op, here Mark) bool {
	const base = history.HasBase
	if o.Has&w.Has&base != 0 && o.Base == w.Base && o.Doubt().Rival.Seq == 0 {
		o.Doubts.Rival = w.Update(here)
	}
	switch {
	case w.Fence > o.Fence && o.Newer().Seq == 0:
		o.Doubt().above = TokenMark{here, w.Fence}
	case w.Fence != 0 && w.Fence < o.Fence:
		o.Doubt().Below = TokenMark{here, w.Fence}
	}
	return o.Newer().Seq != 0
}

// Wronged says whether a store that compares tokens rejected a write of the holder of the
// newest token, within its lease.
func (l *Ledger) Wronged(o *Op) bool {
	newest := o.Settled == 0 && o.Fence != 0 && o.Fence >= o.Holder.Key.Newest
	return newest && o.Mode == history.Exclusive && o.Has&history.HasBase == 0 && l.Rightful(o)
}

// Rightful says whether a write to a store that compares tokens was issued and answered within
// the lease whose token it bore: whatever the store says of it, it is not stale.
func (l *Ledger) Rightful(o *Op) bool {
	if !l.Header.Fenced {
		return false
	}
	if g := o.Grant; g != nil && g.bore(o.Fence) {
		return (o.Use == UseHeld || l.ReenteredMeanwhile(g, o)) && l.LastsBeyond(g, o.OK, o.OKIdx, o.By())
	}
	g := o.Holder.Grant // of which the history told only when o was under way
	return g != nil && g.OKIdx > o.InvIdx && g.bore(o.Fence) && g.Process != o.Process && g.OK+l.From(g, o.By()) < o.Inv && Later(l.From(g, o.By()), o.OK) < g.End()
}

// Saves says whether the rejection of o kept something stale from the resource: what whoever
// did not hold the key any more wrote, or who held it beside another with a newer token.
func (l *Ledger) Saves(o *Op) bool {
	if !l.Rightful(o) {
		return true
	}
	beside := func(g *Grant) bool { return g.Holder != o.Holder && g.Fence > o.Fence && o.Inv < g.End() }
	return !l.Wronged(o) && slices.ContainsFunc(o.Holder.Key.Held, beside)
}

// bore says whether a token is or was one of g's, which re-entries may have changed several
// times.
func (g *Grant) bore(fence uint64) bool {
	return fence != 0 && slices.Contains(slices.Collect(g.Tokens), fence)
}

// Writing yields h's writes under way.
func (h *Holder) Writing(yield func(*Op) bool) {
	for o := h.Key.Log.open.Head; o != nil; o = o.Next {
		if o.Holder == h && !yield(o) {
			return
		}
	}
}

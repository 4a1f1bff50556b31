package checker

import (
	"math"
	"slices"
	"time"

	"locktorture/workload/history"
)

// A storeLog is what the store did to one key, put into the store's own order.
// Writes are held back only while another one of the key is open that may have
// landed before them.
type storeLog struct {
	open    line  // writes invoked and not completed
	pending []*op // with a seq, in its order, behind an open one
	top     uint64
	high    mark        // the write that carried top, the highest token so far
	climb   climb       // how top grew, in the store's order
	timed   []timedMark // the same, of writes that have no number
	lately  []timedMark // the latest of those with a token, for one that is told behind them
	unkept  bool        // there were more
	fresh   []*op       // unknown writes that no higher token has followed yet

	lateTop  uint64 // highest token among unknown writes that the audit settled
	lateHigh mark
}

// issue books a write's invocation: by what right it is made, and which
// sequence numbers it can no longer get.
func (j *Judge) issue(o *op) {
	h := o.holder
	if g, p := o.grant, h.prior; g != nil && p != nil {
		named := !g.bears(o.fence) && p.bears(o.fence)
		either := g.bears(o.fence) == p.bears(o.fence) // its token does not tell which
		longer := either && p.d > g.d && p.goesOn() && g.goesOn()
		elsewhere := either && p.d > g.latest() && h.tried != useHeld && p.lostElsewhere(o.process)
		left := either && p.by == o.process && !g.takenBy(o.process) && p.goesOn() && !g.goesOn()
		if named || longer || left || elsewhere {
			j.under(o, p)
		}
	}
	o.use = h.right(o)
	j.overdue(o)
	o.floor = j.maxSeq
	if k := h.key; o.fence > k.books.newest {
		k.books.newest = o.fence
	}
	log := &h.key.log
	if log.top > o.fence && o.fence != 0 {
		o.doubt().above = tokenMark{log.high, log.top}
	}
	log.open.push(o)
}

// right says what h's owner knew when it issued o. Until a release is answered
// its owner may not have begun it: a child process hears of it later. Of two releases
// under way the first answer counts.
func (h *holder) right(o *op) use {
	g := o.grant
	switch {
	case g == nil && h.tried != useHeld:
		return h.tried
	case g == nil:
		return useNever
	case g.rel != never && (!g.leaving || g.relOK != never):
		return useReleased
	case g != h.grant && g.lostElsewhere(o.process):
		return useHeld
	case g.reportedLost():
		return useLost
	case g.denied() != nil:
		return useDenied
	case g == h.grant && o.inv >= g.latest():
		return h.tried // useHeld unless it tried again since
	}
	return useHeld
}

// written completes a write.
func (j *Judge) written(e *history.Event, o *op) {
	log := &o.holder.key.log
	j.say(wrote, e, o)
	if o.has&history.HasSeq != 0 {
		j.maxSeq = max(j.maxSeq, o.seq)
	}
	switch {
	case o.outcome == history.OK && o.has&history.HasSeq == 0:
		j.land(e, o, o.okIdx, 0, false)
	case o.outcome == history.Info:
		if o.newer().seq == 0 {
			log.fresh = append(log.fresh, o)
		}
		j.unknown[o.value] = o
		j.unsettled(e, o)
	case o.has&history.HasSeq == 0: // refused before it was sent
	case log.open.head == nil && len(log.pending) == 0:
		j.place(e, o)
		return
	default:
		j.keepOp(tieWaiting, o)
		log.wait(o)
	}
	j.flush(e, log)
}

// wait puts a write that the store numbered in line.
func (l *storeLog) wait(o *op) {
	i := len(l.pending)
	for i > 0 && l.pending[i-1].seq > o.seq {
		i--
	}
	l.pending = slices.Insert(l.pending, i, o)
}

// flush lands every write that no open one can precede any more.
func (j *Judge) flush(e *history.Event, l *storeLog) {
	limit := uint64(math.MaxUint64)
	if l.open.head != nil {
		limit = l.open.head.floor
	}
	n := 0
	for n < len(l.pending) && l.pending[n].seq <= limit {
		o := l.pending[n]
		n++
		j.place(e, o)
	}
	l.pending = slices.Delete(l.pending, 0, n)
}

// place shows a write at its place in the store's order, accepted or not.
func (j *Judge) place(e *history.Event, o *op) {
	if o.outcome == history.Fail {
		j.say(rejected, e, o)
		return
	}
	j.land(e, o, o.okIdx, o.seq, false)
}

// land shows an accepted write to the rules, and moves the log on. The event at
// idx proves it; late is one that the store's log settled.
func (j *Judge) land(e *history.Event, o *op, idx int, seq uint64, late bool) {
	log := &o.holder.key.log
	l := &j.landing
	l.op, l.idx, l.seq, l.late, l.top, l.high = o, idx, seq, late, log.top, log.high
	l.below, l.lost = tokenMark{}, false
	here := mark{seq, idx}
	if o.fence != 0 {
		log.rank(l, here, &j.clock)
	}
	j.f.land = l
	j.say(landed, e, o)
	switch {
	case seq == 0:
		j.timed(o, idx)
	case late:
		if o.fence > log.lateTop {
			log.lateTop, log.lateHigh = o.fence, here
		}
	default:
		log.pass(o, here)
		if o.fence > log.top {
			log.top, log.high = o.fence, here
		}
	}
}

// rank says which tokens were accepted before and behind w: in the store's order,
// or, of writes without a number, in the order of their events.
func (l *storeLog) rank(w *landing, here mark, clock *bounds) {
	if w.seq == 0 {
		for _, m := range l.timed {
			if w.op.outcome == history.OK && m.fence > w.op.fence && m.before(w.op, clock) {
				w.top, w.high = m.fence, mark{0, m.idx}
				return
			}
		}
		w.top = 0
		return
	}
	above, below, ok := l.climb.add(tokenMark{here, w.op.fence})
	w.top, w.high, w.below, w.lost = above.fence, above.mark, below, !ok
}

// A timedMark is an accepted write that has no number, and when it was answered.
type timedMark struct {
	idx   int
	fence uint64
	ok    time.Duration
	by    int
	host  host
	inv   time.Duration
	inIdx int // of its invocation
}

// before says whether m was answered before o was issued. One process's own order
// needs no clock.
func (m timedMark) before(o *op, clock *bounds) bool {
	return m.by == o.process || m.ok+clock.apart(m.host, o.host) < o.inv
}

// timed adds a write without a number to those that others without are compared
// with, and drops what every write still open came after.
func (j *Judge) timed(o *op, idx int) {
	l := &o.holder.key.log
	me := timedMark{idx, o.fence, o.ok, o.process, o.host, o.inv, o.invIdx}
	if o.outcome == history.OK && o.fence != 0 && j.h.Fenced {
		l.late(me)
	}
	if j.clock.several() {
		j.timedByHost(l, o, me)
		return
	}
	if n := len(l.timed); o.outcome == history.OK && (n == 0 || o.fence > l.timed[n-1].fence) {
		l.timed = append(l.timed, me)
	}
	bound := o.inv
	if l.open.head != nil {
		bound = min(bound, l.open.head.inv)
	}
	past := 0
	for past+1 < len(l.timed) && l.timed[past+1].ok+j.h.Epsilon < bound {
		past++
	}
	l.timed = l.timed[:copy(l.timed, l.timed[past:])]
}

// lateTimed is how many writes without a number are remembered of a key, for one that is
// told behind them.
const lateTimed = 32

func (l *storeLog) late(me timedMark) {
	if len(l.lately) == lateTimed {
		l.lately, l.unkept = l.lately[:copy(l.lately, l.lately[1:])], true
	}
	l.lately = append(l.lately, me)
}

// timedByHost does so where clock bounds differ: of two writes of one host, the
// later one with no higher token tells nothing more.
func (j *Judge) timedByHost(l *storeLog, o *op, me timedMark) {
	known := func(m timedMark) bool { return m.host == me.host && m.fence >= me.fence && m.ok <= me.ok }
	if o.outcome == history.OK && !slices.ContainsFunc(l.timed, known) {
		l.timed = append(l.timed, me)
	}
	bound := o.inv
	if l.open.head != nil {
		bound = min(bound, l.open.head.inv)
	}
	var top uint64 // of those that every write still open came after
	for _, m := range l.timed {
		if m.ok+j.h.Epsilon < bound {
			top = max(top, m.fence)
		}
	}
	l.timed = slices.DeleteFunc(l.timed, func(m timedMark) bool { return m.fence < top })
}

// passable is how many writes are compared with one that is not settled.
const passable = 64

// pass tells the writes of the key that are not settled which tokens were
// accepted around them. The first higher one settles all that can be told.
func (l *storeLog) pass(w *op, here mark) {
	for o := l.open.head; o != nil; o = o.next {
		o.pass(w, here)
	}
	if len(l.fresh) == 0 {
		return
	}
	l.fresh = slices.DeleteFunc(l.fresh, func(u *op) bool {
		u.doubt().passed++
		return u.settled != 0 || u.pass(w, here) || u.doubts.passed > passable
	})
}

// pass compares o with an accepted write, and reports whether later ones can
// add nothing.
func (o *op) pass(w *op, here mark) bool {
	const base = history.HasBase
	if o.has&w.has&base != 0 && o.base == w.base && o.doubt().rival.seq == 0 {
		o.doubts.rival = w.update(here)
	}
	switch {
	case w.fence > o.fence && o.newer().seq == 0:
		o.doubt().above = tokenMark{here, w.fence}
	case w.fence != 0 && w.fence < o.fence:
		o.doubt().below = tokenMark{here, w.fence}
	}
	return o.newer().seq != 0
}

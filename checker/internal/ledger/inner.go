package ledger

import (
	"slices"
	"time"

	"locktorture/workload/history"
)

// An owner that re-entered a lease has several holds of it, and was told of each until when it may
// rely on it. A lock may keep one deadline for all of them, or one for each: then a hold that is
// given back leaves the lease with what the others were promised. So behind an inner release the
// lease surely goes on only for as long as the other holds were promised; it may go on until the
// deadline that it had. An inner release is of the newest hold, and so is an extension; where they
// name a token, of the newest with that token.

// A promise is until when a hold of a lease may be relied on, and what said so.
type promise struct {
	until time.Duration
	idx   int   // the event
	by    int32 // the process that stamped it
	fence uint64
}

// due is what g's owner was promised last.
func (g *Grant) due() promise { return promise{g.Deadline, g.DeadlineIdx, g.DueBy, g.Fence} }

func (g *Grant) setDue(p promise) { g.Deadline, g.DeadlineIdx, g.DueBy = p.until, p.idx, p.by }

// mostHolds is how many holds of one lease are remembered: the newest.
const mostHolds = 32

// enter notes that g's owner has one more hold of it, which p promises. The lease's own deadline has not
// been moved by it yet.
func (g *Grant) enter(p promise) {
	r := g.Rarely()
	if len(r.holds) == 0 {
		r.holds = append(r.holds, g.due())
	}
	r.holds = append(r.holds, p)
	if len(r.holds) > mostHolds {
		r.holds = slices.Delete(r.holds, 0, 1)
	}
}

// newest is the place of the newest hold with a token, or of all where none has it or none is named (0).
func (r *rare) newest(fence uint64) int {
	for i := len(r.holds) - 1; i >= 0 && fence != 0; i-- {
		if r.holds[i].fence == fence {
			return i
		}
	}
	return len(r.holds) - 1
}

// prolonged notes that an extension, which named a token or none, has moved g's deadline.
func (g *Grant) prolonged(fence uint64) {
	if g.Rare == nil || len(g.Rare.holds) == 0 {
		return
	}
	h := &g.Rare.holds[g.Rare.newest(fence)]
	h.until, h.idx, h.by = g.Deadline, g.DeadlineIdx, g.DueBy
}

// A leftHold is what an inner release gave back.
type leftHold struct {
	hold   promise
	before promise // the lease's deadline until then
	rest   promise // the latest that the other holds were promised
}

// leave applies the invocation of o, an inner release of g.
func (g *Grant) leave(o *Op) {
	g.depth--
	o.Inner = true
	r := g.Rarely()
	left := &leftHold{before: g.due()}
	if i := r.newest(o.Fence); i >= 0 {
		left.hold, r.holds = r.holds[i], slices.Delete(r.holds, i, i+1)
	}
	for _, p := range r.holds {
		if p.until > left.rest.until {
			left.rest = p
		}
	}
	o.Doubt().left = left
	if left.rest.until >= g.Deadline {
		return
	}
	if g.Extended {
		r.ExtendedBefore = extension{g.Start, g.DeadlineIdx}
	}
	g.Extended, g.Ambiguous = false, true
	r.perhapsUntil = max(r.perhapsUntil, g.Deadline)
	g.leftBy(o)
}

// leftBy sets g's deadline to what o, an inner release, leaves of it.
func (g *Grant) leftBy(o *Op) {
	r, left := g.Rare, o.Doubts.left
	at := promise{until: o.Inv, idx: o.InvIdx, by: int32(o.Process)} // it was held until then in any case
	switch {
	case at.until >= left.before.until:
		g.setDue(left.before)
	case at.until > left.rest.until:
		g.setDue(at)
	default:
		g.setDue(left.rest)
	}
	r.latest.until, r.again.until, r.dueBefore = min(r.latest.until, g.Deadline), min(r.again.until, g.Deadline), dueBy{}
	r.leaving = at
}

// heldUntilLeft says whether process itself began an inner release of g after its event at idx, which it
// stamped with t.
func (g *Grant) heldUntilLeft(t time.Duration, idx, process int) bool {
	if g.Rare == nil {
		return false
	}
	x := &g.Rare.leaving
	return int(x.by) == process && (t < x.until || t == x.until && idx < x.idx)
}

// leftLastBy says whether o is the inner release that set g's deadline.
func (g *Grant) leftLastBy(o *Op) bool {
	return o.Inner && g.Rare != nil && g.Rare.leaving.idx == o.InvIdx
}

// MeetWhileLeft notes that x, which excludes g, was granted while g may have gone on.
func (g *Grant) MeetWhileLeft(x *Grant) {
	if g.MayGoOn && x.OK < g.Rare.perhapsUntil {
		g.Rare.MetSince = true
	}
}

// leftWhen notes when o, an inner release of its lease, really began, by its own stamps.
func (l *Ledger) leftWhen(e *history.Event, o *Op) {
	g := o.Grant
	if !g.leftLastBy(o) || g.Rare.leaving.until == o.Inv {
		return
	}
	old := g.End()
	g.leftBy(o)
	if g.End() > old {
		l.recall(g)
		l.change(Postponed, e, o, old)
	}
}

// stay undoes what o, an inner release of its lease, had ended: it was never sent.
func (l *Ledger) stay(e *history.Event, o *Op) {
	g := o.Grant
	g.depth++
	o.Inner = false
	old, left := g.End(), o.Doubts.left
	g.Rare.holds = append(g.Rare.holds, left.hold)
	if g.Rare.leaving.idx != o.InvIdx { // it ended nothing, or the deadline was moved since
		return
	}
	g.Rare.leaving, g.MayGoOn = promise{}, false
	g.setDue(left.before)
	l.recall(g)
	l.change(Postponed, e, o, old)
}

// An innerRelease is an inner release that was answered yes.
type innerRelease struct {
	Inv, Ok time.Duration
	Idx     int // 0 is none
}

// innerDone applies the completion of an inner release. One that is refused ends the whole
// hold.
func (l *Ledger) innerDone(e *history.Event, o *Op) {
	l.leftWhen(e, o)
	if g := o.Grant; g.ReleasedAt != Never && o.Inv > g.ReleasedAt { // the other one was the inner release
		g.Rarely().GoneOn = max(g.Rare.GoneOn, o.Inv)
	}
	switch o.Outcome {
	case history.OK:
		o.Grant.Rarely().Inner = innerRelease{o.Inv, o.OK, o.OKIdx}
		l.emit(Left, e, o)
	case history.Fail:
		o.Grant.refuse(o)
		if !o.Grant.renamedSince(o) {
			o.Grant.stopAt(o.OK, o.OKIdx, o.Process)
		}
		l.denyBeside(o)
		o.Holder.stopBeside(o.Grant, o.By(), o.Fence, o.Inv, o.InvIdx, false)
		l.emit(Answered, e, o)
	}
}

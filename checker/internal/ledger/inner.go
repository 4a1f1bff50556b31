package ledger

import (
	"cmp"
	"slices"
	"time"

	"locktorture/workload/history"
)

// An owner that re-entered a lease has several holds of it, and was told of each until when it may
// rely on it. A lock may keep one deadline for all of them, or one for each: then a hold that is
// given back leaves the lease with what the others were promised. A history does not say which hold
// an inner release was of. So the lease surely goes on only for as long as the others were promised
// where the one that was given back is the one with the latest deadline; it may go on until that one.

// A promise is until when a hold of a lease may be relied on, and what said so.
type promise struct {
	until time.Duration
	idx   int   // the event
	by    int32 // the process that stamped it
}

// mostHolds is how many holds of one lease, beside that with the latest deadline, are remembered:
// those with the latest deadlines.
const mostHolds = 32

// promise notes that g's owner has a hold of it more, which p promises; the lease's own deadline
// has not been moved by it yet.
func (g *Grant) promise(p promise) {
	if due := (promise{g.Deadline, g.DeadlineIdx, g.DueBy}); due.until < p.until {
		p = due
	}
	r := g.Rarely()
	at, _ := slices.BinarySearchFunc(r.promised, p.until, func(x promise, until time.Duration) int { return cmp.Compare(x.until, until) })
	r.promised = slices.Insert(r.promised, at, p)
	if len(r.promised) > mostHolds {
		r.promised = slices.Delete(r.promised, 0, 1)
	}
}

// A leftHold is what an inner release took from its lease's deadline.
type leftHold struct {
	before promise // the deadline until then
	rest   promise // what the other holds were promised
}

// leave applies the invocation of o, an inner release of g.
func (g *Grant) leave(o *Op) {
	g.depth--
	o.Inner = true
	r := g.Rarely()
	var rest promise
	if n := len(r.promised); n > 0 {
		rest, r.promised = r.promised[n-1], r.promised[:n-1]
	}
	if rest.until >= g.Deadline || o.Inv >= g.Deadline {
		return
	}
	o.Doubt().left = &leftHold{promise{g.Deadline, g.DeadlineIdx, g.DueBy}, rest}
	g.movedBeside(min(g.Start, o.Inv), g.Deadline)
	if g.Extended {
		r.ExtendedBefore = extension{g.Start, g.DeadlineIdx}
	}
	g.Extended, g.Ambiguous = false, true
	g.leftAt(o)
}

// leftAt sets g's deadline to what o, an inner release, leaves of it: until then it was held in any case.
func (g *Grant) leftAt(o *Op) {
	d := o.Doubts.left.rest
	if d.until < o.Inv {
		d = promise{o.Inv, o.InvIdx, int32(o.Process)}
	}
	g.Deadline, g.DeadlineIdx, g.DueBy = d.until, d.idx, d.by
	r := g.Rare
	r.latest.until, r.again.until, r.dueBefore = min(r.latest.until, d.until), min(r.again.until, d.until), dueBy{}
}

// leftSooner notes that o, an inner release of g, began before the event that invoked it.
func (g *Grant) leftSooner(o *Op) {
	if o.Doubts != nil && o.Doubts.left != nil && g.DeadlineIdx == o.InvIdx {
		g.leftAt(o)
	}
}

// stay undoes what o, an inner release of its lease, had ended: it was never sent.
func (l *Ledger) stay(e *history.Event, o *Op) {
	g := o.Grant
	g.depth++
	o.Inner = false
	if o.Doubts == nil || o.Doubts.left == nil {
		return
	}
	old, left := g.End(), *o.Doubts.left
	o.Doubts.left = nil
	if g.Deadline >= left.before.until { // it was extended since
		g.promise(left.rest)
		return
	}
	g.promise(promise{g.Deadline, g.DeadlineIdx, g.DueBy})
	g.Deadline, g.DeadlineIdx, g.DueBy = left.before.until, left.before.idx, left.before.by
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
	o.Grant.leftSooner(o)
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

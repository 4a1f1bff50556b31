package checker

import "locktorture/workload/history"

// client takes an event of a process of the workload.
func (j *Judge) client(e *history.Event) {
	slot := j.procs.at(e.Process)
	o := slot.open
	switch {
	case e.Op == history.Lost:
		j.lost(e, j.holder(slot, e))
	case e.Kind == history.Invoke:
		j.invoke(e, slot)
	case e.Op == history.Extend && (o == nil || o.what != history.Extend) && isRenewal(e):
		j.renewed(e)
	case o != nil:
		slot.open = nil
		j.complete(e, o)
		if e.Kind == history.Info {
			j.procs.retire(e.Process)
		}
	}
}

// isRenewal reports whether e, the completion of an extension, tells of a whole
// round of automatic renewal.
func isRenewal(e *history.Event) bool {
	return e.HasAll(history.HasBegan) &&
		(e.Kind != history.OK || e.HasAll(history.HasValidUntil))
}

func (j *Judge) newOp(e *history.Event, h *holder) *op {
	o := j.free
	if o == nil {
		o = new(op)
	} else {
		j.free = o.next
	}
	o.what, o.mode, o.process, o.inv, o.invIdx = e.Op, e.Mode, e.Process, e.Time, e.Index
	o.holder, o.has, o.fence, o.base, o.value = h, e.Has, e.Fence, e.Base, e.Value
	o.seq, o.next, o.inner, o.host = 0, nil, false, j.host(e)
	return o
}

func (j *Judge) invoke(e *history.Event, slot *proc) {
	h := j.holder(slot, e)
	o := j.newOp(e, h)
	slot.open = o
	switch o.what {
	case history.Acquire:
		h.key.leases.push(o)
		j.say(asked, e, o)
	case history.Extend:
		j.under(o, h.acted(o))
		if o.grant != nil {
			o.grant.extends++
		}
	case history.Release:
		j.under(o, h.acted(o))
		j.releasing(e, o)
	case history.Write:
		if e.HasAll(history.HasBegan) && e.Began < o.inv {
			o.inv = max(e.Began, 0) // a child says itself when it wrote; that is told of later
		}
		j.under(o, h.grant)
		j.issue(o)
	}
}

// complete gives an open operation its outcome. What really began and ended
// inside of invocation and completion is taken at its word.
func (j *Judge) complete(e *history.Event, o *op) {
	o.outcome, o.ok, o.okIdx = e.Kind, e.Time, e.Index
	if e.Has&(history.HasBegan|history.HasEnded) != 0 {
		o.narrow(e)
		if w := o.overdue(); w != nil {
			j.narrowed(o, w)
		}
	}
	if o.host == 0 {
		o.host = j.host(e)
	}
	o.take(e)
	if o.fence > o.holder.key.books.newest {
		o.holder.key.books.newest = o.fence
	}
	switch o.what {
	case history.Acquire:
		o.leave()
		j.acquired(e, o)
	case history.Extend:
		j.extensionDone(e, o)
	case history.Release:
		j.releaseDone(e, o)
	case history.Write:
		o.leave()
		j.written(e, o)
	default:
		if o.outcome == history.Info {
			j.say(unknown, e, o)
		}
	}
	j.recycle(o)
}

// narrow takes e's word for when o really began and ended.
func (o *op) narrow(e *history.Event) {
	if e.HasAll(history.HasBegan) && e.Began >= o.inv && e.Began <= e.Time {
		o.inv = e.Began
	}
	if e.HasAll(history.HasEnded) && e.Ended >= o.inv && e.Ended <= e.Time {
		o.ok = e.Ended
	}
}

// take adds what a completion knows beyond its invocation.
func (o *op) take(e *history.Event) {
	o.has |= e.Has
	if e.Fence != 0 {
		o.fence = e.Fence
	}
	if e.Value != "" {
		o.value = e.Value
	}
	if e.HasAll(history.HasBase) {
		o.base = e.Base
	}
	if e.HasAll(history.HasSeq) { // else the store's log may have told it before
		o.seq = e.Seq
	}
	o.until = min(max(e.ValidUntil, -history.MaxTime), history.MaxTime)
}

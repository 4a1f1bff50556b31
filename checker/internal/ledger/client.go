package ledger

import "locktorture/workload/history"

// client applies an event of a client's process.
func (l *Ledger) client(e *history.Event) {
	slot := l.Procs.at(e.Process)
	o := slot.open
	switch {
	case e.Op == history.Lost:
		l.lost(e, l.holder(slot, e))
	case e.Kind == history.Invoke:
		l.invoke(e, slot)
	case e.Op == history.Extend && (o == nil || o.Action != history.Extend) && isRenewal(e):
		l.renewed(e)
	case o != nil:
		slot.open = nil
		l.complete(e, o)
		if e.Kind == history.Info {
			l.Procs.retire(e.Process)
		}
	}
}

// isRenewal reports whether e, the completion of an extension, is that of a whole round of
// automatic renewal, which has no invocation.
func isRenewal(e *history.Event) bool {
	return e.HasAll(history.HasBegan) &&
		(e.Kind != history.OK || e.HasAll(history.HasValidUntil))
}

func (l *Ledger) newOp(e *history.Event, h *Holder) *Op {
	o := l.free
	if o == nil {
		o = new(Op)
	} else {
		l.free = o.Next
	}
	o.Action, o.Mode, o.Process, o.Inv, o.InvIdx = e.Op, e.Mode, e.Process, e.Time, e.Index
	o.Holder, o.Has, o.Fence, o.Base, o.Value = h, e.Has, e.Fence, e.Base, e.Value
	o.Seq, o.Next, o.Inner, o.Late, o.Host = 0, nil, false, false, l.Host(e)
	o.Several = e.Op == history.Acquire && e.Note == history.AskMulti
	o.Waits = e.Op == history.Acquire && (e.Note == history.AskWait || e.Note == history.AskFair)
	return o
}

func (l *Ledger) invoke(e *history.Event, slot *proc) {
	h := l.holder(slot, e)
	o := l.newOp(e, h)
	if e.HasAll(history.HasBegan) && e.Began < o.Inv { // a child says itself when it began what is told of later
		o.Inv, o.Late = max(e.Began, 0), true
	}
	slot.open = o
	switch o.Action {
	case history.Acquire:
		h.Key.Open.push(o)
		l.Alone = l.Alone || !o.Several
		o.Contended = h.Key.heldAgainst(o)
		l.emit(Asked, e, o)
	case history.Extend:
		l.Under(o, h.acted(o))
		if o.Grant != nil {
			o.Grant.Extending++
		}
		h.extends = o.asking()
	case history.Release:
		l.Under(o, h.acted(o))
		l.releasing(e, o)
	case history.Write:
		l.Under(o, h.Grant)
		l.issueWrite(o)
	}
}

// complete gives an open operation its outcome. Its own stamps count for when it began and
// ended.
func (l *Ledger) complete(e *history.Event, o *Op) {
	o.Outcome, o.OK, o.OKIdx = e.Kind, e.Time, e.Index
	said := e.Has&(history.HasBegan|history.HasEnded) != 0
	if said {
		o.narrow(e)
	}
	if o.Action == history.Write && l.ahead(o) {
		l.overdue(o)
	} else if said {
		if (o.Use == UseRefused || o.Use == UseUnknown) && o.Grant != nil && l.triedSince(o.Holder, o) {
			o.Use = UseHeld
		}
		if w := o.Overdue(); w != nil {
			l.narrowed(o, w)
		} else if o.Action == history.Write {
			l.overdue(o)
		}
	}
	if o.Host == 0 {
		o.Host = l.Host(e)
	}
	o.learn(e)
	if o.Fence > o.Holder.Key.Newest {
		o.Holder.Key.Newest = o.Fence
	}
	switch o.Action {
	case history.Acquire:
		o.leave()
		l.acquired(e, o)
	case history.Extend:
		l.extensionDone(e, o)
	case history.Release:
		l.releaseDone(e, o)
	case history.Write:
		o.leave()
		l.written(e, o)
	default:
		if o.Outcome == history.Info {
			l.emit(Unknown, e, o)
		}
	}
	l.recycle(o)
}

// narrow sets when o really began and ended to e's own stamps, also where these are before o's
// invocation.
func (o *Op) narrow(e *history.Event) {
	if e.HasAll(history.HasBegan) && e.Began <= e.Time {
		began := max(e.Began, 0)
		o.Inv, o.Late = began, o.Late || began < o.Inv
		o.Has |= history.HasBegan
	}
	if e.HasAll(history.HasEnded) && e.Ended >= o.Inv && e.Ended <= e.Time {
		o.OK = e.Ended
	}
}

// learn copies to o what only the completion e says.
func (o *Op) learn(e *history.Event) {
	o.Has |= e.Has
	if e.Fence != 0 {
		o.Fence = e.Fence
	}
	if e.Value != "" {
		o.Value = e.Value
	}
	if e.HasAll(history.HasBase) {
		o.Base = e.Base
	}
	if e.HasAll(history.HasSeq) { // else the store's log may have told it before
		o.Seq = e.Seq
	}
	o.validUntil = min(max(e.ValidUntil, -history.MaxTime), history.MaxTime)
}

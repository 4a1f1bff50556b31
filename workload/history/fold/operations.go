// Package fold follows a history event by event and says how things stand: which
// operations are under way, who holds what, and what became of each fault. It
// believes what clients and the nemesis were told. Whether that was right is the
// checker's to say, which keeps a stricter ledger of its own.
package fold

import (
	"time"

	"locktorture/workload/history"
)

// An Operation is one of a client's, from its invocation on.
type Operation struct {
	Op       history.Op
	Process  int
	Key      string
	Owner    string
	Mode     history.Mode
	Began    time.Duration
	Intended time.Duration // when it was due; Began where it was due at once
	Invoked  bool          // its invocation was seen
}

// Operations follows the operations of clients. The zero value is ready.
type Operations struct {
	open map[int]Operation // by process, which has one open operation
}

// Event takes the next event, and returns the operation that it begins or
// completes; ok is false when it does neither. What completes without having been
// invoked, as an automatic renewal does, began when the event says, or at once.
func (o *Operations) Event(e *history.Event) (op Operation, ok bool) {
	switch e.Op {
	case history.Acquire, history.Extend, history.Release, history.Write, history.Read, history.Lost:
	default:
		return Operation{}, false
	}
	if e.Kind != history.Invoke {
		if op, ok = o.open[e.Process]; ok && op.Op == e.Op {
			delete(o.open, e.Process)
			op.adjust(e)
			return op, true
		}
	}
	op = Operation{Op: e.Op, Process: e.Process, Key: e.Key, Owner: e.Owner, Mode: e.Mode, Began: e.Time, Intended: e.Time}
	op.adjust(e)
	if op.Invoked = e.Kind == history.Invoke; op.Invoked {
		if o.open == nil {
			o.open = map[int]Operation{}
		}
		o.open[e.Process] = op
	}
	return op, true
}

// adjust moves the operation to the times that an event carries itself.
func (op *Operation) adjust(e *history.Event) {
	if e.HasAll(history.HasBegan) {
		op.Began = min(op.Began, e.Began)
		op.Intended = min(op.Intended, e.Began)
	}
	if e.HasAll(history.HasIntended) {
		op.Intended = min(op.Began, e.Intended)
	}
}

// Open goes through the operations under way, in no order, until yield says no.
func (o *Operations) Open(yield func(Operation) bool) {
	for _, op := range o.open {
		if !yield(op) {
			return
		}
	}
}

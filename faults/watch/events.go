package watch

import (
	"slices"

	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// Event implements history.Sink.
func (w *Observer) Event(e *history.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = e.Time
	before := w.leases.Find(e.Key, e.Owner)
	c := w.leases.Event(e)
	nested := c.Step == fold.Left || e.Op == history.Acquire && before != nil && before.Deadline > e.Time
	if c.Invoked && e.Kind != history.Invoke {
		w.done[c.Owner]++
	}
	switch c.Step {
	case fold.Granted, fold.Extended, fold.Over:
		w.signal()
	}
	if (e.Op == history.Acquire || e.Op == history.Release) && e.Kind != history.Invoke {
		w.busy[e.Key] = e.Op != history.Release || e.Kind != history.OK
	}
	switch {
	case e.Op == history.Acquire && e.Kind == history.Invoke:
		w.emit(AcquireSent, e, before, nested)
	case e.Op == history.Acquire && e.Kind == history.Fail:
		w.refused[e.Key] = refusal{e.Owner, e.Time}
	case e.Op == history.Acquire && e.Kind == history.OK:
		w.emit(AcquireReplied, e, before, nested)
	case e.Op == history.Extend && e.Kind == history.Invoke:
		w.emit(RenewalSent, e, before, nested)
	case e.Op == history.Release && e.Kind == history.Invoke:
		w.emit(ReleaseSent, e, before, nested)
	case c.Step == fold.Answered && e.Kind == history.OK:
		w.emit(ReleaseReplied, e, c.Holding, nested)
	case c.Step == fold.Wrote && c.Holding.Writes == 1:
		w.emit(InSection, e, before, nested)
	}
}

// emit announces a moment of a lease that its client held before on the key, or of none; see
// Occasion.Nested.
func (w *Observer) emit(m Moment, e *history.Event, before *Holding, nested bool) {
	if len(w.subs) == 0 {
		return
	}
	o := Occasion{Moment: m, Time: e.Time, Key: e.Key, Owner: e.Owner, Process: e.Process, Nested: nested}
	reads := e.Mode == history.Shared
	if before != nil {
		o.Granted, o.Renewed = before.Since, before.Renewed
		reads = reads || e.Op != history.Acquire && before.Mode == history.Shared
	}
	o.Shared = reads && w.read(e.Key, e.Owner)
	o.Free = w.isFree(e.Key) && !w.sought(e.Key, e.Owner)
	for s := range w.subs {
		if s.match(o) {
			select {
			case s.hit <- o:
			default: // it has its first match
			}
		}
	}
}

// read reports whether another one than owner holds key as a reader.
func (w *Observer) read(key, owner string) bool {
	return slices.ContainsFunc(w.leases.Of(key), func(h *Holding) bool { return h.Owner != owner && h.Mode == history.Shared })
}

// sought reports whether another one than owner has an acquire of key under way.
func (w *Observer) sought(key, owner string) bool {
	for op := range w.leases.Open {
		if op.Op == history.Acquire && op.Key == key && op.Owner != owner {
			return true
		}
	}
	return false
}

package watch

import (
	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// Event implements history.Sink.
func (w *Observer) Event(e *history.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = e.Time
	c := w.leases.Event(e)
	if c.Invoked && e.Kind != history.Invoke {
		w.done[c.Owner]++
	}
	switch c.Step {
	case fold.Granted, fold.Extended, fold.Over:
		w.signal()
	}
	switch {
	case e.Op == history.Acquire && e.Kind == history.Invoke:
		w.tell(AcquireSent, e)
	case e.Op == history.Acquire && e.Kind == history.Fail:
		w.refused[e.Key] = refusal{e.Owner, e.Time}
	case e.Op == history.Acquire && e.Kind == history.OK:
		w.tell(AcquireReplied, e)
	case e.Op == history.Extend && e.Kind == history.Invoke:
		w.tell(RenewalSent, e)
	case e.Op == history.Release && e.Kind == history.Invoke:
		w.tell(ReleaseSent, e)
	case c.Step == fold.Wrote && c.Holding.Writes == 1:
		w.tell(InSection, e)
	}
}

func (w *Observer) tell(m Moment, e *history.Event) {
	if len(w.subs) == 0 {
		return
	}
	o := Occasion{Moment: m, Time: e.Time, Key: e.Key, Owner: e.Owner, Process: e.Process}
	for s := range w.subs {
		if s.match(o) {
			select {
			case s.hit <- o:
			default: // it has its first match
			}
		}
	}
}

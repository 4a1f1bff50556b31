package watch

import (
	"slices"

	"locktorture/workload/history"
)

// Event implements history.Sink.
func (w *Observer) Event(e *history.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count(e)
	switch e.Op {
	case history.Acquire:
		w.acquire(e)
	case history.Extend:
		w.extend(e)
	case history.Release:
		if e.Kind == history.Invoke {
			w.release(e)
		}
	case history.Write:
		if e.Kind == history.OK {
			w.write(e)
		}
	case history.Lost:
		w.end(e.Key, e.Owner, history.Lost)
	}
}

// count keeps the books of what clients do.
func (w *Observer) count(e *history.Event) {
	switch {
	case e.Owner == "" || e.Op == history.Lost:
	case e.Kind == history.Invoke:
		w.running[e.Process] = e.Owner
	default:
		if _, ran := w.running[e.Process]; ran {
			delete(w.running, e.Process)
			w.done[e.Owner]++
		}
	}
}

func (w *Observer) acquire(e *history.Event) {
	if e.Kind == history.Invoke {
		w.waiting[e.Process] = Waiter{Key: e.Key, Owner: e.Owner, Process: e.Process, Since: e.Time}
		w.tell(AcquireSent, e)
		return
	}
	delete(w.waiting, e.Process)
	if e.Kind == history.OK {
		w.grant(e)
		w.tell(AcquireReplied, e)
	}
}

// grant begins a holding, or deepens the one that the owner re-enters. Those
// of others whose validity is over end with it.
func (w *Observer) grant(e *history.Event) {
	if h := w.find(e.Key, e.Owner); h != nil && h.Fence != 0 && h.Fence == e.Fence {
		h.depth++
		return
	}
	rest := w.held[e.Key][:0]
	for _, h := range w.held[e.Key] {
		over := h.Owner == e.Owner || h.ValidUntil < e.Time && (e.Mode == history.Exclusive || h.ValidUntil != 0)
		if over {
			h.EndedBy = history.Acquire
			continue
		}
		rest = append(rest, h)
	}
	h := &Holding{
		Grant: e.Index, Key: e.Key, Owner: e.Owner, Process: e.Process, Mode: e.Mode,
		Fence: e.Fence, Since: e.Time, Renewed: e.Time, depth: 1,
	}
	if e.HasAll(history.HasValidUntil) {
		h.ValidUntil = e.ValidUntil
	}
	w.held[e.Key] = append(rest, h)
	w.signal()
}

func (w *Observer) extend(e *history.Event) {
	switch e.Kind {
	case history.Invoke:
		w.tell(RenewalSent, e)
	case history.Fail:
		w.end(e.Key, e.Owner, history.Lost)
	case history.OK:
		h := w.find(e.Key, e.Owner)
		if h == nil {
			return
		}
		h.Renewed = e.Time
		if e.HasAll(history.HasValidUntil) {
			h.ValidUntil = e.ValidUntil
		}
		w.signal()
	}
}

func (w *Observer) release(e *history.Event) {
	w.tell(ReleaseSent, e)
	if h := w.find(e.Key, e.Owner); h != nil && h.depth > 1 {
		h.depth--
		return
	}
	w.end(e.Key, e.Owner, history.Release)
}

// write notes the first write of a holding.
func (w *Observer) write(e *history.Event) {
	if h := w.find(e.Key, e.Owner); h != nil && !h.wrote {
		h.wrote = true
		w.tell(InSection, e)
	}
}

func (w *Observer) end(key, owner string, by history.Op) {
	i := slices.IndexFunc(w.held[key], func(h *Holding) bool { return h.Owner == owner })
	if i < 0 {
		return
	}
	w.held[key][i].EndedBy = by
	w.held[key] = slices.Delete(w.held[key], i, i+1)
	w.signal()
}

func (w *Observer) find(key, owner string) *Holding {
	for _, h := range w.held[key] {
		if h.Owner == owner {
			return h
		}
	}
	return nil
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

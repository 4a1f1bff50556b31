package checker

import (
	"slices"
	"strconv"
	"time"

	"locktorture/workload/history"
)

// A builder makes histories event by event.
type builder struct {
	h       history.History
	now     time.Duration
	ops     int
	workers [3]worker
	next    int // process

	sections bool // owners write, and take what they hold once more
	writes   int
}

type worker struct {
	process int
	open    history.Op
	mode    history.Mode // of the lease
	inv     time.Duration
	d       time.Duration
	holds   bool   // it has a lease that it did not release
	fence   uint64 // of its latest lease
	used    uint64 // the tokens that it was granted, as bits
	value   string // of its open write
}

// A choice is what a worker can do next.
type choice struct {
	kind  history.Kind
	op    history.Op
	mode  history.Mode
	fence uint64
	early time.Duration // a refusal ended so long before it was told, at most
}

func newBuilder(ttl, eps time.Duration) *builder {
	b := &builder{next: 3}
	b.h.Header = history.Header{Version: 1, Nodes: 1, Quorum: 1, TTL: ttl, Epsilon: eps}
	for i := range b.workers {
		b.workers[i].process = i
	}
	return b
}

func (b *builder) choices(i int) []choice {
	w := &b.workers[i]
	switch {
	case b.sections:
		return w.sectionChoices()
	case w.open == history.Acquire:
		return []choice{{kind: history.OK}, {kind: history.OK}, {kind: history.Fail}, {kind: history.Info}}
	case w.open != 0:
		return []choice{{kind: history.OK}, {kind: history.Info}, {kind: history.Fail}}
	case w.holds && b.now < w.d:
		return []choice{{kind: history.Invoke, op: history.Release}, {kind: history.Invoke, op: history.Extend}}
	case w.holds:
		return []choice{{kind: history.Invoke, op: history.Release}, {kind: history.Invoke, op: history.Extend}, {kind: history.Invoke, op: history.Acquire}}
	}
	return []choice{{kind: history.Invoke, op: history.Acquire}}
}

// sectionChoices are those of an owner that writes, by right or not.
func (w *worker) sectionChoices() []choice {
	switch {
	case w.open != 0:
		return []choice{{kind: history.OK}}
	case w.holds:
		return []choice{{kind: history.Invoke, op: history.Write}, {kind: history.Invoke, op: history.Release}, {kind: history.Invoke, op: history.Acquire}}
	}
	return []choice{{kind: history.Invoke, op: history.Acquire}, {kind: history.Invoke, op: history.Write}}
}

func (b *builder) apply(i int, c choice) {
	w := &b.workers[i]
	e := history.Event{
		Index: len(b.h.Events), Time: b.now, Process: w.process, Kind: c.kind, Op: w.open, Key: "k", Owner: string(rune('a' + i)), Mode: w.mode,
	}
	if e.Op == history.Write || c.op == history.Write {
		b.write(&e, w, c)
	}
	if c.kind == history.Invoke {
		e.Op, w.open, w.inv = c.op, c.op, b.now
		if c.op == history.Acquire {
			w.mode, e.Mode = c.mode, c.mode
		}
		b.ops++
	} else {
		w.Finish(&e, c, b.h.Header.TTL)
	}
	b.h.Events = append(b.h.Events, e)
	if c.kind == history.Info {
		w.process = b.next
		b.next++
	}
}

// write gives a write its token, and its completion the store's number.
func (b *builder) write(e *history.Event, w *worker, c choice) {
	e.Fence = w.fence
	if c.kind == history.Invoke {
		w.value = "v" + strconv.Itoa(b.ops)
	} else {
		b.writes++
		e.Seq, e.Has = uint64(b.writes), history.HasSeq
	}
	e.Value = w.value
}

func (w *worker) Finish(e *history.Event, c choice, ttl time.Duration) {
	switch {
	case w.open == history.Acquire && c.kind == history.OK:
		for e.Fence = c.fence; w.used&(1<<e.Fence) != 0; { // it might be a re-entry
			e.Fence++
		}
		w.used |= 1 << e.Fence
		w.fence, w.holds, w.d = e.Fence, true, w.inv+ttl
	case w.open == history.Extend && c.kind == history.OK:
		w.d = w.inv + ttl
	case w.open == history.Release:
		w.holds = false
	case w.open == history.Extend && c.kind == history.Fail:
		w.holds = false
		e.Has, e.Ended = history.HasEnded, max(w.inv, e.Time-c.early)
	}
	w.open = 0
}

func (b *builder) history() history.History {
	h := b.h
	h.Events = append(slices.Clone(h.Events), history.Event{
		Index: len(h.Events), Time: b.now + 1000, Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseEnd,
	})
	return h
}

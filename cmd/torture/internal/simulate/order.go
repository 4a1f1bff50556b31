package simulate

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"slices"
	"time"

	"locktorture/workload/history"
)

// An ordered sink gives a history an order, and processes numbers, that depend on
// nothing but what happened: events of one instant, which goroutines record in
// any order, are sorted by their owners and, of renewals, by their keys, and
// processes are numbered as they appear. What it passes on is as good a history
// as what it takes.
type ordered struct {
	to []history.Sink

	pending   []history.Event
	index     map[int]int // of invocations that completions name
	processes map[int]int
	next      int
	times     []time.Duration // by index
	hash      *trace
}

func newOrdered(to ...history.Sink) *ordered {
	return &ordered{to: to, index: map[int]int{}, processes: map[int]int{}, hash: newTrace()}
}

// Event implements history.Sink.
func (o *ordered) Event(e *history.Event) {
	if len(o.pending) > 0 && o.pending[0].Time != e.Time {
		o.flush()
	}
	o.pending = append(o.pending, *e)
}

// flush passes on the events of the last instant.
func (o *ordered) flush() {
	slices.SortStableFunc(o.pending, func(a, b history.Event) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Fault, b.Fault), cmp.Compare(aim(&a), aim(&b)), cmp.Compare(a.Node, b.Node),
			cmp.Compare(renewed(&a), renewed(&b)))
	})
	for i := range o.pending {
		o.pass(&o.pending[i])
	}
	o.pending = o.pending[:0]
}

// renewed is the key of a lease whose renewal, or loss, an event tells of. Its owner's other events
// are recorded by one goroutine, in their order, and come before it.
func renewed(e *history.Event) string {
	if (e.Op == history.Extend || e.Op == history.Lost) && e.HasAll(history.HasBegan) {
		return e.Key
	}
	return ""
}

// aim is whom a fault is about.
func aim(e *history.Event) string {
	if e.Target == nil {
		return ""
	}
	text, err := json.Marshal(e.Target)
	if err != nil {
		return ""
	}
	return string(text)
}

func (o *ordered) pass(e *history.Event) {
	if e.Process >= 0 {
		n, known := o.processes[e.Process]
		if !known {
			n = len(o.processes)
			o.processes[e.Process] = n
		}
		e.Process = n
	} else if e.Kind == history.Invoke {
		o.index[e.Index] = o.next
	}
	if e.HasAll(history.HasOf) {
		e.Of = o.index[e.Of]
	}
	e.Index = o.next
	o.next++
	o.times = append(o.times, e.Time)
	o.hash.add(e)
	for _, s := range o.to {
		s.Event(e)
	}
}

// A trace is the hash of a history, and if wanted its text.
type trace struct {
	sum  interface{ Sum64() uint64 }
	to   interface{ Write([]byte) (int, error) }
	line []byte
}

func newTrace() *trace {
	h := fnv.New64a()
	return &trace{sum: h, to: h}
}

func (t *trace) add(e *history.Event) {
	t.line = append(history.AppendEvent(t.line[:0], e), '\n')
	_, _ = t.to.Write(t.line)
}

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
	if len(o.pending) > 1 {
		o.sort()
	}
	for i := range o.pending {
		o.pass(&o.pending[i])
	}
	o.pending = o.pending[:0]
}

// sort gives the events of one instant their order. What an owner's client did is recorded by one
// goroutine, in its order, and comes before what is told of the owner's leases: renewals and losses.
func (o *ordered) sort() {
	var tells map[int]bool // the processes of renewals and losses; nil at most instants, which have none
	for i := range o.pending {
		if e := &o.pending[i]; ofLease(e) && e.HasAll(history.HasBegan) {
			if tells == nil {
				tells = map[int]bool{}
			}
			tells[e.Process] = true
		}
	}
	slices.SortStableFunc(o.pending, func(a, b history.Event) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Fault, b.Fault), cmp.Compare(aim(&a), aim(&b)), cmp.Compare(a.Node, b.Node),
			cmp.Compare(told(&a, tells), told(&b, tells)))
	})
}

// told is the lease of which a renewal or a loss tells, and which of the two it is; "" of other events.
func told(e *history.Event, tells map[int]bool) string {
	if !ofLease(e) || !tells[e.Process] {
		return ""
	}
	return e.Key + " " + e.Op.String()
}

func ofLease(e *history.Event) bool { return e.Op == history.Extend || e.Op == history.Lost }

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

package distributed

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// A Source is the history of one process of a run: events in its own order, by its own
// clock, with process numbers and indices of its own.
type Source struct {
	Host   string
	Events interface {
		Next(e *history.Event) error // io.EOF after the last
	}
	Time    func(time.Duration) time.Duration // its clock's time → the run's; nil: they are the same
	Clients []string                          // those that it had

	// Lost is why its history ends before its time; empty: it does not. What its clients
	// did after its last event nobody knows.
	Lost string
}

// Merge hands the events of all sources to emit in the order of their times, with
// indices without gaps, and process numbers of which no two sources share any. What a
// lost source may have done since its last event becomes operations of unknown outcome.
func Merge(h history.Header, sources []Source, emit func(e *history.Event)) error {
	m := &merger{emit: emit, keys: map[string]bool{}}
	defer m.end()
	for i := range sources {
		f := &feed{Source: sources[i], number: i, of: len(sources)}
		if f.Lost != "" {
			f.loss = newLoss(h, f.Clients)
			m.lost = append(m.lost, f)
		}
		if err := m.push(f); err != nil {
			return err
		}
	}
	for len(m.feeds) > 0 {
		f := m.feeds[0]
		m.take(f)
		switch err := f.read(); {
		case errors.Is(err, io.EOF):
			heap.Pop(&m.feeds)
			m.lose(f)
		case err != nil:
			return err
		default:
			heap.Fix(&m.feeds, 0)
		}
	}
	return nil
}

// A merger is one merge under way.
type merger struct {
	feeds feeds // those that have more, the earliest event first
	lost  []*feed
	keys  map[string]bool // that anybody asked for
	emit  func(*history.Event)
	next  int
	last  time.Duration
	out   history.Event
	over  history.Event // the end of the history, once it has come
}

// A feed is a source, and its next event.
type feed struct {
	Source
	number, of int
	event      history.Event
	time       time.Duration // of event, by the run's clock
	index      []int32       // in the merged history, by its own
	next       int           // process number that it has not used
	loss       *loss         // of a lost one
}

// A loss is what is known of a lost source.
type loss struct {
	leases  *fold.Holdings
	open    map[int]history.Event // invocations, by process
	owners  map[string]string     // of its clients, the latest each
	written map[string]bool       // values
	end     time.Duration         // its last event
}

func newLoss(h history.Header, clients []string) *loss {
	l := &loss{leases: fold.NewHoldings(h), open: map[int]history.Event{}, owners: map[string]string{}, written: map[string]bool{}}
	for _, c := range clients {
		l.owners[c] = c
	}
	return l
}

// follow takes the source's next event.
func (l *loss) follow(e *history.Event, at time.Duration) {
	l.leases.Event(e)
	l.end = at
	if e.Process < 0 {
		return
	}
	if client := clientOf(e.Owner); l.owners[client] != "" {
		l.owners[client] = e.Owner
	}
	if delete(l.open, e.Process); e.Kind == history.Invoke {
		l.open[e.Process] = *e
		l.written[e.Value] = true
	}
}

// clientOf is the client that an owner is an incarnation of.
func clientOf(owner string) string {
	client, _, _ := strings.Cut(owner, ".")
	return client
}

func (m *merger) push(f *feed) error {
	switch err := f.read(); {
	case errors.Is(err, io.EOF):
		m.lose(f)
	case err != nil:
		return err
	default:
		heap.Push(&m.feeds, f)
	}
	return nil
}

// read gets the feed's next event.
func (f *feed) read() error {
	if err := f.Events.Next(&f.event); err != nil {
		if errors.Is(err, io.EOF) {
			return err
		}
		return fmt.Errorf("history of %s: %w", f.Host, err)
	}
	f.time = f.turn(f.event.Time)
	return nil
}

func (f *feed) turn(t time.Duration) time.Duration {
	if f.Time == nil {
		return t
	}
	return f.Time(t)
}

// process is the number in the merged history of one of the feed's own.
func (f *feed) process(own int) int {
	if own < 0 {
		return own
	}
	f.next = max(f.next, own+1)
	return own*f.of + f.number
}

// take emits the feed's event.
func (m *merger) take(f *feed) {
	e := &m.out
	*e = f.event
	if f.loss != nil {
		f.loss.follow(&f.event, f.time)
	}
	if len(m.lost) > 0 && e.Key != "" && e.Op == history.Acquire {
		m.keys[e.Key] = true
	}
	if e.Op == history.Audit {
		m.unasked(e)
	}
	e.Process, e.Host = f.process(e.Process), f.Host
	if f.Time != nil {
		f.turnAll(e)
	}
	if e.HasAll(history.HasOf) && e.Of >= 0 && e.Of < len(f.index) {
		e.Of = int(f.index[e.Of])
	}
	if e.Op == history.Phase && e.Value == history.PhaseEnd {
		m.over = *e
		return
	}
	f.index = append(f.index, int32(m.next))
	m.append(e, f.time)
}

// end emits the event that ends the history, which is its last whatever the clocks say.
func (m *merger) end() {
	if m.over.Kind != 0 {
		m.append(&m.over, 0)
	}
}

// append stamps an event.
func (m *merger) append(e *history.Event, at time.Duration) {
	m.last = max(m.last, at)
	e.Index, e.Time = m.next, m.last
	m.next++
	m.emit(e)
}

// turnAll turns the other times of an event.
func (f *feed) turnAll(e *history.Event) {
	if e.Has&(history.HasValidUntil|history.HasBegan|history.HasEnded|history.HasIntended) == 0 {
		return
	}
	turn := func(has history.Field, t *time.Duration) {
		if e.HasAll(has) && *t < history.MaxTime {
			*t = max(f.Time(*t), 0)
		}
	}
	turn(history.HasValidUntil, &e.ValidUntil)
	turn(history.HasBegan, &e.Began)
	turn(history.HasEnded, &e.Ended)
	turn(history.HasIntended, &e.Intended)
}

// lose makes of what a lost source had under way, and of what it may have begun since,
// operations of unknown outcome: leases that it may have given back, and locks that it
// may have asked for.
func (m *merger) lose(f *feed) {
	l := f.loss
	if l == nil {
		return
	}
	for _, process := range slices.Sorted(maps.Keys(l.open)) {
		e := l.open[process]
		e.Has &^= history.HasIntended
		m.doubt(f, e)
	}
	for _, h := range l.leases.All() {
		for range h.Depth {
			m.unknown(f, history.Event{Op: history.Release, Key: h.Key, Owner: h.Owner, Mode: h.Mode, Fence: h.Fence})
		}
	}
	for _, client := range f.Clients {
		for _, key := range slices.Sorted(maps.Keys(m.keys)) {
			m.unknown(f, history.Event{Op: history.Acquire, Key: key, Owner: l.owners[client]})
		}
	}
}

// unasked sees whether a line of the store's log is of a lost source that can no more
// tell of having asked for it.
func (m *merger) unasked(line *history.Event) {
	for _, f := range m.lost {
		if f.loss.owners[clientOf(line.Owner)] == "" || f.loss.written[line.Value] {
			continue
		}
		op := history.Write
		if line.Mode == history.Shared {
			op = history.Read
		}
		m.unknown(f, history.Event{
			Op: op, Key: line.Key, Owner: line.Owner, Mode: line.Mode, Fence: line.Fence, Value: line.Value, Began: f.loss.end, Has: history.HasBegan,
		})
	}
}

// unknown emits an operation that a lost source may have begun after its last event.
func (m *merger) unknown(f *feed, e history.Event) {
	e.Process, e.Host, e.Kind = f.next, f.Host, history.Invoke
	whole := e
	whole.Process = f.process(e.Process)
	m.append(&whole, f.loss.end)
	m.doubt(f, e)
}

// doubt emits the completion of an operation of which nobody knows what became of it.
func (m *merger) doubt(f *feed, e history.Event) {
	e.Process, e.Host, e.Kind, e.Err = f.process(e.Process), f.Host, history.Info, "lost: "+f.Lost
	m.append(&e, f.loss.end)
}

// feeds are ordered by the times of their next events, and those of one time by their
// numbers.
type feeds []*feed

// Len implements heap.Interface, as the others do.
func (f feeds) Len() int { return len(f) }

func (f feeds) Less(i, j int) bool {
	if f[i].time != f[j].time {
		return f[i].time < f[j].time
	}
	return f[i].number < f[j].number
}

func (f feeds) Swap(i, j int) { f[i], f[j] = f[j], f[i] }

// Push implements heap.Interface.
func (f *feeds) Push(x any) { *f = append(*f, x.(*feed)) }

// Pop implements heap.Interface.
func (f *feeds) Pop() any {
	all := *f
	last := all[len(all)-1]
	*f = all[:len(all)-1]
	return last
}

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

// Moved are sources that tell of each time at which the clock of a worker was moved: by that
// clock, as of one at which its harness stood still, since what was recorded across one is
// later by that than it happened; and by the coordinator's, as of a fault of its clients,
// whose locks may take their leases for lost.
func Moved(worker Source, c Clock) []Source {
	var stalls, faults EventList
	for i, m := range c.Moves {
		stalls = append(stalls, history.Event{
			Index: i, Time: m.To, Process: history.Nemesis, Kind: history.OK, Op: history.Stall,
			Began: max(m.From, 0), Ended: m.To, Has: history.HasBegan | history.HasEnded, Note: "the clock of " + worker.Host + " was moved",
		})
		if last := len(faults) - 1; last >= 0 && m.Since <= faults[last].Time { // it goes on
			faults[last].Time, faults[last-1].Time = m.End, m.End
			continue
		}
		for k, op := range []history.Op{history.Fault, history.Heal} {
			e := history.Event{
				Index: len(faults), Time: []time.Duration{m.Since, m.End}[k], Process: history.Nemesis, Kind: history.Invoke, Op: op,
				Fault: history.WorkerClock, Target: &history.Target{Clients: worker.Clients},
			}
			done := e
			done.Index, done.Kind, done.Of, done.Has = e.Index+1, history.OK, e.Index, history.HasOf
			done.Receipt = "the clock of worker " + worker.Host + " was moved between two readings"
			faults = append(faults, e, done)
		}
	}
	return []Source{{Host: worker.Host, Events: &stalls, Time: c.Coordinator}, {Host: worker.Host, Events: &faults}}
}

// An EventList is events in memory, read one by one as a Source is.
type EventList []history.Event

// Next reads the next event, and returns io.EOF after the last.
func (t *EventList) Next(e *history.Event) error {
	if len(*t) == 0 {
		return io.EOF
	}
	*e, *t = (*t)[0], (*t)[1:]
	return nil
}

// Merge hands the events of all sources to emit in the order of their times, with
// indices without gaps, and process numbers of which no two sources share any. What a
// lost source may have done since its last event becomes operations of unknown outcome.
// Withheld is how many lines of the store's log are not handed on, since of their leases a
// lost source told nothing: a note in the history says so.
func Merge(h history.Header, sources []Source, emit func(e *history.Event)) (withheld int, err error) {
	m := &merger{emit: emit, keys: map[string]bool{}}
	defer m.emitEnd()
	for i := range sources {
		f := &feed{Source: sources[i], number: i, of: len(sources)}
		if f.Lost != "" {
			f.loss = newLoss(h, f.Clients)
			m.lost = append(m.lost, f)
		}
		if err := m.push(f); err != nil {
			return 0, err
		}
	}
	for len(m.feeds) > 0 {
		f := m.feeds[0]
		m.emitFrom(f)
		switch err := f.read(); {
		case errors.Is(err, io.EOF):
			heap.Pop(&m.feeds)
			m.lose(f)
		case err != nil:
			return m.withheld, err
		default:
			heap.Fix(&m.feeds, 0)
		}
	}
	return m.withheld, nil
}

// Withheld says that so many lines of the store's log were withheld from the history.
func Withheld(lines int) string {
	return fmt.Sprintf("%d lines of the store's log are of leases of which lost workers told nothing: they are held against nobody, and stand in the coordinator's own history alone", lines)
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

	withheld int // lines of the store's log that count for no client
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

// emitFrom emits the current event of f.
func (m *merger) emitFrom(f *feed) {
	e := &m.out
	*e = f.event
	if f.loss != nil {
		f.loss.follow(&f.event, f.time)
	}
	if len(m.lost) > 0 && e.Key != "" && e.Op == history.Acquire {
		m.keys[e.Key] = true
	}
	if e.Op == history.Audit {
		switch lost := m.untold(e); {
		case lost == nil:
		case lost.loss.held(e):
			m.mayHaveAsked(lost, e)
		default: // nobody can tell any more under which lease it was written: it counts for no client
			f.index = append(f.index, 0) // nothing speaks of it by its index
			m.withheld++
			return
		}
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

// emitEnd emits the event that ends the history, which is its last whatever the clocks say.
func (m *merger) emitEnd() {
	if m.withheld > 0 {
		m.append(&history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Note: Withheld(m.withheld)}, 0)
	}
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
	early := max(-f.time, 0) // nothing happened before the run began: it was later by as much at least
	turn := func(has history.Field, t *time.Duration) {
		if e.HasAll(has) && *t < history.MaxTime {
			*t = max(f.Time(*t)+early, 0)
		}
	}
	turn(history.HasValidUntil, &e.ValidUntil)
	turn(history.HasBegan, &e.Began)
	turn(history.HasEnded, &e.Ended)
	turn(history.HasIntended, &e.Intended)
	if e.Op == history.Stall && e.HasAll(history.HasLag) {
		e.Lag = min(e.Lag, e.Ended-e.Began)
	}
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

// untold is the lost source of whose client a line of the store's log is, where the source told of no
// operation that it could stand for; nil: none.
func (m *merger) untold(line *history.Event) *feed {
	for _, f := range m.lost {
		if f.loss.owners[clientOf(line.Owner)] != "" && !f.loss.written[line.Value] {
			return f
		}
	}
	return nil
}

// mayHaveAsked emits the operation that a line of the store's log stands for, which the lost source f
// may have begun after its last event.
func (m *merger) mayHaveAsked(f *feed, line *history.Event) {
	op := history.Write
	if line.Mode == history.Shared {
		op = history.Read
	}
	m.unknown(f, history.Event{
		Op: op, Key: line.Key, Owner: line.Owner, Mode: line.Mode, Fence: line.Fence, Value: line.Value, Began: f.loss.end, Has: history.HasBegan,
	})
}

// held says whether the lease under which a line was written is one that was held at the
// source's last event.
func (l *loss) held(line *history.Event) bool {
	for _, h := range l.leases.All() {
		if h.Key == line.Key && h.Owner == line.Owner && h.Fence == line.Fence {
			return true
		}
	}
	return false
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

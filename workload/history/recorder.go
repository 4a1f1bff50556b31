package history

import (
	"sync"
	"time"
)

// A Sink takes the events of a run as they happen, in index order. It is
// called with the recorder's lock held: it must not block for long and must
// not call the recorder.
type Sink interface {
	Event(e *Event)
}

// SinkFunc makes a Sink of a function.
type SinkFunc func(e *Event)

// Event implements Sink.
func (f SinkFunc) Event(e *Event) { f(e) }

// A Recorder stamps the events of many goroutines and hands them to its sinks.
type Recorder struct {
	began time.Time

	mu        sync.Mutex
	sinks     []Sink
	next      int
	last      time.Duration
	processes int
}

// NewRecorder starts the run's clock. Every event goes to the sinks in order.
func NewRecorder(sinks ...Sink) *Recorder {
	return &Recorder{began: time.Now(), sinks: sinks}
}

// Began is the instant that event times count from.
func (r *Recorder) Began() time.Time { return r.began }

// Since converts a local instant to history time.
func (r *Recorder) Since(t time.Time) time.Duration { return t.Sub(r.began) }

// NewProcess returns an unused process number. A client takes a new one after
// an Info completion, because its old process may still be acting.
func (r *Recorder) NewProcess() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.processes++
	return r.processes - 1
}

// Append stamps e with its index and time, hands it to the sinks, and returns
// the index. Both stamps are set in one critical section, so that index order
// and time order agree.
func (r *Recorder) Append(e Event) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Index = r.next
	r.next++
	e.Time = time.Since(r.began)
	r.last = e.Time
	for _, s := range r.sinks {
		s.Event(&e)
	}
	return e.Index
}

// Attach adds a sink, which sees the events from here on.
func (r *Recorder) Attach(s Sink) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sinks = append(r.sinks, s)
}

// A Buffer is a Sink that keeps every event in memory.
type Buffer struct{ Events []Event }

// Event implements Sink.
func (b *Buffer) Event(e *Event) { b.Events = append(b.Events, *e) }

package history

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Sink takes the events of a run as they happen, in index order. It is
// called with the recorder's lock held: it must not block for long and must
// not call the recorder. The event is the recorder's own: a sink that keeps it
// copies it. A sink that can fail has a method Err() error, which
// Recorder.Err asks.
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
	errs      []error // of sinks that panicked and were dropped
	next      int
	last      time.Duration
	processes int
	event     Event // the one being handed out; a field, so that it costs no allocation
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
// and time order agree. A sink that panics is dropped, and the others still
// see every event; Err tells.
func (r *Recorder) Append(e Event) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.event = e
	r.event.Index = r.next
	r.next++
	r.last = max(r.last, time.Since(r.began))
	r.event.Time = r.last
	for given := 0; given < len(r.sinks); {
		given = r.hand(given)
	}
	return r.next - 1
}

// hand gives the event to the sinks from the one at start, and returns where
// to go on. A sink that panics is taken out of the row.
func (r *Recorder) hand(start int) (given int) {
	given = start
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		r.errs = append(r.errs, fmt.Errorf("record event %d: %T panicked: %v", r.event.Index, r.sinks[given], cause))
		r.sinks = slices.Delete(slices.Clone(r.sinks), given, given+1)
	}()
	for ; given < len(r.sinks); given++ {
		r.sinks[given].Event(&r.event)
	}
	return given
}

// Err returns what kept a sink from taking every event: its panic, or what
// its own Err method says. A run whose recorder has an error is not evidence.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	errs := slices.Clone(r.errs)
	for _, s := range r.sinks {
		if s, ok := s.(interface{ Err() error }); ok {
			errs = append(errs, s.Err())
		}
	}
	return errors.Join(errs...)
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

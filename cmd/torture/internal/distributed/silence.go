package distributed

import "time"

// silentAfter is for how long nothing may be heard of a worker before that is on record:
// two readings of its clock.
const silentAfter = 2 * readEvery

// resendFirst is what TCP waits at most before it sends again for the first time what
// nobody has acknowledged; it doubles that each time (RFC 6298, 2.1 and 5.5).
const resendFirst = time.Second

// A Silence is a span of the coordinator's time in which a worker answered nothing.
type Silence struct {
	From time.Duration `json:"from_ns"` // when the question was put that it answered last
	To   time.Duration `json:"to_ns"`   // when it answered again, or its process was known to be no more; 0: not at all

	// Over is by when all that the network may have held back is delivered. What was sent
	// for the first time after From and for the last time before To is sent once more at
	// most so much later than it took until then, and one first wait.
	Over time.Duration `json:"over_ns"`

	Gone bool `json:"gone,omitempty"` // its process ended, which sends nothing again
}

// heardAgain notes that the worker answered, at now, what it was asked at asked. r.mu is
// held.
func (r *Remote) heardAgain(asked, now time.Time) {
	if r.reached.IsZero() { // it was not listened for before
		r.reached = asked
	}
	if r.heard = now; now.Sub(r.reached) > silentAfter && asked.After(r.reached) {
		s := Silence{From: r.reached.Sub(r.coordinator.began), To: now.Sub(r.coordinator.began)}
		s.Over = s.To + (s.To - s.From) + resendFirst
		r.fellSilent(s)
	}
	if asked.After(r.reached) {
		r.reached = asked
	}
}

// lose has the worker count as lost. gone says that its process is known to be no more:
// else it may act on, unheard. r.mu is held.
func (r *Remote) lose(why string, gone bool) {
	r.lost = why
	s := Silence{From: r.reached.Sub(r.coordinator.began), Gone: gone}
	if gone {
		s.To = time.Since(r.coordinator.began)
		s.Over = s.To
	}
	r.fellSilent(s)
}

// fellSilent puts a silence on record. r.mu is held.
func (r *Remote) fellSilent(s Silence) {
	r.silences = append(r.silences, s)
	r.coordinator.record.add(note{Worker: r.Name, Silence: &s})
}

// Silences are the spans in which the worker answered nothing, in their order.
func (r *Remote) Silences() []Silence {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Silence(nil), r.silences...)
}

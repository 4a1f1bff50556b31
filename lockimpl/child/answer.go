package child

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// answered handles the answer to a request.
func (s *session) answered(m *message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.open[m.Re]
	if x == nil {
		s.note(fmt.Sprintf("an answer to nothing: %.80q", m.T))
		return
	}
	if s.trusted && !m.place(x.sent, true) && m.US0 != nil {
		s.note("times out of order in the answer to " + x.what + otherClock(m, *m.US0))
	}
	s.checkDeadline(m)
	if !s.trusted {
		m.place(x.sent, false)
	}
	if s.left(x) <= 0 {
		s.reportLate(x, "was answered, but not within its budget")
	}
	if m.T == "acquire_ok" && x.lease != nil {
		x.lease.grant(m)
		x.lease.granted, x.lease.disowned = time.Now(), x.deserted
		s.leases[x.lease.handle] = x.lease
	}
	switch {
	case m.T == "release_no", m.T == "extend_no", m.T == "check_ok" && !m.Held:
		s.disown(s.leases[m.Handle])
	case m.T == "acquire_no": // its owner knows of those that are over; of a lease that lasts it says nothing
		for l := range s.otherHolds(x.lease) {
			l.disowned = l.disowned || l.outlived(instant(x.lease.asked))
		}
	}
	s.remove(x)
	if x.deserted && m.T == "acquire_ok" {
		s.wg.Go(func() { s.undo(x.lease) })
		return
	}
	x.reply <- m
}

// checkDeadline drops an until_us that means nothing: of a clock that is not the harness's, or
// beyond any lease. The caller holds mu.
func (s *session) checkDeadline(m *message) {
	if m.Until == nil {
		return
	}
	wrong := otherClock(m, *m.Until)
	if s.trusted && wrong != "" {
		s.note(fmt.Sprintf("until_us of %s is %d%s", m.T, *m.Until, wrong))
	}
	if !s.trusted || wrong != "" {
		m.Until = nil
	}
}

// farAhead is farther ahead than any lease's end.
const farAhead = 48 * time.Hour

// coarse are units that are larger than the one that stamps are told in, in microseconds.
var coarse = map[string]int64{"milliseconds": 1000, "seconds": 1_000_000}

// otherClock says that a stamp of m is of another clock than the harness's, or in another unit;
// "" where it need not be.
func otherClock(m *message, stamp int64) string {
	for unit, micros := range coarse {
		if stamp < m.recv/2 && stamp > m.recv/micros-m.recv/micros/10 && stamp < (m.recv+farAhead.Microseconds())/micros {
			return fmt.Sprintf(", which is now or soon in %s: want microseconds", unit)
		}
	}
	ahead := stamp - m.recv
	if ahead < farAhead.Microseconds() {
		return ""
	}
	return fmt.Sprintf(", which is more than %d hours ahead: want microseconds of CLOCK_MONOTONIC, not of the wall clock, nor nanoseconds", int(farAhead.Hours()))
}

// undo releases what was granted after its caller had given up.
func (s *session) undo(l *lease) {
	ctx, cancel := context.WithTimeout(context.Background(), s.grace)
	defer cancel()
	if err := l.Release(ctx); err != nil {
		s.find("release of a late grant: %v", err)
	}
}

// disown notes that an owner was told that one hold of its lease is lost: its caller gives back
// the others next. The caller holds mu.
func (s *session) disown(lost *lease) {
	for l := range s.otherHolds(lost) {
		l.disowned = true
	}
}

// otherHolds are the other holds of a lease's owner, of the same key, that it was not asked to give back yet; none of a
// lease that is nil, or whose owner is not told. The caller holds mu.
func (s *session) otherHolds(of *lease) iter.Seq[*lease] {
	return func(yield func(*lease) bool) {
		if of == nil || of.owner == "" {
			return
		}
		for _, l := range s.leases {
			if l != of && l.key == of.key && l.owner == of.owner && !closedWithin(l.released, 0) && !yield(l) {
				return
			}
		}
	}
}

// wrote passes a write on to the observer. What a child writes under a lease that its caller
// has given up on, or under other holds of one that was lost, before it is told to release them, is
// nobody's: a client in one piece would have stopped, and the resource takes none of it.
func (s *session) wrote(m *message) {
	s.mu.Lock()
	l, observer := s.leases[m.Handle], s.observer
	disowned := l != nil && l.disowned
	s.mu.Unlock()
	if l == nil {
		s.find("a write under the unknown handle %.80q", m.Handle)
		return
	}
	if disowned {
		return
	}
	w := Write{Handle: m.Handle, Key: l.key, N: m.N, Fence: m.Fence, Granted: l.granted, Received: instant(m.recv)}
	w.Issued = w.Received
	if s.trusted && m.US != nil && *m.US <= m.recv {
		w.Issued = instant(*m.US)
	}
	if observer != nil {
		observer.ObserveWrite(w)
	}
}

// lost handles the library's report that a lease is gone.
func (s *session) lost(m *message) {
	s.mu.Lock()
	l := s.leases[m.Handle]
	s.disown(l)
	s.mu.Unlock()
	if l == nil {
		s.find("a loss under the unknown handle %.80q", m.Handle)
		return
	}
	l.lose()
}

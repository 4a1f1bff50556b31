package redlock

import (
	"sync"
	"time"

	"locktorture/lockimpl/redlock/internal/node"
)

// retryRelease is the pause before a call that gives something back is sent again to a node
// that did not answer it, at first; later it is a share of the time for which that goes on. It
// is sent at once when the node is connected to again, until what it gives back has ended by itself.
const retryRelease = 50 * time.Millisecond

// awayPause is the part of a pause that grows with the time since then.
func awayPause(since time.Time) time.Duration {
	return min(time.Since(since)/awayShare, mostRetryLate)
}

// retryLate is that pause behind end, when it has, where the node may still get what was
// sent to it: a server that was stopped, or a network that held it up, has no bound on how
// late that is. Such a call is sent until the node answers: as soon as it is connected
// to again, and until then more and more seldom, since it may be gone for good. They are
// few: what a node was sent by connections that it did not answer any more.
func (a *attempt) retryLate(end time.Time) time.Duration {
	return max(retryRelease, a.l.cfg.NodeTimeout/2, a.r.ttl/4, awayPause(end))
}

const (
	awayShare     = 32 // so much more of the time that a node has been away may go by until it is asked again
	mostRetryLate = 10 * time.Second
)

// again has call, which gives back what the attempt has on a node and was not answered,
// sent once more after a while, which grows with the time since it was asked for. It reports
// false where it is not sent any more: what it gives back has ended by itself at end, and the
// node will not get the attempt after that.
func (a *attempt) again(i int, call node.Call, since, end time.Time) bool {
	l := a.l
	if l.closed.Load() {
		return false
	}
	if time.Now().Before(end) {
		l.retries.add(l.nodes[i], call, max(retryRelease, awayPause(since)))
		l.sendLastRetries()
		return true
	}
	a.mu.Lock()
	late := a.byNode[i].doubt
	a.mu.Unlock()
	if late {
		l.late.add(l.nodes[i], call, a.retryLate(end))
		l.sendLastRetries()
	}
	return late
}

// sendLastRetries has what was added as the lock was being closed sent now: Close waits for it.
func (l *Lock) sendLastRetries() {
	if l.closed.Load() {
		l.sendRetries()
	}
}

// hurryRetries has what was asked of a node in vain sent to it again now that it is connected to.
func (l *Lock) hurryRetries(i int) {
	l.retries.hurry(l.nodes[i])
	l.late.hurry(l.nodes[i])
}

// sendRetries has all that is to be sent again sent without a pause.
func (l *Lock) sendRetries() {
	l.retries.sendNow()
	l.late.sendNow()
}

// retries are the calls that a node did not answer and that are sent again.
type retries struct {
	mu      sync.Mutex
	list    []retry
	timer   *time.Timer
	at      time.Time                // when the timer is due; zero: it is not set
	hurried map[*node.Node]time.Time // when those to a node were last sent before their time
}

type retry struct {
	to    *node.Node
	call  node.Call
	pause time.Duration
	at    time.Time // when it is sent
}

// add has a call sent after a pause, or with those that are sent in the second half of it.
func (s *retries) add(to *node.Node, call node.Call, pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Now().Add(pause)
	s.list = append(s.list, retry{to, call, pause, at})
	s.sendAt(at)
}

// hurry has the calls to a node that is connected to again sent now, not after their pause,
// but no second time within one: a server that takes every connection, and refuses or ends what
// follows, is asked twice in a pause at most.
func (s *retries) hurry(to *node.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.list {
		if r.to == to && time.Since(s.hurried[to]) >= r.pause {
			if s.hurried == nil {
				s.hurried = map[*node.Node]time.Time{}
			}
			s.hurried[to] = time.Now()
			s.sendAtOnce(func(r *retry) bool { return r.to == to })
			return
		}
	}
}

// sendNow has those that wait sent without a pause.
func (s *retries) sendNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sendAtOnce(func(*retry) bool { return true })
}

// sendAtOnce has some sent without a pause. mu is held.
func (s *retries) sendAtOnce(which func(*retry) bool) {
	now := time.Now()
	for i := range s.list {
		if r := &s.list[i]; which(r) {
			r.at = now
			s.sendAt(now)
		}
	}
}

// sendAt sets the timer, unless it is due before that. mu is held.
func (s *retries) sendAt(at time.Time) {
	if !s.at.IsZero() && !at.Before(s.at) {
		return
	}
	s.at = at
	if s.timer == nil {
		s.timer = time.AfterFunc(time.Until(at), s.send)
	} else {
		s.timer.Reset(time.Until(at))
	}
}

// send sends what is due, and what will be within half of its pause: what several calls ask of
// a node that is away costs one dial. The others keep to their pauses, however often another
// node has something to undo.
func (s *retries) send() {
	s.mu.Lock()
	now := time.Now()
	s.at = time.Time{}
	var due, rest []retry
	for _, r := range s.list {
		if r.at.Sub(now) <= r.pause/2 {
			due = append(due, r)
		} else {
			rest = append(rest, r)
			s.sendAt(r.at)
		}
	}
	s.list = rest
	s.mu.Unlock()
	for _, r := range due {
		r.to.Send(r.call)
	}
}

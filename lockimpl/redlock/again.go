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
	at      time.Time // when they are sent
	timer   *time.Timer
	hurried map[*node.Node]time.Time // when those to a node were last sent before their time
}

type retry struct {
	to    *node.Node
	call  node.Call
	pause time.Duration
}

// add has a call sent after a pause, or with those that are sent before that.
func (s *retries) add(to *node.Node, call node.Call, pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, retry{to, call, pause})
	if len(s.list) == 1 || time.Now().Add(pause).Before(s.at) {
		s.sendAfter(pause)
	}
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
			s.sendAfter(0)
			return
		}
	}
}

// sendAfter sets the timer. mu is held.
func (s *retries) sendAfter(pause time.Duration) {
	s.at = time.Now().Add(pause)
	if s.timer == nil {
		s.timer = time.AfterFunc(pause, s.send)
	} else {
		s.timer.Reset(pause)
	}
}

// sendNow has those that wait sent without a pause.
func (s *retries) sendNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) > 0 {
		s.sendAfter(0)
	}
}

func (s *retries) send() {
	s.mu.Lock()
	list := s.list
	s.list = nil
	s.mu.Unlock()
	for _, r := range list {
		r.to.Send(r.call)
	}
}

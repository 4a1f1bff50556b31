// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// An attempt that does not queue goes to a quorum of nodes first: the same for
// every client unless a node is slow, and another one from key to key. The
// others are asked as soon as one of these does not grant, and otherwise after
// one to two head starts; a lease that has been released by then has cost them
// nothing. No guarantee rests on more than a quorum. A head start is the time
// that a short section takes, within these bounds.
const (
	leastHeadStart = time.Millisecond
	mostHeadStart  = 10 * time.Millisecond

	// headStartTrips is a head start in round trips to the last node of the
	// fastest quorum: an acquire and a release, each behind a batch in flight.
	headStartTrips = 4

	// slowBy is how many times slower than the slowest of the fastest quorum a
	// node may be and still be asked first.
	slowBy = 4
)

// headStart returns the time after which, at this moment, the other nodes are
// asked.
func (l *Lock) headStart() time.Duration {
	var trips [64]time.Duration
	all := trips[:0]
	for _, n := range l.nodes {
		all = append(all, n.RoundTrip())
	}
	slices.Sort(all)
	return min(max(headStartTrips*all[l.quorum-1], leastHeadStart), mostHeadStart)
}

// stragglers are the attempts whose other nodes are to be asked.
type stragglers struct {
	mu    sync.Mutex
	young []*attempt // come since the last tick
	old   []*attempt // here for a whole head start at the next
	timer *time.Timer
}

func (s *stragglers) add(a *attempt) {
	l := a.l
	s.mu.Lock()
	defer s.mu.Unlock()
	s.young = append(s.young, a)
	switch {
	case len(s.young)+len(s.old) > 1:
	case s.timer == nil:
		s.timer = time.AfterFunc(l.headStart(), func() { s.tick(l.headStart()) })
	default:
		s.timer.Reset(l.headStart())
	}
}

func (s *stragglers) tick(next time.Duration) {
	s.mu.Lock()
	due := s.old
	s.old, s.young = s.young, nil
	s.mu.Unlock()
	for _, a := range due {
		a.sendRest()
	}
	clear(due)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.young == nil {
		s.young = due[:0]
	}
	if len(s.young)+len(s.old) > 0 {
		s.timer.Reset(next)
	}
}

// send sends the attempt, together with what others send at this moment. It may
// return when it has been answered, or ctx has ended.
func (a *attempt) send(ctx context.Context) {
	l := a.l
	first := a.first()
	a.asked = first
	for i := range a.byNode {
		if first>>i&1 == 1 {
			l.nodes[i].Put(&a.byNode[i])
		}
	}
	if time.Until(a.until) < l.cfg.NodeTimeout {
		l.flush(first)
	} else {
		l.flushOrRun(ctx, first)
	}
	if first != l.everyNode() {
		l.stragglers.add(a)
	}
}

// flushOrRun is flush, but of a single node it may wait for the answers, no longer
// than until ctx ends.
func (l *Lock) flushOrRun(ctx context.Context, nodes uint64) {
	if len(l.nodes) > 1 {
		l.flush(nodes)
		return
	}
	l.letOthersAsk(nodes)
	l.nodes[0].Run(ctx)
}

// letOthersAsk lets goroutines run that may have something to send too, before one of
// the given nodes sends. Those that are busy send what was put to them later.
func (l *Lock) letOthersAsk(nodes uint64) {
	if l.active.Load() <= 1 {
		return
	}
	for i, n := range l.nodes {
		if nodes>>i&1 == 1 && !n.Busy() {
			runtime.Gosched()
			return
		}
	}
}

// flush has the given nodes send what was put to them.
func (l *Lock) flush(nodes uint64) {
	l.letOthersAsk(nodes)
	for i, n := range l.nodes {
		if nodes>>i&1 == 1 {
			n.Flush()
		}
	}
}

func (l *Lock) everyNode() uint64 { return 1<<len(l.nodes) - 1 }

// first returns the nodes to ask first.
func (a *attempt) first() uint64 {
	l := a.l
	if l.eager || a.r.shared || a.r.member != "" {
		return l.everyNode()
	}
	var lags, sorted [64]time.Duration
	n, missing := len(l.nodes), l.quorum
	for i, node := range l.nodes {
		lags[i] = node.Lag()
	}
	sorted = lags
	slices.Sort(sorted[:n])
	limit := slowBy*sorted[l.quorum-1] + leastHeadStart
	var set uint64
	home := int(a.k.Hash % uint32(n))
	for j := 0; missing > 0 && j < n; j++ {
		if i := (home + j) % n; lags[i] <= limit {
			set |= 1 << i
			missing--
		}
	}
	return set
}

// needsMore reports whether the nodes asked first have left the attempt short
// of a quorum. mu is held.
func (a *attempt) needsMore(s *nodeAttempt) bool {
	if a.decided || a.over.Load() || a.asked == a.l.everyNode() {
		return false
	}
	return s.state != granted && !s.held || !a.awaits()
}

// awaits reports whether a node that was asked has not answered. mu is held.
func (a *attempt) awaits() bool {
	for i := range a.byNode {
		if a.asked>>i&1 == 1 && a.byNode[i].state == pending {
			return true
		}
	}
	return false
}

// sendRest asks the nodes that have not been asked, unless the attempt is
// over.
func (a *attempt) sendRest() {
	a.mu.Lock()
	rest := a.l.everyNode() &^ a.asked
	a.asked |= rest
	over := a.over.Load()
	a.mu.Unlock()
	for i := range a.byNode {
		switch {
		case rest>>i&1 == 0:
		case over:
			a.l.work.Add(-1)
		default:
			a.l.nodes[i].Send(&a.byNode[i])
		}
	}
}

// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"container/heap"
	"context"
	"fmt"
	"sync"
	"time"
)

// A Session keeps many leases alive with one goroutine, which renews them in
// batches, each of which is one pipeline for each node. Make it with
// Lock.NewSession; Close gives everything back.
//
// A lease is due a third of the TTL after its own last renewal, whatever becomes
// of the others, so that a slow pass over all of them spreads their times: those
// that were renewed first are due again while, or as soon as, the last are. Where
// the nodes cannot renew all of them in a third of the TTL, one batch follows the
// other without a pause, and leases end only when a pass takes as long as their
// validity. A batch has a deadline of its own,
// by Config.NodeTimeout, and becomes smaller where batches use that up.
type Session struct {
	l    *Lock
	ttl  time.Duration
	ctx  context.Context // ends with the session
	stop context.CancelFunc
	done chan struct{}
	wake chan struct{} // the first time to renew has come nearer

	mu     sync.Mutex
	leases map[*Lease]struct{}
	due    agenda
	closed bool
}

// releasedTogether is how many leases are given back at a time: fewer than a node lets
// wait in its queue, and enough that a node which does not answer costs few time-outs.
const releasedTogether = 1 << 12

// Bounds of a batch: what is sent in one pipeline, and what is still tried at a
// time where large ones do not come back in time.
const (
	mostTogether  = 512
	leastTogether = 8
)

// A dueLease is a lease of a session, and when it is to be renewed.
type dueLease struct {
	lease *Lease
	at    time.Time
}

// An agenda is a heap of leases: the one to renew first is first.
type agenda []dueLease

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].at.Before(a[j].at) }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(dueLease)) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	(*a)[last] = dueLease{}
	*a = (*a)[:last]
	return x
}

// NewSession begins a session whose leases are as long as Config.TTL. It goes on
// until it, or the lock, is closed.
func (l *Lock) NewSession() (*Session, error) {
	ctx, cancel := context.WithCancel(l.ctx)
	s := &Session{
		l: l, ttl: l.cfg.TTL, ctx: ctx, stop: cancel, done: make(chan struct{}), wake: make(chan struct{}, 1),
		leases: map[*Lease]struct{}{},
	}
	started := l.spawn(func() {
		defer close(s.done)
		s.keep(ctx)
	})
	if !started {
		cancel()
		return nil, ErrClosed
	}
	return s, nil
}

// Acquire makes one attempt to take key for the session.
func (s *Session) Acquire(ctx context.Context, key string) (*Lease, error) {
	return s.add(s.l.Acquire(ctx, key, s.ttl))
}

// AcquireWait waits until the session is granted key, or ctx or the session ends.
func (s *Session) AcquireWait(ctx context.Context, key string) (*Lease, error) {
	if ctx == nil {
		return s.Acquire(ctx, key) // which says so
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	got, err := s.l.AcquireWait(ctx, key, s.ttl)
	if err != nil && s.ctx.Err() != nil {
		return nil, fmt.Errorf("acquire %s: %w", shown(key), ErrClosed)
	}
	return s.add(got, err)
}

func (s *Session) add(got *Lease, err error) (*Lease, error) {
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.leases[got] = struct{}{}
		s.plan(got, s.dueAt(got))
	}
	s.mu.Unlock()
	if closed {
		got.e.lose()
		return nil, ErrClosed
	}
	return got, nil
}

// Leases returns what the session holds at this moment.
func (s *Session) Leases() []*Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Lease
	for got := range s.leases {
		if got.e.valid() {
			all = append(all, got)
		}
	}
	return all
}

// plan has a lease renewed at that time. mu is held.
func (s *Session) plan(got *Lease, at time.Time) {
	heap.Push(&s.due, dueLease{got, at})
	if s.due[0].lease == got {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// dueAt is a third of the TTL after the start of the acquisition, or of the last
// renewal; of a lease that was extended for longer, when as much is left of it.
func (s *Session) dueAt(got *Lease) time.Time {
	return got.e.ValidUntil().Add(s.ttl/3 - validity(s.ttl))
}

// keep renews what is due, batch by batch, until ctx ends.
func (s *Session) keep(ctx context.Context) {
	size := mostTogether
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.wake:
		}
		for batch := s.dueBatch(size); len(batch) > 0 && ctx.Err() == nil; batch = s.dueBatch(size) {
			began := time.Now()
			failed := s.renew(ctx, batch)
			size = sized(size, failed, time.Since(began), s.l.cfg.NodeTimeout)
		}
		timer.Reset(s.untilDue())
	}
}

// sized is the size of the next batch after one of that size took so long of the
// time for one exchange: half of it where leases had no answer in that time, and
// otherwise more, slowly where little time was left. Time that does not depend on the size, that of a
// long way, does not make batches smaller.
func sized(size int, failed bool, took, limit time.Duration) int {
	switch {
	case took >= limit && failed:
		size /= 2
	case took < limit/4:
		size *= 2
	default:
		size += size/8 + 1
	}
	return min(max(size, leastTogether), mostTogether)
}

// dueBatch returns up to most leases that are due, the longest waiting first, and
// those with them that soon will be, so that what was acquired one by one is
// renewed together. Nothing is returned while nothing is due.
func (s *Session) dueBatch(most int) []*Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if len(s.due) == 0 || s.due[0].at.After(now) {
		return nil
	}
	var batch []*Lease
	soon := now.Add(s.ttl / 12)
	for len(batch) < most && len(s.due) > 0 && !s.due[0].at.After(soon) {
		got := heap.Pop(&s.due).(dueLease).lease
		if _, ours := s.leases[got]; ours {
			batch = append(batch, got)
		}
	}
	return batch
}

// untilDue is the time until a lease is due.
func (s *Session) untilDue() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.due) == 0 {
		return s.ttl
	}
	return time.Until(s.due[0].at)
}

// renew sends one round for every lease of the batch, waits for all of them
// together, and says when each is due again. It reports whether any failed. Two
// exchanges are the bound: the batch may have to wait for one that is in flight.
func (s *Session) renew(ctx context.Context, batch []*Lease) (failed bool) {
	var rounds []*round
	var renewed []*Lease
	began := time.Now()
	for _, got := range batch {
		e := got.e
		if !e.tryRound() { // somebody extends it at this moment
			s.planNext(got, nil)
			continue
		}
		if r := e.newRound(s.ttl); r != nil {
			rounds, renewed = append(rounds, r), append(renewed, got)
		} else {
			e.endRound()
			s.planNext(got, ErrLost)
		}
	}
	for _, n := range s.l.nodes {
		n.Flush()
	}
	last := began.Add(2 * s.l.cfg.NodeTimeout)
	for i, r := range rounds {
		e := r.e
		err := e.conclude(r, s.l.within(ctx, min(time.Until(last), time.Until(r.limit)), r.done))
		failed = failed || err != nil
		e.endRound()
		s.l.tell(Event{Op: OpExtend, Key: e.a.k.Name, Fence: e.fence, Began: began, Err: err})
		s.planNext(renewed[i], err)
	}
	return failed
}

// planNext plans the next renewal of a lease after one that ended with err: after one
// that failed in a third of what is left of the lease, and so several times before
// its end. What was lost or released is forgotten.
func (s *Session) planNext(got *Lease, err error) {
	at, now := s.dueAt(got), time.Now()
	if err != nil {
		at = now.Add(time.Until(got.e.ValidUntil()) / 3)
	}
	if soonest := now.Add(s.ttl / 32); at.Before(soonest) {
		at = soonest
	}
	valid := got.e.valid()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ours := s.leases[got]; !ours {
		return
	}
	if !valid && got.e.isReleased() {
		delete(s.leases, got)
		return
	}
	if !valid { // nodes lost it: what is left of it, and on its way, is given back when it would have ended
		at = got.e.deadline()
	}
	s.plan(got, at)
}

// Close ends the session and gives back what it holds. It returns the errors of
// the releases; ctx bounds only the wait for them.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	var all []*Lease
	for got := range s.leases {
		all = append(all, got)
	}
	clear(s.leases)
	s.due = nil
	s.mu.Unlock()
	s.stop()
	<-s.done
	errs := make([]error, len(all))
	turns := make(chan struct{}, releasedTogether)
	var wg sync.WaitGroup
	for i, got := range all {
		turns <- struct{}{}
		wg.Go(func() {
			errs[i] = got.Release(ctx)
			<-turns
		})
	}
	wg.Wait()
	return oneLine(errs...)
}

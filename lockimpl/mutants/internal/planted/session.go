// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A Session keeps many leases alive with one goroutine, which renews all of them
// in one pipeline for each node. Make it with Lock.NewSession; Close gives
// everything back.
type Session struct {
	l    *Lock
	ttl  time.Duration
	stop context.CancelFunc
	done chan struct{}

	mu     sync.Mutex
	leases map[*Lease]struct{}
	closed bool
}

// NewSession begins a session whose leases are as long as Config.TTL. It goes on
// until it, or the lock, is closed.
func (l *Lock) NewSession() (*Session, error) {
	ctx, cancel := context.WithCancel(l.ctx)
	s := &Session{l: l, ttl: l.cfg.TTL, stop: cancel, done: make(chan struct{}), leases: map[*Lease]struct{}{}}
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

// AcquireWait waits until the session is granted key or ctx ends.
func (s *Session) AcquireWait(ctx context.Context, key string) (*Lease, error) {
	return s.add(s.l.AcquireWait(ctx, key, s.ttl))
}

func (s *Session) add(got *Lease, err error) (*Lease, error) {
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.leases[got] = struct{}{}
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
		if !got.e.valid() {
			delete(s.leases, got)
			continue
		}
		all = append(all, got)
	}
	return all
}

// keep renews everything every third of the TTL, and twice as often while
// something could not be renewed.
func (s *Session) keep(ctx context.Context) {
	pause := s.ttl / 3
	for {
		rest(ctx, pause)
		if ctx.Err() != nil {
			return
		}
		pause = s.ttl / 3
		if s.renewAll(ctx) != nil {
			pause = s.ttl / 6
		}
	}
}

// renewAll sends a round for every lease, and then waits for all of them.
func (s *Session) renewAll(ctx context.Context) error {
	var rounds []*round
	began := time.Now()
	for _, got := range s.Leases() {
		e := got.e
		if !e.tryRound() { // somebody extends it at this moment
			continue
		}
		if r := e.newRound(s.ttl); r != nil {
			rounds = append(rounds, r)
		} else {
			e.endRound()
		}
	}
	var errs []error
	for _, r := range rounds {
		e := r.e
		err := e.conclude(r, r.wait(ctx))
		e.endRound()
		s.l.observe(s.l.ctx, Event{Op: OpExtend, Key: e.a.k.name, Fence: e.fence, Began: began, Err: err})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Close ends the session and gives back what it holds. It returns the errors of
// the releases.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	var all []*Lease
	for got := range s.leases {
		all = append(all, got)
	}
	clear(s.leases)
	s.mu.Unlock()
	s.stop()
	<-s.done
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, got := range all {
		wg.Go(func() { errs[i] = got.Release(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

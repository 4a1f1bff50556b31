// Package adapt puts a lock under test as it is: built by its own constructor on a
// client of go-redis, rueidis or redigo, whose connections the harness makes over
// its links. Each adapter sets what one recorded operation needs to be one
// command sent once (no retries behind the caller's back, the context's deadline
// heeded), and nothing else.
//
// What the constructor returns is a lockimpl.Locker. Where the lock has other
// methods, [Func] makes one of a function that acquires:
//
//	factory := adapt.GoRedis(func(rdb redis.UniversalClient) lockimpl.Locker {
//		return adapt.Func(func(ctx context.Context, key string, ttl time.Duration) (adapt.Release, error) {
//			token, err := mylock.Acquire(ctx, rdb, key, ttl)
//			if errors.Is(err, mylock.ErrTaken) {
//				return nil, lockimpl.ErrHeld
//			}
//			return func(ctx context.Context) error { return mylock.Release(ctx, rdb, key, token) }, err
//		})
//	})
package adapt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// A Release gives back what an acquire has taken. It answers lockimpl.ErrLost when
// it knows that the lease had ended before, and any other error when it may or
// may not have taken effect.
type Release func(ctx context.Context) error

// Func makes a Locker of a lock that acquires and releases, and does nothing
// else. acquire makes one try to take key for ttl: it answers lockimpl.ErrHeld for
// a definite no, and any other error when it may have taken the key. What it
// takes is held until ttl after the call began.
func Func(acquire func(ctx context.Context, key string, ttl time.Duration) (Release, error)) lockimpl.Locker {
	return &locker{acquire: acquire}
}

type locker struct {
	acquire func(ctx context.Context, key string, ttl time.Duration) (Release, error)

	mu    sync.Mutex
	close []func() error // the clients that an adapter has made
}

// closing has the Locker that a constructor has made close clients too. One of
// the caller's own does that itself; what it forgets ends with its links.
func closing(l lockimpl.Locker, clients ...func() error) lockimpl.Locker {
	if l == nil { // which the harness refuses
		_ = (&locker{close: clients}).Close()
	}
	if own, ok := l.(*locker); ok {
		own.mu.Lock()
		defer own.mu.Unlock()
		own.close = append(own.close, clients...)
	}
	return l
}

// Acquire implements lockimpl.Locker.
func (l *locker) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	began := time.Now()
	release, err := l.acquire(ctx, key, ttl)
	switch {
	case err != nil:
		return nil, err
	case release == nil:
		return nil, errors.New("acquire returned neither a release nor an error")
	}
	return &lease{until: began.Add(ttl), release: release}, nil
}

// Close implements lockimpl.Locker.
func (l *locker) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, end := range l.close {
		errs = append(errs, end())
	}
	l.close = nil
	return errors.Join(errs...)
}

type lease struct {
	until   time.Time
	release Release
}

func (*lease) Fence() uint64 { return 0 }

func (l *lease) ValidUntil() time.Time { return l.until }

// Extend sends nothing: the lock has no such thing.
func (*lease) Extend(context.Context, time.Duration) error {
	return fmt.Errorf("extend: %w", errors.ErrUnsupported)
}

func (l *lease) Release(ctx context.Context) error { return l.release(ctx) }

var errNoNodes = errors.New("the lock needs a node")

// onFirst is the factory of a lock on one master.
func onFirst(build func(lockimpl.Node) (lockimpl.Locker, error)) lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		switch len(nodes) {
		case 0:
			return nil, errNoNodes
		case 1:
			return build(nodes[0])
		}
		return nil, fmt.Errorf("the lock is built on one client: %d masters are too many, 1 would do", len(nodes))
	}
}

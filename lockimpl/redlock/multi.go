package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locktorture/lockimpl"
)

// AcquireAll makes one try for all of keys, or none. They
// are taken in the order of their names, whatever order is asked for, so that
// of several clients one gets through.
func (l *Lock) AcquireAll(ctx context.Context, keys []string, ttl time.Duration) ([]*Lease, error) {
	return l.acquireAll(ctx, keys, ttl, l.Acquire)
}

// AcquireAllWait waits until it holds all of keys. They are waited for in the
// order of their names, which rules out a deadlock.
func (l *Lock) AcquireAllWait(ctx context.Context, keys []string, ttl time.Duration) ([]*Lease, error) {
	return l.acquireAll(ctx, keys, ttl, l.AcquireWait)
}

func (l *Lock) acquireAll(
	ctx context.Context, keys []string, ttl time.Duration,
	take func(ctx context.Context, key string, ttl time.Duration) (*Lease, error),
) ([]*Lease, error) {
	order := slices.Sorted(slices.Values(keys))
	if len(order) == 0 {
		return nil, fmt.Errorf("acquire all: %w: no keys", ErrMisconfigured)
	}
	if len(slices.Compact(slices.Clone(order))) < len(order) {
		return nil, fmt.Errorf("acquire all: %w: a key appears twice", ErrMisconfigured)
	}
	for _, key := range order {
		if err := l.admissible(ctx, l.keys(key), request{ttl: ttl}); err != nil {
			return nil, fmt.Errorf("acquire all: %w", err)
		}
	}
	if !l.work.Begin(1) {
		return nil, ErrClosed
	}
	defer l.work.Add(-1) // Close waits until what was taken has been given back
	leases := make([]*Lease, len(keys))
	for _, key := range order {
		waiting, stop := l.keepAlive(ctx, leases, ttl)
		got, err := take(waiting, key, ttl)
		if err == nil {
			leases[slices.Index(keys, key)] = got
		}
		err = oneLine(err, stop())
		if err == nil {
			err = l.keepAll(ctx, leases, ttl)
		}
		if err != nil {
			giveBackAll(leases)
			return nil, fmt.Errorf("acquire all: %w", err)
		}
	}
	return leases, nil
}

// keepAlive extends what has been taken, while the next key is waited for, until
// stop is called. When a lease is lost the wait ends, and stop returns why.
func (l *Lock) keepAlive(ctx context.Context, leases []*Lease, ttl time.Duration) (context.Context, func() error) {
	taken := slices.DeleteFunc(slices.Clone(leases), func(got *Lease) bool { return got == nil })
	if len(taken) == 0 {
		return ctx, func() error { return nil }
	}
	waiting, cancel := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		var err error
		for err == nil && waiting.Err() == nil {
			sleep(waiting, ttl/6)
			if waiting.Err() == nil {
				err = l.keepAll(waiting, taken, ttl)
			}
			if !errors.Is(err, lockimpl.ErrLost) {
				err = nil // the deadline still stands
			}
		}
		cancel(err)
		ended <- err
	}()
	return waiting, func() error {
		cancel(nil)
		return <-ended
	}
}

// keepAll extends what was taken first and has lost a third of its validity
// while the rest was waited for.
func (l *Lock) keepAll(ctx context.Context, leases []*Lease, ttl time.Duration) error {
	for _, got := range leases {
		if got == nil || time.Until(got.ValidUntil()) > validity(ttl)*2/3 {
			continue
		}
		if err := got.Extend(ctx, ttl); err != nil {
			return err
		}
	}
	return nil
}

// giveBackAll sends the releases and does not wait for answers.
func giveBackAll(leases []*Lease) {
	for _, got := range leases {
		if got != nil {
			got.e.lose()
		}
	}
}

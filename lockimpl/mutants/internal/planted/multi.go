// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// AcquireAll makes one try for all of keys, or none. They
// are taken in the order of their names, whatever order is asked for, so that
// of several clients one gets through.
func (l *Lock) AcquireAll(ctx context.Context, keys []string, ttl time.Duration) ([]*Lease, error) {
	order, err := l.inOrder(ctx, keys, ttl)
	if err != nil {
		return nil, err
	}
	leases, lost, err := l.takeAll(ctx, keys, order, ttl, l.Acquire)
	if lost != nil {
		err = lost
	}
	return allOrNone(leases, err)
}

// AcquireAllWait waits until it holds all of keys or ctx ends. They are waited for in the
// order of their names, which rules out a deadlock; all of them anew when one that was
// granted is lost, or cannot be extended, before the last is.
func (l *Lock) AcquireAllWait(ctx context.Context, keys []string, ttl time.Duration) ([]*Lease, error) {
	order, err := l.inOrder(ctx, keys, ttl)
	if err != nil {
		return nil, err
	}
	for _, key := range order {
		if err := l.notUnder(ctx, key, request{ttl: ttl}); err != nil {
			return nil, fmt.Errorf("acquire all: %w", err)
		}
	}
	for tries := 0; ; tries++ {
		leases, lost, err := l.takeAll(ctx, keys, order, ttl, l.AcquireWait)
		if lost == nil || !retriable(ctx, lost) {
			return allOrNone(leases, oneLine(err, lost))
		}
		_ = l.within(ctx, l.pause(nil, lost, tries), l.untilClose.Done())
	}
}

func allOrNone(leases []*Lease, err error) ([]*Lease, error) {
	if err != nil {
		return nil, fmt.Errorf("acquire all: %w", err)
	}
	return leases, nil
}

// inOrder returns keys in the order in which they are taken, unless they cannot be.
func (l *Lock) inOrder(ctx context.Context, keys []string, ttl time.Duration) ([]string, error) {
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
	return order, nil
}

// takeAll takes the keys in that order, or none; err says why one was not granted, and lost why
// those that were granted before could not be kept.
func (l *Lock) takeAll(
	ctx context.Context, keys, order []string, ttl time.Duration,
	take func(ctx context.Context, key string, ttl time.Duration) (*Lease, error),
) (leases []*Lease, lost, err error) {
	if !l.work.Begin(1) {
		return nil, nil, ErrClosed
	}
	defer l.work.Add(-1) // Close waits until what was taken has been given back
	leases = make([]*Lease, len(keys))
	for _, key := range order {
		waiting, stop := l.keepAlive(ctx, leases, ttl)
		got, err := take(waiting, key, ttl)
		if err == nil {
			leases[slices.Index(keys, key)] = got
		}
		lost := stop(err == nil)
		if err == nil && lost == nil {
			lost = l.keepAll(ctx, leases, ttl)
		}
		if err != nil || lost != nil {
			giveBackAll(leases)
			return nil, lost, err
		}
	}
	return leases, nil, nil
}

// keepAlive extends what has been taken, while the next key is waited for, until
// stop is called. When a lease is lost the wait ends, and stop returns why. It is told whether
// the next key was granted: an extension that is under way then comes to its end, since another
// would take as long once more, and of a long way a lease lasts for a few exchanges only.
func (l *Lock) keepAlive(ctx context.Context, leases []*Lease, ttl time.Duration) (_ context.Context, stop func(granted bool) error) {
	taken := slices.DeleteFunc(slices.Clone(leases), func(got *Lease) bool { return got == nil })
	if len(taken) == 0 {
		return ctx, func(bool) error { return nil }
	}
	waiting, cancel := context.WithCancelCause(ctx)
	extending, abort := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		var err error
		for err == nil && waiting.Err() == nil {
			sleep(waiting, ttl/6)
			if waiting.Err() == nil {
				err = l.keepAll(extending, taken, ttl)
			}
			if !errors.Is(err, lockimpl.ErrLost) {
				err = nil // the deadline still stands
			}
		}
		cancel(err)
		ended <- err
	}()
	return waiting, func(granted bool) error {
		defer abort()
		if !granted {
			abort()
		}
		cancel(nil)
		return <-ended
	}
}

// keepAll extends what was taken first and has lost a third of its validity
// while the rest was waited for, and with it what has lost half as much: all of it together, since
// one after the other may take longer than a lease lasts.
func (l *Lock) keepAll(ctx context.Context, leases []*Lease, ttl time.Duration) (failed error) {
	left := func(got *Lease) time.Duration { return time.Until(got.ValidUntil()) }
	if !slices.ContainsFunc(leases, func(got *Lease) bool { return got != nil && left(got) <= validity(ttl)*2/3 }) {
		return nil
	}
	errs := make([]error, len(leases))
	var extending sync.WaitGroup
	for i, got := range leases {
		if got != nil && left(got) <= validity(ttl)*5/6 {
			extending.Go(func() { errs[i] = got.Extend(ctx, ttl) })
		}
	}
	extending.Wait()
	for _, err := range errs {
		if failed == nil || errors.Is(err, lockimpl.ErrLost) { // a loss is told before an outage
			failed = err
		}
	}
	return failed
}

// giveBackAll sends the releases and does not wait for answers.
func giveBackAll(leases []*Lease) {
	for _, got := range leases {
		if got != nil {
			got.e.lose()
		}
	}
}

// Package redislock puts github.com/bsm/redislock v0.9.4 under test.
//
// Promise: a lock on one master, with an owner token that release and refresh
// compare. It tells its user no deadline: whoever wants one asks the server for
// the TTL left.
//
// Lacks: fencing tokens, renewal, a notice of loss, and a look at the clock: a
// reply that comes after the TTL has run out is returned as a held lock. How
// long a reply may take is up to go-redis, which heeds no context's deadline
// unless ContextTimeoutEnabled is set; it is not, as by default.
package redislock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
)

var errNoNodes = errors.New("redislock needs a node")

// New returns the factory of lockers on the first node.
func New() lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		if len(nodes) == 0 {
			return nil, errNoNodes
		}
		opt := conn.Options(nodes[0])
		opt.ContextTimeoutEnabled = false
		rdb := redis.NewClient(opt)
		return &locker{rdb: rdb, client: redislock.New(rdb)}, nil
	}
}

type locker struct {
	rdb    *redis.Client
	client *redislock.Client
}

// LeaseKeys implements lockimpl.KeyLister.
func (*locker) LeaseKeys(key string) []string { return []string{key} }

func (l *locker) Close() error { return l.rdb.Close() }

// Acquire makes one try.
func (l *locker) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	lock, err := l.client.Obtain(ctx, key, ttl, nil)
	switch {
	case errors.Is(err, redislock.ErrNotObtained):
		return nil, lockimpl.ErrHeld
	case err != nil:
		return nil, fmt.Errorf("obtain lock: %w", err)
	}
	return lease{lock}, nil
}

type lease struct{ lock *redislock.Lock }

func (lease) Fence() uint64 { return 0 }

// ValidUntil is zero: the library promises no time.
func (lease) ValidUntil() time.Time { return time.Time{} }

func (l lease) Extend(ctx context.Context, ttl time.Duration) error {
	err := l.lock.Refresh(ctx, ttl, nil)
	switch {
	case errors.Is(err, redislock.ErrNotObtained):
		return lockimpl.ErrLost
	case err != nil:
		return fmt.Errorf("refresh lock: %w", err)
	}
	return nil
}

func (l lease) Release(ctx context.Context) error {
	err := l.lock.Release(ctx)
	switch {
	case errors.Is(err, redislock.ErrLockNotHeld):
		return lockimpl.ErrLost
	case err != nil:
		return fmt.Errorf("release lock: %w", err)
	}
	return nil
}

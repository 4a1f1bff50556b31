package child

import (
	"context"
	"time"

	"locktorture/lockimpl"
)

// The types below add to a Locker what its child has declared, so that asking
// whether a lock has an ability asks the child.
type (
	shared    struct{ l *Locker }
	reentrant struct{ l *Locker }

	sharedLocker struct {
		*Locker
		shared
	}
	reentrantLocker struct {
		*Locker
		reentrant
	}
	fullLocker struct {
		*Locker
		shared
		reentrant
	}
)

// AcquireShared implements lockimpl.SharedLocker.
func (s shared) AcquireShared(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return s.l.acquire(ctx, key, ttl, request{"wait_ms": 0, "mode": "r"})
}

// AcquireAs implements lockimpl.ReentrantLocker.
func (r reentrant) AcquireAs(ctx context.Context, owner, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return r.l.acquire(ctx, key, ttl, request{"wait_ms": 0, "owner": owner})
}

func (l *Locker) withAbilities() lockimpl.Locker {
	switch s, r := l.caps["rw"], l.caps["reentrant"]; {
	case s && r:
		return fullLocker{l, shared{l}, reentrant{l}}
	case s:
		return sharedLocker{l, shared{l}}
	case r:
		return reentrantLocker{l, reentrant{l}}
	}
	return l
}

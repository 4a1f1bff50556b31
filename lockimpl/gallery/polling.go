package gallery

import (
	"context"
	"errors"
	"time"

	"locktorture/lockimpl"
)

const (
	pollInterval = 100 * time.Millisecond
	pollMax      = 6 // raised before it is compared: one try fewer is made
)

// Polling is the recipe `polling`: `token-lua` behind tryLock(ttl, interval,
// max), here 100 ms and 6.
//
// Acquire makes one try. AcquireWait tries max − 1 times, since the counter is
// raised before it is compared with max, and waits for the interval after every
// try, the last one too; then it says "not taken" (ErrHeld), however long its
// context would last. Any error ends it at once, with the same "not taken".
// Release is that of `token-lua`. Nothing is scaled.
//
// Flaw: it is safe, but a bad way to wait. It gives up although the lock
// becomes free; a newcomer overtakes whoever has waited longest; a free lock
// stays free for up to an interval; every waiter loads the server; and whoever
// lost the reply to a grant is told "not taken" of a key that stands for a TTL.
//
// Shown by: contention, in hand-offs and fairness, not in violations.
// Corrected by: `single`, whose waiters are woken in order.
func Polling() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return polling{m} })
}

func pollingRecipe() Recipe {
	return Recipe{
		ID: "polling", Unchecked: true,
		Flaw:        "bounded polling: gives up although the lock becomes free; unfair; a herd",
		Needs:       "contention; shows in hand-offs and fairness, not in violations",
		CorrectedBy: "single",
		Nodes:       1,
		Extends:     true,
		Factory:     Polling(),
	}
}

type polling struct{ master }

func (l polling) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.acquireToken(ctx, key, ttl)
}

// AcquireWait implements lockimpl.WaitLocker by bounded polling.
func (l polling) AcquireWait(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	for count := 1; count < pollMax; count++ {
		lease, err := l.Acquire(ctx, key, ttl)
		if err == nil {
			return lease, nil
		}
		if !errors.Is(err, lockimpl.ErrHeld) || !wait(ctx, pollInterval) {
			break
		}
	}
	return nil, lockimpl.ErrHeld
}

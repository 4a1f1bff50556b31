package gallery

import (
	"context"
	"errors"
	"time"

	"locktorture/lockimpl"
)

const (
	pollInterval = 100 * time.Millisecond
	pollTries    = 5
)

// Polling is the recipe `polling`: `token-lua` behind tryLock(ttl, interval,
// tries), here every 100 ms and 5 times.
//
// Acquire makes one try. AcquireWait tries, waits for the interval, and gives
// up with ErrHeld after the last try, however long its context would last.
//
// Flaw: it is safe, but a bad way to wait. It gives up although the lock
// becomes free; a newcomer overtakes whoever has waited longest; a free lock
// stays free for up to an interval; and every waiter loads the server.
//
// Shown by: contention, in hand-offs and fairness, not in violations.
// Corrected by: `single`, whose waiters are woken in order.
func Polling() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return polling{m} })
}

func pollingRecipe() Recipe {
	return Recipe{
		ID:          "polling",
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
	for range pollTries - 1 {
		lease, err := l.Acquire(ctx, key, ttl)
		if !errors.Is(err, lockimpl.ErrHeld) {
			return lease, err
		}
		if !wait(ctx, pollInterval) {
			return nil, lockimpl.ErrHeld
		}
	}
	return l.Acquire(ctx, key, ttl)
}

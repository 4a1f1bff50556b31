package redlock_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
)

// A contender takes keys in every way that there is, for as long as it may, and
// uses the leases in every way: gives them back at once or late, extends and
// renews them, stays in them beyond their end, and leaves some lying.
type contender struct {
	name    string
	lock    world.Lock
	book    *book
	keys    []string
	longest time.Duration // of its leases
	rng     *rand.Rand

	refused, unknown int
}

// live contends until ctx ends.
func (c *contender) live(ctx context.Context) {
	for ctx.Err() == nil {
		c.turn(ctx)
		pause(ctx, c.below(c.longest/40))
	}
}

// pause sleeps, or returns at the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (c *contender) below(d time.Duration) time.Duration {
	return time.Duration(c.rng.Int64N(int64(max(d, 1))))
}

// taking is one way to take a key.
type taking struct {
	ability string
	shared  bool
	waits   bool
	take    func(l world.Lock, ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error)
}

var takings = []taking{
	{"acquire", false, false, world.Lock.Acquire},
	{"acquire", false, false, world.Lock.Acquire},
	{"wait", false, true, world.Lock.AcquireWait},
	{"wait", false, true, world.Lock.AcquireWait},
	{"fair", false, true, world.Lock.AcquireFair},
	{"shared", true, false, world.Lock.AcquireShared},
	{"shared wait", true, true, world.Lock.AcquireSharedWait},
	{reentrant, false, false, nil},
}

const reentrant = "re-entrant"

// turn takes one key, or all of them, and uses what it got.
func (c *contender) turn(ctx context.Context) {
	ttl := c.longest/10 + c.below(c.longest*9/10)
	if c.rng.IntN(20) == 0 {
		c.takeAll(ctx, ttl)
		return
	}
	way, key := takings[c.rng.IntN(len(takings))], c.keys[c.rng.IntN(len(c.keys))]
	limit := c.longest
	if way.waits {
		limit *= 2
	}
	asking, cancel := context.WithTimeout(ctx, c.below(limit))
	defer cancel()
	asked := c.book.ask(c.name, key, way.shared)
	lease, err := c.take(asking, way, key, ttl)
	if err != nil {
		c.count(err)
		return
	}
	h := c.book.granted(asked, way.ability, lease)
	if way.ability == reentrant {
		c.enterAgain(asking, key, h, ttl)
		return
	}
	c.use(ctx, key, h, ttl)
}

// enterAgain enters a key that this client is in, and leaves it twice.
func (c *contender) enterAgain(ctx context.Context, key string, h *holding, ttl time.Duration) {
	inner, err := c.lock.AcquireAs(ctx, c.name, key, ttl)
	if err == nil && inner.Fence() != h.lease.Fence() && relied(h.lease) {
		c.book.note("%s: %s entered again, and its token changed from %d to %d", key, c.name, h.lease.Fence(), inner.Fence())
	}
	if err == nil {
		c.book.extended(key)
		pause(ctx, c.below(ttl/4))
		_ = inner.Release(ctx)
	}
	pause(ctx, c.below(ttl/10))
	c.giveBack(key, h)
}

func (c *contender) take(ctx context.Context, way taking, key string, ttl time.Duration) (lockimpl.Lease, error) {
	if way.ability == reentrant {
		return c.lock.AcquireAs(ctx, c.name, key, ttl)
	}
	return way.take(c.lock, ctx, key, ttl)
}

func (c *contender) takeAll(ctx context.Context, ttl time.Duration) {
	asked := make([]inquiry, len(c.keys))
	for i, key := range c.keys {
		asked[i] = c.book.ask(c.name, key, false)
	}
	leases, err := c.lock.AcquireAll(ctx, c.keys, ttl)
	if err != nil {
		c.count(err)
		return
	}
	held := make([]*holding, len(leases))
	for i, lease := range leases {
		held[i] = c.book.granted(asked[i], "all", lease)
	}
	pause(ctx, c.below(ttl/10))
	for i, h := range held {
		c.giveBack(c.keys[i], h)
	}
}

func (c *contender) count(err error) {
	if errors.Is(err, lockimpl.ErrHeld) || errors.Is(err, lockimpl.ErrNoQuorum) {
		c.refused++
	} else {
		c.unknown++
	}
}

func (c *contender) use(ctx context.Context, key string, h *holding, ttl time.Duration) {
	switch c.rng.IntN(20) {
	case 0: // it stays beyond the end of its lease
		pause(ctx, ttl+c.below(ttl))
	case 1: // it is forgotten
		pause(ctx, c.below(ttl))
		return
	case 2:
		h.lease.(lockimpl.Renewer).Renew(func(lockimpl.Renewal) { c.book.extended(key) })
		pause(ctx, c.below(3*ttl))
	case 3, 4:
		for range 1 + c.rng.IntN(5) {
			pause(ctx, c.below(ttl))
			if h.lease.Extend(ctx, ttl) == nil {
				c.book.extended(key)
			}
		}
	default:
		pause(ctx, c.below(ttl/20))
	}
	c.giveBack(key, h)
}

// giveBack releases a lease, or leaves that to the background.
func (c *contender) giveBack(key string, h *holding) {
	ctx, cancel := context.WithTimeout(context.Background(), c.longest)
	defer cancel()
	if c.rng.IntN(5) == 0 {
		cancel()
	}
	c.book.left(key, h)
	_ = h.lease.Release(ctx)
}

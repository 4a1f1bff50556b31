package gallery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
)

// RedissonRedlock is the recipe `redisson-redlock`: `redisson-hash` on N
// independent masters.
//
// Acquire: the hash lock of every master in turn, each with a time-out that is
// small against the TTL; held when at most N − (N/2 + 1) of them failed, and
// otherwise undone on all. Each part that was taken has a watchdog of its own.
// Release: on every master. The time-out per master is 50 ms, and never more
// than a tenth of the TTL; the watchdog's TTL is scaled as in `redisson-hash`.
//
// Flaws: nothing fences the guarded resource. A master of the holder's quorum
// that comes back empty is free to be part of a second one (S10, and S1 with
// it). A part that its watchdog loses is lost unseen: nobody counts how many are
// left.
//
// Shown by: cutting the holder off from all masters but a quorum and restarting
// one of those empty.
// Corrected by: `redlock`, which keeps returning nodes out until no lease that
// they forgot can be alive, and counts what a renewal reaches.
func RedissonRedlock() lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		if len(nodes) == 0 {
			return nil, errNoNodes
		}
		l := redissonRedlock{parts: make([]*redissonHash, len(nodes))}
		for i, n := range nodes {
			l.parts[i] = newRedissonHash(master{rdb: conn.Open(n)}, once)
		}
		return l, nil
	}
}

// once is a repeater that does not repeat: a master that is silent is passed
// over.
func once(ctx context.Context, _ time.Duration, command func(context.Context) (int64, error)) (int64, error) {
	return command(ctx)
}

func redissonRedlockRecipe() Recipe {
	return Recipe{
		ID:          "redisson-redlock",
		Flaw:        "no fence, a master that forgets lets a second quorum form, and a part is lost unseen",
		Needs:       "cut the holder off from all masters but a quorum and restart one of those empty",
		Expected:    []string{"S10", "S1"},
		CorrectedBy: "redlock",
		Nodes:       5,
		Factory:     RedissonRedlock(),
	}
}

type redissonRedlock struct{ parts []*redissonHash }

func (redissonRedlock) LeaseKeys(key string) []string { return []string{key} }

func (l redissonRedlock) Close() error {
	var err error
	for _, p := range l.parts {
		err = errors.Join(err, p.Close())
	}
	return err
}

func (l redissonRedlock) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.AcquireAs(ctx, newToken(), key, ttl)
}

// AcquireAs implements lockimpl.ReentrantLocker.
func (l redissonRedlock) AcquireAs(ctx context.Context, owner, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start := time.Now()
	held := &partsLease{locker: l, hold: hold{owner, key}, ttl: ttl, until: start.Add(ttl), parts: make([]lockimpl.Lease, len(l.parts))}
	votes := ballot{of: len(l.parts)}
	for i, p := range l.parts {
		one, cancel := context.WithTimeout(ctx, nodeLimit(ttl))
		part, err := p.AcquireAs(one, owner, key, ttl)
		cancel()
		if err == nil {
			held.parts[i] = part
		}
		votes.count(err)
	}
	if votes.yes >= majority(votes.of) {
		return held, nil
	}
	// An undo must not be lost because the attempt ran out of time.
	_ = held.Release(context.WithoutCancel(ctx))
	return nil, fmt.Errorf("take lock: %w", votes.refusal())
}

// A partsLease is one holding, on a majority of the masters at first.
type partsLease struct {
	locker redissonRedlock
	hold   hold
	ttl    time.Duration
	parts  []lockimpl.Lease // by master; nil where it was not taken

	mu    sync.Mutex
	until time.Time
}

func (*partsLease) Fence() uint64 { return 0 }

// ValidUntil moves on as long as some part is renewed: the recipe does not ask
// whether those that are left are a majority.
func (l *partsLease) ValidUntil() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.parts {
		if p == nil {
			continue
		}
		if until := p.ValidUntil(); until.After(l.until) {
			l.until = until
		}
	}
	return l.until
}

// Extend is not part of the recipe: nothing is sent.
func (*partsLease) Extend(context.Context, time.Duration) error { return errors.ErrUnsupported }

// Renew implements lockimpl.Renewer: observe is told of every part's rounds.
func (l *partsLease) Renew(observe func(lockimpl.Renewal)) {
	for _, p := range l.parts {
		if p != nil {
			p.(lockimpl.Renewer).Renew(observe)
		}
	}
}

// Release unlocks on all masters, those that were not taken too.
func (l *partsLease) Release(ctx context.Context) error {
	votes := ballot{of: len(l.parts)}
	for i, p := range l.parts {
		one, cancel := context.WithTimeout(ctx, nodeLimit(l.ttl))
		if p != nil {
			votes.count(p.Release(one))
		} else {
			votes.count(l.locker.parts[i].drop(one, l.hold, l.ttl))
		}
		cancel()
	}
	if votes.yes >= majority(votes.of) {
		return nil
	}
	return fmt.Errorf("release lock: %w", votes.loss())
}

package gallery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
)

const (
	// driftFactor and driftFloor are the part of a TTL given up to the drift
	// between the clocks of nodes and client, and to Redis' expiry precision.
	// Source: Redis documentation, "Distributed locks with Redis".
	driftFactor = 0.01
	driftFloor  = 2 * time.Millisecond

	// nodeTimeout is after how long a node that does not answer is passed over:
	// small against the TTL, so that a dead node does not use it up. The same
	// source names 5 to 50 ms for a TTL of 10 s.
	nodeTimeout = 50 * time.Millisecond

	// nodeShare bounds nodeTimeout to a part of a short TTL.
	nodeShare = 10
)

// RedlockPlain is the recipe `redlock-plain`: Redlock as its description
// gives it, and no more.
//
// Acquire: note the time; SET key token NX PX ttl on every master in turn,
// each with a time-out that is small against the TTL; the lock is held when a
// majority said yes and validity = ttl − elapsed − drift is still positive.
// Otherwise, and at release: compare the token and delete, on every master,
// those that refused too. Extend: compare the token and PEXPIRE, on every
// master, by the same rule. The time-out of 50 ms is not scaled, but never more
// than a tenth of the TTL.
//
// Flaw: nothing fences the guarded resource, so that a holder that is paused
// beyond its validity writes late (S3z). A master of the holder's quorum that
// comes back empty, or whose clock jumps, is free to be part of a second
// quorum (S10, and S1 with it).
//
// Shown by: pausing the holder; cutting the holder off from all masters but a
// quorum and restarting one of those empty; a clock jump on the one master
// that two quorums share.
// Corrected by: `redlock`, which keeps returning nodes out until no lease that
// they forgot can be alive, and issues fencing tokens.
func RedlockPlain() lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		if len(nodes) == 0 {
			return nil, errNoNodes
		}
		l := redlockPlain{rdbs: make([]*redis.Client, len(nodes))}
		for i, n := range nodes {
			l.rdbs[i] = conn.Open(n)
		}
		return l, nil
	}
}

func redlockPlainRecipe() Recipe {
	return Recipe{
		ID:          "redlock-plain",
		Flaw:        "no fence, and a master that forgets lets a second quorum form",
		Needs:       "pause the holder; cut it off from all masters but a quorum and restart one of those empty; clock jump on the master that two quorums share",
		Expected:    []string{"S3z", "S10", "S1"},
		CorrectedBy: "redlock",
		Nodes:       5,
		Extends:     true,
		Factory:     RedlockPlain(),
	}
}

type redlockPlain struct{ rdbs []*redis.Client }

func (redlockPlain) LeaseKeys(key string) []string { return []string{key} }

func (l redlockPlain) Close() error {
	var err error
	for _, rdb := range l.rdbs {
		err = errors.Join(err, rdb.Close())
	}
	return err
}

func (l redlockPlain) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start, token := time.Now(), newToken()
	votes := l.ask(ctx, ttl, func(ctx context.Context, rdb *redis.Client) (bool, error) {
		return setNXPX(ctx, rdb, key, token, ttl)
	})
	until := validity(start, ttl)
	if votes.yes >= majority(len(l.rdbs)) && time.Now().Before(until) {
		return &redlockPlainLease{locker: l, key: key, token: token, ttl: ttl, until: until}, nil
	}
	// An undo must not be lost because the attempt ran out of time.
	l.remove(context.WithoutCancel(ctx), key, token, ttl)
	return nil, fmt.Errorf("take lock: %w", votes.refusal())
}

// setNXPX sets key to token where there is none and reports whether it did. The
// expiry is in milliseconds, as the recipe publishes it, also for whole seconds.
func setNXPX(ctx context.Context, rdb *redis.Client, key, token string, ttl time.Duration) (bool, error) {
	err := rdb.Do(ctx, "SET", key, token, "NX", "PX", ttl.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// remove deletes the token wherever it is.
func (l redlockPlain) remove(ctx context.Context, key, token string, ttl time.Duration) ballot {
	return l.ask(ctx, ttl, func(ctx context.Context, rdb *redis.Client) (bool, error) {
		return compareAndDelete(ctx, rdb, key, token)
	})
}

// ask puts one command to every master in turn.
func (l redlockPlain) ask(ctx context.Context, ttl time.Duration, command func(context.Context, *redis.Client) (bool, error)) ballot {
	votes := ballot{of: len(l.rdbs)}
	for _, rdb := range l.rdbs {
		one, cancel := context.WithTimeout(ctx, nodeLimit(ttl))
		votes.add(command(one, rdb))
		cancel()
	}
	return votes
}

// nodeLimit is how long one master may take of an attempt with this TTL.
func nodeLimit(ttl time.Duration) time.Duration { return min(nodeTimeout, ttl/nodeShare) }

// validity is the end of a lease that was begun at start.
func validity(start time.Time, ttl time.Duration) time.Time {
	drift := time.Duration(float64(ttl)*driftFactor) + driftFloor
	return start.Add(ttl - drift)
}

// A ballot counts the masters' answers to one question.
type ballot struct {
	of, yes, no, unsent int
	errs                []error
}

func (b *ballot) add(ok bool, err error) {
	switch {
	case err == nil && ok:
		b.yes++
	case err == nil:
		b.no++
	default:
		if conn.Unsent(err) {
			b.unsent++
		}
		b.errs = append(b.errs, err)
	}
}

// count counts the answer of a lock on one master.
func (b *ballot) count(err error) {
	if errors.Is(err, lockimpl.ErrHeld) || errors.Is(err, lockimpl.ErrLost) {
		b.add(false, nil)
		return
	}
	b.add(err == nil, err)
}

// refusal says why an attempt won no majority: ErrHeld when enough masters said
// no to rule one out, ErrNoQuorum when they did together with those that were
// never reached, and otherwise nothing definite.
func (b *ballot) refusal() error {
	enough := b.of - majority(b.of) + 1
	switch {
	case b.no >= enough:
		return lockimpl.ErrHeld
	case b.no+b.unsent >= enough:
		return errors.Join(append(b.errs, lockimpl.ErrNoQuorum)...)
	}
	return b.undecided()
}

// loss says why a token is not, or not surely, on a majority any more: ErrLost
// when enough masters do not know it.
func (b *ballot) loss() error {
	if b.no >= b.of-majority(b.of)+1 {
		return lockimpl.ErrLost
	}
	return b.undecided()
}

func (b *ballot) undecided() error {
	return fmt.Errorf("%d of %d masters said yes, %d no: %w", b.yes, b.of, b.no,
		errors.Join(append(b.errs, errNoMajority)...))
}

// majority is the smallest quorum of n masters.
func majority(n int) int { return n/2 + 1 }

var errNoMajority = errors.New("no majority in time")

// A redlockPlainLease is one token on a majority of the masters.
type redlockPlainLease struct {
	locker     redlockPlain
	key, token string
	ttl        time.Duration

	mu    sync.Mutex
	until time.Time
}

func (*redlockPlainLease) Fence() uint64 { return 0 }

func (l *redlockPlainLease) ValidUntil() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

func (l *redlockPlainLease) Extend(ctx context.Context, ttl time.Duration) error {
	start := time.Now()
	votes := l.locker.ask(ctx, ttl, func(ctx context.Context, rdb *redis.Client) (bool, error) {
		return compareAndExpire(ctx, rdb, l.key, l.token, ttl)
	})
	until := validity(start, ttl)
	if votes.yes < majority(votes.of) || !time.Now().Before(until) {
		return fmt.Errorf("extend lock: %w", votes.loss())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
	return nil
}

func (l *redlockPlainLease) Release(ctx context.Context) error {
	votes := l.locker.remove(ctx, l.key, l.token, l.ttl)
	if votes.yes >= majority(votes.of) {
		return nil
	}
	return fmt.Errorf("release lock: %w", votes.loss())
}

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

// The scripts keep one hash per lock: field = owner, value = how often it
// holds. KEYS[1] is the hash, ARGV[1] the TTL in milliseconds, ARGV[2] the
// owner.
var (
	// hashTake answers nil when the owner holds the lock, once more, and
	// otherwise the milliseconds that the other's lease has left.
	hashTake = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
	redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
	redis.call('PEXPIRE', KEYS[1], ARGV[1])
	return nil
end
return redis.call('PTTL', KEYS[1])`)

	// hashLeave answers nil when the owner does not hold the lock, 0 when it
	// still does, and 1 when it has let go; then it publishes on KEYS[2].
	hashLeave = redis.NewScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
	return nil
end
if redis.call('HINCRBY', KEYS[1], ARGV[2], -1) > 0 then
	redis.call('PEXPIRE', KEYS[1], ARGV[1])
	return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], 0)
return 1`)

	hashRenew = redis.NewScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
	redis.call('PEXPIRE', KEYS[1], ARGV[1])
	return 1
end
return 0`)
)

const (
	// resends is how often a command is sent again whose reply has not come
	// within a replyShare-th of the TTL, or go-redis's own time-out of 5 s, as
	// clients of this recipe do unasked.
	resends    = 3
	replyShare = 4
)

// RedissonHash is the recipe `redisson-hash`: a re-entrant lock in one hash,
// with a watchdog, and waiters that subscribe.
//
// Acquire: in one script, EXISTS, else HEXISTS client:thread; when there is no
// hash or it has the caller's field, HINCRBY it by 1 and PEXPIRE; otherwise PTTL.
// Release: in one script, HEXISTS, HINCRBY by −1; at zero DEL and PUBLISH,
// otherwise PEXPIRE. While the lock is held a watchdog renews it after every
// third of the TTL (HEXISTS, PEXPIRE); it ends with the first round that fails,
// and with the release that the server says was the last. Waiters subscribe to
// the release and try again when it comes or the lease has run out. A command, a
// renewal too, is sent again when the connection fails or no reply comes within a
// quarter of the TTL or 5 s, 3 times at most.
//
// Scaled: the watchdog runs where no lease time is asked for, with a TTL of 30 s.
// That form is played here, with the TTL that is asked for in place of the 30 s.
//
// Flaws: a reply that is lost makes the command run twice. After an acquisition
// the count is one too high: the release leaves the lock held, and the watchdog
// renews it for ever, for nobody (L1, L8). A master that forgets, or whose
// replica takes over, grants it to another while the first holds it (S1).
//
// Shown by: losing the reply to the acquisition; restarting the master empty;
// a failover.
// Corrected by: `single`, whose attempts carry an identity of their own.
func RedissonHash() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker {
		return newRedissonHash(m, resending(resends))
	})
}

// A repeater runs a command of a lock with this TTL, and may run it again.
type repeater func(ctx context.Context, ttl time.Duration, command func(context.Context) (int64, error)) (int64, error)

// resending is a repeater that runs a command up to n times more.
func resending(n int) repeater {
	return func(ctx context.Context, ttl time.Duration, command func(context.Context) (int64, error)) (int64, error) {
		return sendAgain(ctx, n, ttl, command)
	}
}

// sendAgain runs command, and up to n times more while it ends without an
// answer from the server: by an error of the connection, its time-out among
// them, or after a replyShare-th of the TTL.
func sendAgain[T any](ctx context.Context, n int, ttl time.Duration, command func(context.Context) (T, error)) (value T, err error) {
	for range 1 + n {
		one, cancel := context.WithTimeout(ctx, ttl/replyShare)
		value, err = command(one)
		cancel()
		if err == nil || isAnswer(err) || ctx.Err() != nil {
			break
		}
	}
	return value, err
}

// isAnswer reports whether err is something that a server has said.
func isAnswer(err error) bool {
	_, answered := errors.AsType[redis.Error](err)
	return answered
}

func newRedissonHash(m master, repeat repeater) *redissonHash {
	return &redissonHash{master: m, client: newToken(), repeat: repeat, held: make(map[hold]*hashHold)}
}

func redissonHashRecipe() Recipe {
	return Recipe{
		ID:          "redisson-hash",
		Flaw:        "a lost reply makes the count drift: one release leaves it held, and renewed for ever",
		Needs:       "lose the reply to an acquisition (L1, L8); restart the master empty, or fail over (S1)",
		Expected:    []string{"L1", "L8", "S1"},
		CorrectedBy: "single",
		Nodes:       1,
		Subscribes:  true,
		Factory:     RedissonHash(),
	}
}

type redissonHash struct {
	master
	client string
	repeat repeater
	tasks  tasks

	mu   sync.Mutex
	held map[hold]*hashHold
}

// A hashHold is what this client knows of one owner's holding of one key.
type hashHold struct {
	observer
	watchdog *task
	leases   int       // guarded by the locker's mu
	until    time.Time // guarded by the locker's mu
}

func (l *redissonHash) Close() error {
	l.tasks.close()
	return l.master.Close()
}

func (l *redissonHash) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.AcquireAs(ctx, newToken(), key, ttl)
}

// AcquireAs implements lockimpl.ReentrantLocker.
func (l *redissonHash) AcquireAs(ctx context.Context, owner, key string, ttl time.Duration) (lockimpl.Lease, error) {
	lease, _, err := l.try(ctx, hold{owner, key}, ttl)
	return lease, err
}

// AcquireAll implements lockimpl.MultiLocker.
func (l *redissonHash) AcquireAll(ctx context.Context, keys []string, ttl time.Duration) ([]lockimpl.Lease, error) {
	owner := newToken()
	return acquireAll(ctx, keys, func(key string) (lockimpl.Lease, error) { return l.AcquireAs(ctx, owner, key, ttl) })
}

// AcquireWait implements lockimpl.WaitLocker: it subscribes to the release.
func (l *redissonHash) AcquireWait(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	h := hold{newToken(), key}
	lease, _, err := l.try(ctx, h, ttl)
	if !errors.Is(err, lockimpl.ErrHeld) {
		return lease, err
	}
	listening, stop := conn.Ending(ctx)
	defer stop()
	sub := l.rdb.Subscribe(listening, channel(key))
	defer sub.Close()
	for ctx.Err() == nil {
		lease, left, err := l.try(ctx, h, ttl)
		if !errors.Is(err, lockimpl.ErrHeld) {
			return lease, err
		}
		awaitMessage(listening, sub, min(left, ttl))
	}
	return nil, lockimpl.ErrHeld
}

func channel(key string) string { return "redisson_lock__channel:{" + key + "}" }

// field names the owner among all clients.
func (l *redissonHash) field(h hold) string { return l.client + ":" + h.owner }

// try makes one attempt; refused, it says how much of the other's lease is left.
func (l *redissonHash) try(ctx context.Context, h hold, ttl time.Duration) (lockimpl.Lease, time.Duration, error) {
	start := time.Now()
	left, err := l.send(ctx, hashTake, h, ttl, h.key)
	switch {
	case errors.Is(err, redis.Nil):
		return l.grant(h, start, ttl), 0, nil
	case err != nil:
		return nil, 0, fmt.Errorf("take lock: %w", err)
	}
	return nil, time.Duration(left) * time.Millisecond, lockimpl.ErrHeld
}

// send runs a script, and runs it again where the recipe does.
func (l *redissonHash) send(ctx context.Context, s *redis.Script, h hold, ttl time.Duration, keys ...string) (int64, error) {
	return l.repeat(ctx, ttl, func(ctx context.Context) (int64, error) {
		return s.Run(ctx, l.rdb, keys, ttl.Milliseconds(), l.field(h)).Int64()
	})
}

func (l *redissonHash) grant(h hold, start time.Time, ttl time.Duration) *hashLease {
	l.mu.Lock()
	defer l.mu.Unlock()
	hh := l.held[h]
	if hh == nil {
		hh = &hashHold{}
		l.held[h] = hh
		hh.watchdog = l.tasks.start(func(ctx context.Context) { l.watch(ctx, h, hh, ttl) })
	}
	hh.leases++
	hh.until = start.Add(ttl)
	return &hashLease{hashHold: hh, locker: l, hold: h, ttl: ttl}
}

// watch renews h until a round fails; nobody is told.
func (l *redissonHash) watch(ctx context.Context, h hold, hh *hashHold, ttl time.Duration) {
	defer l.forget(h, hh)
	extend := func(ctx context.Context) (time.Time, error) { return l.renew(ctx, h, hh, ttl) }
	for wait(ctx, ttl/watchdogShare) {
		if hh.round(ctx, ttl/watchdogShare, extend) != nil {
			return
		}
	}
}

func (l *redissonHash) renew(ctx context.Context, h hold, hh *hashHold, ttl time.Duration) (time.Time, error) {
	start := time.Now()
	n, err := l.send(ctx, hashRenew, h, ttl, h.key)
	if err == nil && n == 0 {
		err = lockimpl.ErrLost
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		hh.until = start.Add(ttl)
	}
	return hh.until, err
}

// forget makes the next grant of h start a watchdog of its own.
func (l *redissonHash) forget(h hold, hh *hashHold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[h] == hh {
		delete(l.held, h)
	}
}

// A hashLease is one of an owner's holdings of a key.
type hashLease struct {
	*hashHold
	locker *redissonHash
	hold   hold
	ttl    time.Duration
}

func (*hashLease) Fence() uint64 { return 0 }

func (l *hashLease) ValidUntil() time.Time {
	l.locker.mu.Lock()
	defer l.locker.mu.Unlock()
	return l.until
}

// Extend is not part of the recipe: nothing is sent.
func (*hashLease) Extend(context.Context, time.Duration) error { return errors.ErrUnsupported }

func (l *hashLease) Release(ctx context.Context) error {
	l.locker.mu.Lock()
	l.leases--
	if l.leases == 0 {
		l.Renew(nil)
	}
	l.locker.mu.Unlock()
	last, err := l.locker.leave(ctx, l.hold, l.ttl)
	if err == nil && last {
		l.locker.forget(l.hold, l.hashHold)
		l.watchdog.stop(ctx)
	}
	return err
}

// drop leaves h where this client may have taken it without knowing.
func (l *redissonHash) drop(ctx context.Context, h hold, ttl time.Duration) error {
	_, err := l.leave(ctx, h, ttl)
	return err
}

// leave counts h down at the server and reports whether that was the last of it.
func (l *redissonHash) leave(ctx context.Context, h hold, ttl time.Duration) (last bool, err error) {
	n, err := l.send(ctx, hashLeave, h, ttl, h.key, channel(h.key))
	switch {
	case errors.Is(err, redis.Nil):
		return false, lockimpl.ErrLost
	case err != nil:
		return false, fmt.Errorf("release lock: %w", err)
	}
	return n == 1, nil
}

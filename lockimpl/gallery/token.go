package gallery

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

var deleteScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('DEL', KEYS[1])
end
return 0`)

var expireScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0`)

// compareAndDelete deletes key when it bears token, in one step, and reports
// whether it did.
func compareAndDelete(ctx context.Context, rdb redis.Scripter, key, token string) (bool, error) {
	return deleteScript.Run(ctx, rdb, []string{key}, token).Bool()
}

// letGo is compareAndDelete for the recipes that do not look at its reply.
func letGo(ctx context.Context, rdb redis.Scripter, key, token string) error {
	if _, err := compareAndDelete(ctx, rdb, key, token); err != nil {
		return fmt.Errorf("release lock: %w", err)
	}
	return nil
}

// compareAndExpire sets key's expiry when it bears token, in one step, and
// reports whether it did.
func compareAndExpire(ctx context.Context, rdb redis.Scripter, key, token string, ttl time.Duration) (bool, error) {
	return expireScript.Run(ctx, rdb, []string{key}, token, ttl.Milliseconds()).Bool()
}

// setToken stores a fresh owner token at key, unless the key exists.
func (m master) setToken(ctx context.Context, key string, ttl time.Duration) (*tokenLease, error) {
	l := &tokenLease{rdb: m.rdb, key: key, token: newToken(), until: time.Now().Add(ttl)}
	ok, err := m.rdb.SetNX(ctx, key, l.token, ttl).Result()
	if err != nil {
		return nil, fmt.Errorf("take lock: %w", err)
	}
	if !ok {
		return nil, lockimpl.ErrHeld
	}
	return l, nil
}

// acquireToken is setToken in the shape of lockimpl.Locker's Acquire.
func (m master) acquireToken(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	l, err := m.setToken(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// A tokenLease is a key that bears its owner's token: whatever it does compares
// the token first.
type tokenLease struct {
	rdb        redis.UniversalClient
	key, token string

	mu    sync.Mutex
	until time.Time
}

func (*tokenLease) Fence() uint64 { return 0 }

func (l *tokenLease) ValidUntil() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

func (l *tokenLease) promise(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
}

func (l *tokenLease) Extend(ctx context.Context, ttl time.Duration) error {
	start := time.Now()
	ok, err := compareAndExpire(ctx, l.rdb, l.key, l.token, ttl)
	if err != nil {
		return fmt.Errorf("extend lock: %w", err)
	}
	if !ok {
		return lockimpl.ErrLost
	}
	l.promise(start.Add(ttl))
	return nil
}

// Release compares the token and deletes; like the published recipes it does
// not look at the reply.
func (l *tokenLease) Release(ctx context.Context) error {
	return letGo(ctx, l.rdb, l.key, l.token)
}

package workload_test

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

// A testLock is a small lock on one Redis: SET NX PX, a counter for the token,
// compare and delete.
type testLock struct {
	rdb     *redis.Client
	promise bool // leases say until when they hold, and report their loss
}

var (
	acquireScript = redis.NewScript(`
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
return redis.call('INCR', KEYS[2])`)
	extendScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)
	releaseScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`)
)

func (l *testLock) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start, token := time.Now(), rand.Text()
	fence, err := acquireScript.Run(ctx, l.rdb, []string{"lock:" + key, "fence:" + key}, token, ttl.Milliseconds()).Uint64()
	if err != nil {
		return nil, err
	}
	if fence == 0 {
		return nil, lockimpl.ErrHeld
	}
	lease := &testLease{lock: l, key: key, token: token, fence: fence, lost: make(chan struct{}), freed: make(chan struct{})}
	lease.valid(start.Add(ttl - ttl/100))
	return lease.as(l.promise), nil
}

func (l *testLock) LeaseKeys(key string) []string { return []string{"lock:" + key} }

func (l *testLock) Close() error { return l.rdb.Close() }

type testLease struct {
	lock       *testLock
	key, token string
	fence      uint64

	mu     sync.Mutex
	until  time.Time
	timer  *time.Timer
	lost   chan struct{}
	freed  chan struct{}
	renews sync.WaitGroup
}

// as hides what a lease without a promise lacks.
func (l *testLease) as(promise bool) lockimpl.Lease {
	if promise {
		return l
	}
	return plainLease{l}
}

type plainLease struct{ lease *testLease }

func (p plainLease) Fence() uint64         { return 0 }
func (p plainLease) ValidUntil() time.Time { return time.Time{} }
func (p plainLease) Extend(ctx context.Context, ttl time.Duration) error {
	return p.lease.Extend(ctx, ttl)
}
func (p plainLease) Release(ctx context.Context) error { return p.lease.Release(ctx) }

func (l *testLease) valid(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
	if l.timer == nil {
		l.timer = time.AfterFunc(time.Until(until), func() { close(l.lost) })
		return
	}
	if l.timer.Stop() {
		l.timer.Reset(time.Until(until))
	}
}

func (l *testLease) Fence() uint64         { return l.fence }
func (l *testLease) Lost() <-chan struct{} { return l.lost }
func (l *testLease) ValidUntil() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

func (l *testLease) Extend(ctx context.Context, ttl time.Duration) error {
	start := time.Now()
	if err := l.ask(ctx, extendScript, ttl.Milliseconds()); err != nil {
		return err
	}
	l.valid(start.Add(ttl - ttl/100))
	return nil
}

func (l *testLease) ask(ctx context.Context, s *redis.Script, args ...any) error {
	mine, err := s.Run(ctx, l.lock.rdb, []string{"lock:" + l.key}, append([]any{l.token}, args...)...).Int()
	if err == nil && mine == 0 {
		return lockimpl.ErrLost
	}
	return err
}

func (l *testLease) Release(ctx context.Context) error {
	l.mu.Lock()
	l.timer.Stop()
	l.mu.Unlock()
	close(l.freed)
	l.renews.Wait()
	return l.ask(ctx, releaseScript)
}

func (l *testLease) Renew(observe func(lockimpl.Renewal)) {
	ttl := time.Until(l.ValidUntil())
	l.renews.Go(func() {
		for {
			select {
			case <-time.After(ttl / 3):
			case <-l.lost:
				return
			case <-l.freed:
				return
			}
			r := lockimpl.Renewal{Began: time.Now()}
			ctx, cancel := context.WithTimeout(context.Background(), ttl/5)
			r.Err = l.Extend(ctx, ttl)
			cancel()
			r.Ended, r.ValidUntil = time.Now(), l.ValidUntil()
			observe(r)
		}
	})
}

// withoutRenewal is a locker whose leases cannot renew themselves.
type withoutRenewal struct{ lockimpl.Locker }

func (l withoutRenewal) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	return struct{ lockimpl.Lease }{lease}, nil
}

// panicky is a locker with a fatal bug.
type panicky struct{ lockimpl.Locker }

func (panicky) Acquire(context.Context, string, time.Duration) (lockimpl.Lease, error) {
	panic("a bug in a library")
}

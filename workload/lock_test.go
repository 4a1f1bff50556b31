package workload_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/store"
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

// A rig is a lock's server, a store's server, and clients that contend.
type rig struct {
	locks, rows *miniredis.Miniredis
	policy      store.Policy
	promise     bool
	clients     []*workload.Client
	roads       []*road // of the present incarnations
}

func newRig(t *testing.T, clients int, change ...func(*rig)) *rig {
	r := &rig{locks: miniredis.RunT(t), rows: miniredis.RunT(t), policy: store.Fenced, promise: true}
	r.locks.ClockTTL(true)
	for _, c := range change {
		c(r)
	}
	r.roads = make([]*road, clients)
	for i := range clients {
		r.clients = append(r.clients, &workload.Client{
			Name:    string(rune('a' + i)),
			Connect: func(context.Context) (*workload.Conn, error) { return r.connect(i), nil },
		})
	}
	t.Cleanup(func() {
		for _, c := range r.clients {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return r
}

func (r *rig) connect(client int) *workload.Conn {
	w := &road{}
	r.roads[client] = w
	lock := &testLock{promise: r.promise, rdb: redis.NewClient(&redis.Options{
		Dialer:     func(ctx context.Context, _, _ string) (net.Conn, error) { return w.dial(ctx, r.locks.Addr()) },
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true, DisableIdentity: true, PoolSize: 100,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}
	rows := r.open(w)
	return &workload.Conn{
		Locker: lock, Store: rows, Sever: w.sever,
		Close: func() error { return errors.Join(lock.Close(), rows.Close()) },
	}
}

func (r *rig) open(w *road) *store.Client {
	return store.Open(func(ctx context.Context) (net.Conn, error) { return w.dial(ctx, r.rows.Addr()) }, r.policy)
}

// A road is every connection of one incarnation.
type road struct {
	mu      sync.Mutex
	severed bool
	conns   []net.Conn
}

func (w *road) dial(ctx context.Context, addr string) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.severed {
		return nil, errors.New("severed")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err == nil {
		w.conns = append(w.conns, conn)
	}
	return conn, err
}

func (w *road) sever() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.severed = true
	for _, c := range w.conns {
		c.Close()
	}
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

package workload_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/store"
)

// A rig is a lock's server, a store's server, and clients that contend.
type rig struct {
	locks, rows *miniredis.Miniredis
	policy      store.Policy
	promise     bool
	lock        func(client string) lockimpl.Locker // instead of one on locks; nil: none
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
	locker := lockimpl.Locker(lock)
	if r.lock != nil {
		locker = r.lock(r.clients[client].Name)
	}
	return &workload.Conn{
		Locker: locker, Store: rows, Sever: w.sever,
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

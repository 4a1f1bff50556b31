package workload_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"locktorture/checker"
	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/history"
)

// A localLock is a lock for one process: who holds which key until when.
type localLock struct {
	mu   sync.Mutex
	held map[string]*localLease
}

// A localLease is one grant of a localLock.
type localLease struct {
	lock  *localLock
	key   string
	until time.Time
}

func (l *localLock) Acquire(_ context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if h := l.held[key]; h != nil && now.Before(h.until) {
		return nil, lockimpl.ErrHeld
	}
	lease := &localLease{lock: l, key: key, until: now.Add(ttl)}
	l.held[key] = lease
	return lease, nil
}

func (l *localLock) Close() error { return nil }

func (x *localLease) Fence() uint64 { return 0 }

func (x *localLease) ValidUntil() time.Time {
	x.lock.mu.Lock()
	defer x.lock.mu.Unlock()
	return x.until
}

func (x *localLease) Extend(_ context.Context, ttl time.Duration) error {
	x.lock.mu.Lock()
	defer x.lock.mu.Unlock()
	if x.lock.held[x.key] != x {
		return lockimpl.ErrLost
	}
	x.until = time.Now().Add(ttl)
	return nil
}

func (x *localLease) Release(context.Context) error {
	x.lock.mu.Lock()
	defer x.lock.mu.Unlock()
	if x.lock.held[x.key] != x {
		return lockimpl.ErrLost
	}
	delete(x.lock.held, x.key)
	return nil
}

// Four clients contend for two keys of a lock, and what they saw is judged.
func ExampleRun() {
	lock := &localLock{held: map[string]*localLease{}}
	connect := func(context.Context) (*workload.Conn, error) {
		return &workload.Conn{Locker: lock, Close: lock.Close}, nil
	}
	var clients []*workload.Client
	for _, name := range []string{"c00", "c01", "c02", "c03"} {
		clients = append(clients, &workload.Client{Name: name, Connect: connect})
	}
	cfg := workload.Config{Keys: 2, TTL: time.Minute, Writes: 1, Hold: workload.Fixed(time.Millisecond), Duration: 50 * time.Millisecond, Seed: 1}

	var seen history.Buffer
	rec := history.NewRecorder(&seen)
	if err := workload.Run(context.Background(), cfg, clients, rec); err != nil {
		fmt.Println(err)
		return
	}
	report := checker.Check(context.Background(), history.History{Header: history.Header{TTL: cfg.TTL}, Events: seen.Events}, checker.Options{})
	fmt.Println("granted:", report.Evidence.Grants > 0, "violations:", len(report.Violations))
	// Output: granted: true violations: 0
}

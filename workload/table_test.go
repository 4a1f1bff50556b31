package workload_test

import (
	"context"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// A table is a lock service in memory with every ability. Its leases do not
// expire.
type table struct {
	mu    sync.Mutex
	cells map[string]*cell
	fence uint64
}

type cell struct {
	writer  string
	depth   int // holds of the writer
	readers int
	fence   uint64 // of the present writer
	waiting int    // calls that wait
}

func (t *table) cell(key string) *cell {
	if t.cells[key] == nil {
		t.cells[key] = &cell{}
	}
	return t.cells[key]
}

// A tableLock is one client's access to a table.
type tableLock struct {
	*table
	name string
}

func (l *tableLock) Close() error { return nil }

func (l *tableLock) Acquire(_ context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	leases, err := l.acquireAll(l.name, false, []string{key}, ttl)
	return first(leases), err
}

func (l *tableLock) AcquireAs(_ context.Context, owner, key string, ttl time.Duration) (lockimpl.Lease, error) {
	leases, err := l.acquireAll(owner, true, []string{key}, ttl)
	return first(leases), err
}

func (l *tableLock) AcquireAll(_ context.Context, keys []string, ttl time.Duration) ([]lockimpl.Lease, error) {
	return l.acquireAll(l.name, false, keys, ttl)
}

func first(leases []lockimpl.Lease) lockimpl.Lease {
	if len(leases) == 0 {
		return nil
	}
	return leases[0]
}

// acquireAll grants all keys or none.
func (l *tableLock) acquireAll(owner string, again bool, keys []string, ttl time.Duration) (leases []lockimpl.Lease, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		c := l.cell(key)
		if mine := again && c.writer == owner; !mine && (c.writer != "" || c.readers > 0) {
			return nil, lockimpl.ErrHeld
		}
	}
	for _, key := range keys {
		c := l.cell(key)
		if c.depth++; c.depth == 1 {
			l.fence++
			c.writer, c.fence = owner, l.fence
		}
		leases = append(leases, &tableLease{l.table, c, c.fence, false, time.Now().Add(ttl)})
	}
	return leases, nil
}

func (l *tableLock) AcquireShared(_ context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.cell(key)
	if c.writer != "" {
		return nil, lockimpl.ErrHeld
	}
	c.readers++
	l.fence++
	return &tableLease{l.table, c, l.fence, true, time.Now().Add(ttl)}, nil
}

func (l *tableLock) AcquireFair(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.AcquireWait(ctx, key, ttl)
}

func (l *tableLock) AcquireWait(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	l.waits(key, +1)
	defer l.waits(key, -1)
	for {
		if lease, err := l.Acquire(ctx, key, ttl); err == nil {
			return lease, nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return nil, lockimpl.ErrHeld
		}
	}
}

func (l *tableLock) waits(key string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cell(key).waiting += n
}

type tableLease struct {
	table  *table
	cell   *cell
	fence  uint64
	shared bool
	until  time.Time
}

func (l *tableLease) Fence() uint64                               { return l.fence }
func (l *tableLease) ValidUntil() time.Time                       { return l.until }
func (l *tableLease) Extend(context.Context, time.Duration) error { return nil }
func (l *tableLease) Release(context.Context) error {
	l.table.mu.Lock()
	defer l.table.mu.Unlock()
	if l.shared {
		l.cell.readers--
	} else if l.cell.depth--; l.cell.depth == 0 {
		l.cell.writer = ""
	}
	return nil
}

package redsync

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	lib "github.com/go-redsync/redsync/v4"

	"locktorture/lockimpl"
)

const ttl = 10 * time.Second

func cluster(t *testing.T, n int) ([]*miniredis.Miniredis, []lockimpl.Node) {
	t.Helper()
	servers, nodes := make([]*miniredis.Miniredis, n), make([]lockimpl.Node, n)
	for i := range n {
		servers[i] = miniredis.RunT(t)
		nodes[i] = lockimpl.Node{Addr: servers[i].Addr()}
	}
	return servers, nodes
}

func open(t *testing.T, o Options, nodes []lockimpl.Node) lockimpl.Locker {
	t.Helper()
	l, err := New(o)(nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

func mustAcquire(t *testing.T, l lockimpl.Locker, d time.Duration) lockimpl.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), "k", d)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func TestLifeOfALease(t *testing.T) {
	servers, nodes := cluster(t, 5)
	a, b := open(t, Options{}, nodes), open(t, Options{}, nodes)
	lease := mustAcquire(t, a, ttl)
	if left := time.Until(lease.ValidUntil()); left <= 0 || left > ttl {
		t.Errorf("valid for %v, want at most %v", left, ttl)
	}
	if _, err := b.Acquire(t.Context(), "k", ttl); !errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("second acquire: %v, want ErrHeld", err)
	}
	if err := lease.Extend(t.Context(), ttl); err != nil {
		t.Errorf("extend: %v", err)
	}
	if err := lease.Extend(t.Context(), 2*ttl); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("extend by another expiry: %v, want ErrUnsupported", err)
	}
	for _, s := range servers {
		s.FastForward(ttl)
	}
	next := mustAcquire(t, b, ttl)
	if err := lease.Extend(t.Context(), ttl); !errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("late extend: %v, want ErrLost", err)
	}
	if err := lease.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("late release: %v, want ErrLost", err)
	}
	if err := next.Release(t.Context()); err != nil {
		t.Errorf("release: %v", err)
	}
	if err := next.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("second release: %v, want ErrLost", err)
	}
}

// TestDeadNodes lets a minority die, and then a majority.
func TestDeadNodes(t *testing.T) {
	servers, nodes := cluster(t, 3)
	l := open(t, Options{}, nodes)
	servers[0].Close()
	lease := mustAcquire(t, l, ttl)
	servers[1].Close()
	if err := lease.Release(t.Context()); err == nil || errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("release on one of three: %v, want an indefinite error", err)
	}
	if _, err := l.Acquire(t.Context(), "k", ttl); err == nil || errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("acquire on one of three: %v, want an indefinite error", err)
	}
}

// TestSilentNode has one node of three swallow everything: redsync's time-out
// per node is in force only when the client heeds contexts.
func TestSilentNode(t *testing.T) {
	_, nodes := cluster(t, 3)
	var silent atomic.Int64
	nodes[0].Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &mute{Conn: c, silent: &silent}, err
	}
	const short = 2 * time.Second
	heeds, ignores := open(t, Options{ContextTimeouts: true}, nodes), open(t, Options{}, nodes)
	for _, l := range []lockimpl.Locker{heeds, ignores} {
		if err := mustAcquire(t, l, short).Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	silent.Store(int64(short + short/10))
	mustAcquire(t, heeds, short)
	if _, err := ignores.Acquire(t.Context(), "k2", short); err == nil {
		t.Error("a lease came out of waiting for a silent node for longer than the expiry")
	}
}

// A mute connection, once silent, drops what is written; reads wait for as long
// as silent says, or until their deadline.
type mute struct {
	net.Conn
	silent   *atomic.Int64
	deadline atomic.Int64 // Unix nanoseconds; 0 is none
}

func (c *mute) SetReadDeadline(t time.Time) error {
	c.deadline.Store(0)
	if !t.IsZero() {
		c.deadline.Store(t.UnixNano())
	}
	return c.Conn.SetReadDeadline(t)
}

func (c *mute) Write(p []byte) (int, error) {
	if c.silent.Load() > 0 {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *mute) Read(p []byte) (int, error) {
	d := time.Duration(c.silent.Load())
	if d == 0 {
		return c.Conn.Read(p)
	}
	if end := c.deadline.Load(); end > 0 {
		d = min(d, time.Until(time.Unix(0, end)))
	}
	time.Sleep(d)
	return 0, os.ErrDeadlineExceeded
}

// What the nodes said is told in their order, whichever of redsync's goroutines ended first.
func TestErrorsAreToldInOrder(t *testing.T) {
	one, two := &lib.RedisError{Node: 1, Err: net.ErrClosed}, &lib.RedisError{Node: 2, Err: os.ErrDeadlineExceeded}
	a, b := inOrder(errors.Join(errors.Join(two, one), lib.ErrFailed)), inOrder(errors.Join(errors.Join(one, lib.ErrFailed), two))
	if a.Error() != b.Error() || !errors.Is(a, net.ErrClosed) || !errors.Is(a, os.ErrDeadlineExceeded) || !errors.Is(a, lib.ErrFailed) {
		t.Errorf("%v\nand\n%v", a, b)
	}
}

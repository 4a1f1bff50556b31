package redislock

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"locktorture/lockimpl"
)

const ttl = 10 * time.Second

func open(t *testing.T, n lockimpl.Node) lockimpl.Locker {
	t.Helper()
	l, err := New()([]lockimpl.Node{n})
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

func TestLifeOfALease(t *testing.T) {
	srv := miniredis.RunT(t)
	n := lockimpl.Node{Addr: srv.Addr()}
	a, b := open(t, n), open(t, n)
	lease, err := a.Acquire(t.Context(), "k", ttl)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(t.Context(), "k", ttl); !errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("second acquire: %v, want ErrHeld", err)
	}
	if err := lease.Extend(t.Context(), 3*ttl); err != nil {
		t.Errorf("extend: %v", err)
	}
	srv.FastForward(2 * ttl)
	if !srv.Exists("k") {
		t.Error("the extended lease ran out early")
	}
	srv.FastForward(ttl)
	if err := lease.Extend(t.Context(), ttl); !errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("extend after the end: %v, want ErrLost", err)
	}
	next, err := b.Acquire(t.Context(), "k", ttl)
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("late release: %v, want ErrLost", err)
	}
	if err := next.Release(t.Context()); err != nil {
		t.Errorf("release: %v", err)
	}
	if srv.Exists("k") {
		t.Error("a key is left")
	}
}

// TestReplyAfterTheLease delivers the reply to an acquisition when the server
// has long given the lock away: the library returns it as held.
func TestReplyAfterTheLease(t *testing.T) {
	srv := miniredis.RunT(t)
	arrived, deliver := make(chan struct{}), make(chan struct{})
	slow := open(t, lockimpl.Node{Addr: srv.Addr(), Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &lateConn{Conn: c, arrived: arrived, deliver: deliver, srv: srv}, err
	}})
	other := open(t, lockimpl.Node{Addr: srv.Addr()})
	done := make(chan error, 1)
	go func() { _, err := slow.Acquire(t.Context(), "k", ttl); done <- err }()
	<-arrived
	srv.FastForward(ttl)
	if _, err := other.Acquire(t.Context(), "k", ttl); err != nil {
		t.Fatalf("acquire after the TTL: %v", err)
	}
	close(deliver)
	if err := <-done; err != nil {
		t.Errorf("acquire with a late reply: %v, want what the library does: a held lock", err)
	}
}

// A lateConn keeps the first bytes back that come once k is set.
type lateConn struct {
	net.Conn
	srv              *miniredis.Miniredis
	arrived, deliver chan struct{}
	late             bool
}

func (c *lateConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.late && c.srv.Exists("k") {
		c.late = true
		close(c.arrived)
		<-c.deliver
	}
	return n, err
}

func TestUnknown(t *testing.T) {
	l := open(t, lockimpl.Node{Addr: "nowhere", Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, io.ErrUnexpectedEOF
	}})
	if _, err := l.Acquire(t.Context(), "k", ttl); err == nil || errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("acquire without a server: %v, want an indefinite error", err)
	}
}

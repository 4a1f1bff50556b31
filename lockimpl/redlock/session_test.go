package redlock_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// crowd is so many leases of a session that a pass over them takes several
// pipelines.
const crowd = 600

// fill has a new session of l take so many keys.
func fill(t *testing.T, l *redlock.Lock) (*redlock.Session, []*redlock.Lease) {
	t.Helper()
	s, err := l.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	leases := make([]*redlock.Lease, crowd)
	for i := range leases {
		if leases[i], err = s.Acquire(t.Context(), fmt.Sprintf("k%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	return s, leases
}

// allValid fails the test when any of leases was lost.
func allValid(t *testing.T, leases []*redlock.Lease, when string) {
	t.Helper()
	lost := 0
	var why error
	for _, got := range leases {
		if err := got.Err(); err != nil {
			lost++
			why = err
		}
	}
	if lost > 0 {
		t.Fatalf("%s: %d of %d leases were lost: %v", when, lost, len(leases), why)
	}
}

// Pipelines that take so long that a pass over all leases takes more than a
// third of the TTL.
func TestSessionOutlivesPassesThatAreLongerThanItsPause(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{TTL: 2 * time.Second})
		s, leases := fill(t, l)
		links[0].Down.Delay(300 * time.Millisecond) // two pipelines or more: at least 0.6 s of 2 s
		for at := range 6 {
			time.Sleep(time.Second)
			allValid(t, leases, fmt.Sprintf("after %d s", at+1))
		}
		links[0].Down.Delay(0)
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// A server that is silent for longer than NodeTimeout, whenever it begins:
// what was not renewed then is renewed in time afterwards.
func TestSessionOutlivesASilenceLongerThanNodeTimeout(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{TTL: 2 * time.Second, NodeTimeout: 200 * time.Millisecond})
		s, leases := fill(t, l)
		for at := range 3 {
			time.Sleep(2*time.Second + time.Duration(at)*230*time.Millisecond)
			for _, link := range links {
				link.Up.Drop()
			}
			time.Sleep(600 * time.Millisecond)
			for _, link := range links {
				link.Up.Free()
			}
			time.Sleep(time.Second)
			allValid(t, leases, fmt.Sprintf("silence %d", at+1))
		}
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// slowly lets every byte that is read from a connection take its time.
type slowly struct {
	net.Conn
	perByte *atomic.Int64 // nanoseconds
}

func (c slowly) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	time.Sleep(time.Duration(n) * time.Duration(c.perByte.Load()))
	return n, err
}

// A machine, or a line, so slow that a full pipeline does not come back within
// NodeTimeout: smaller ones do.
func TestSessionRenewsInSmallerPipelinesWhereLargeOnesTakeTooLong(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		var perByte atomic.Int64
		factory := func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
			dial := nodes[0].Dial
			nodes[0].Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := dial(ctx, network, addr)
				if err != nil {
					return nil, err
				}
				return slowly{c, &perByte}, nil
			}
			return redlock.NewLocker(nodes, redlock.Config{TTL: 8 * time.Second, NodeTimeout: 300 * time.Millisecond})
		}
		got, _ := w.Client(factory)
		s, leases := fill(t, got.(*redlock.Locker).Lock)
		perByte.Store(int64(250 * time.Microsecond)) // a renewal is answered in 4 bytes: 512 take half a second
		for at := range 3 {
			time.Sleep(3 * time.Second)
			allValid(t, leases, fmt.Sprintf("after %d s", 3*at+3))
		}
		perByte.Store(0)
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

package rueidislock

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/redistest"
)

func open(t *testing.T, n lockimpl.Node) lockimpl.Locker {
	t.Helper()
	l, err := New(Options{})([]lockimpl.Node{n})
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
	const ttl = 2 * time.Second
	rdb := redistest.Start(t)
	n := lockimpl.Node{Addr: rdb.Options().Addr}
	a, b := open(t, n), open(t, n)
	held, err := a.Acquire(t.Context(), "k", ttl)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan lockimpl.Renewal, 16)
	held.(lockimpl.Renewer).Renew(func(r lockimpl.Renewal) { seen <- r })
	if _, err := b.Acquire(t.Context(), "k", ttl); !errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("second acquire: %v, want ErrHeld", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), ttl/4)
	defer cancel()
	if _, err := b.(lockimpl.WaitLocker).AcquireWait(ctx, "k", ttl); err == nil {
		t.Error("waited for a held lock and got it")
	}
	if r := <-seen; r.Err != nil || !r.ValidUntil.After(time.Now()) {
		t.Errorf("renewal %+v, want a success that reaches into the future", r)
	}
	for _, key := range a.(lockimpl.KeyLister).LeaseKeys("k")[:2] {
		if n, err := rdb.Exists(t.Context(), key).Result(); err != nil || n != 1 {
			t.Errorf("key %s: %d, %v, want the lease's", key, n, err)
		}
	}
	done := make(chan error, 1)
	go func() {
		next, err := b.(lockimpl.WaitLocker).AcquireWait(t.Context(), "k", ttl)
		if err == nil {
			err = next.Release(t.Context())
		}
		done <- err
	}()
	if err := held.Release(t.Context()); err != nil {
		t.Errorf("release: %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("wait for the release: %v", err)
	}
	if err := held.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("second release: %v, want ErrLost", err)
	}
}

// TestForgetfulServer empties the server: the library notices and tells.
func TestForgetfulServer(t *testing.T) {
	rdb := redistest.Start(t)
	a := open(t, lockimpl.Node{Addr: rdb.Options().Addr})
	held, err := a.Acquire(t.Context(), "k", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	<-held.(lockimpl.LostNotifier).Lost()
	if err := held.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("release: %v, want ErrLost", err)
	}
}

func TestUnknown(t *testing.T) {
	l := open(t, lockimpl.Node{Addr: "127.0.0.1:1", Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, io.ErrUnexpectedEOF
	}})
	if _, err := l.Acquire(t.Context(), "k", time.Second); err == nil || errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("acquire without a server: %v, want an indefinite error", err)
	}
}

// TestForOneServer takes and gives back a lock as the library's README has it for
// one server: one key is the whole of it.
func TestForOneServer(t *testing.T) {
	rdb := redistest.Start(t)
	l, err := New(ForOneServer)([]lockimpl.Node{{Addr: rdb.Options().Addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	lease, err := l.Acquire(t.Context(), "k", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	want := l.(lockimpl.KeyLister).LeaseKeys("k")
	stored, err := rdb.Keys(t.Context(), "*").Result()
	if err != nil || len(want) != 1 || len(stored) != 1 || stored[0] != want[0] {
		t.Errorf("stored %q, %v; want %q", stored, err, want)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

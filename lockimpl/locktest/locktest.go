// Package locktest holds contract tests that every correct lock passes, in the
// manner of testing/fstest.
package locktest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locktorture/lockimpl"
)

// Config says what to test, and on what.
type Config struct {
	Factory lockimpl.Factory
	Nodes   []lockimpl.Node // empty servers, for this test alone
	TTL     time.Duration   // of the leases; default 2 s. The tests wait it out once
	Fenced  bool            // the lock promises fencing tokens

	actor uint64 // of those who contend, which one: each draws its pauses from a stream of its own
}

// TestLock tests that the lock meets the contract of lockimpl. Abilities that
// the lock lacks are skipped by name.
func TestLock(t *testing.T, cfg Config) {
	if cfg.TTL == 0 {
		cfg.TTL = 2 * time.Second
	}
	first := open(t, cfg)
	if b, ok := first.(lockimpl.Bootstrapper); ok {
		if err := b.Bootstrap(t.Context()); err != nil {
			t.Fatalf("bootstrap: %v", err)
		}
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T, Config)
	}{
		{"refuses bad requests", badRequests},
		{"excludes", excludes},
		{"releases once", releasesOnce},
		{"expires", expires},
		{"extends", extends},
		{"tells of the loss", reportsLoss},
		{"leaves a cancelled acquire behind", cancelled},
		{"keeps sections apart", sections},
		{"waits", waits},
		{"shares", shares},
		{"enters again", entersAgain},
		{"takes all or none", allOrNone},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, cfg) })
	}
}

func open(t *testing.T, cfg Config) lockimpl.Locker {
	t.Helper()
	l, err := cfg.Factory(cfg.Nodes)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

func acquire(t *testing.T, l lockimpl.Locker, cfg Config) lockimpl.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), t.Name(), cfg.TTL)
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	return lease
}

func release(t *testing.T, lease lockimpl.Lease) {
	t.Helper()
	if err := lease.Release(t.Context()); err != nil {
		t.Fatalf("release: %v", err)
	}
}

func refused(t *testing.T, l lockimpl.Locker, cfg Config) {
	t.Helper()
	if _, err := l.Acquire(t.Context(), t.Name(), cfg.TTL); !errors.Is(err, lockimpl.ErrHeld) && !errors.Is(err, lockimpl.ErrNoQuorum) {
		t.Fatalf("acquire of a held key: %v, want ErrHeld or ErrNoQuorum", err)
	}
}

// eventually acquires a key that is about to be free.
func eventually(t *testing.T, l lockimpl.Locker, cfg Config) lockimpl.Lease {
	t.Helper()
	pauses := rand.New(rand.NewPCG(1, cfg.actor)) // drawn, so that those who try do not keep getting in each other's way
	for deadline := time.Now().Add(10*cfg.TTL + 60*time.Second); ; time.Sleep(time.Duration(1+pauses.IntN(20)) * time.Millisecond) {
		lease, err := l.Acquire(t.Context(), t.Name(), cfg.TTL)
		if err == nil {
			return lease
		}
		if time.Now().After(deadline) {
			t.Fatalf("acquire of a free key: %v", err)
		}
	}
}

func badRequests(t *testing.T, cfg Config) {
	l := open(t, cfg)
	for _, bad := range []struct {
		key string
		ttl time.Duration
	}{{"", time.Second}, {"k", 0}, {"k", -time.Second}, {"k", 999 * time.Microsecond}} {
		if lease, err := l.Acquire(t.Context(), bad.key, bad.ttl); err == nil {
			t.Errorf("acquire of %q for %v: granted", bad.key, bad.ttl)
			_ = lease.Release(t.Context())
		}
	}
}

func excludes(t *testing.T, cfg Config) {
	a, b := open(t, cfg), open(t, cfg)
	var last uint64
	for range 10 {
		lease := eventually(t, a, cfg)
		if until := time.Until(lease.ValidUntil()); until > cfg.TTL {
			t.Errorf("valid for %v, longer than the ttl", until)
		}
		if cfg.Fenced && lease.Fence() <= last {
			t.Errorf("token %d after %d", lease.Fence(), last)
		}
		last = lease.Fence()
		refused(t, b, cfg)
		refused(t, a, cfg)
		release(t, lease)
		a, b = b, a
	}
}

func releasesOnce(t *testing.T, cfg Config) {
	a, b := open(t, cfg), open(t, cfg)
	lease := acquire(t, a, cfg)
	release(t, lease)
	next := eventually(t, b, cfg)
	_ = lease.Release(t.Context()) // whatever it answers, it must not free the other's lock
	refused(t, a, cfg)
	release(t, next)
}

func expires(t *testing.T, cfg Config) {
	a, b := open(t, cfg), open(t, cfg)
	lease := acquire(t, a, cfg)
	next := eventually(t, b, cfg)
	if early := time.Until(lease.ValidUntil()); early > 0 {
		t.Errorf("granted again %v before the end of validity", early)
	}
	if err := lease.Extend(t.Context(), cfg.TTL); !errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("extend of a lost lease: %v, want ErrLost", err)
	}
	if err := lease.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("release of a lost lease: %v, want ErrLost", err)
	}
	refused(t, a, cfg)
	release(t, next)
}

func extends(t *testing.T, cfg Config) {
	a, b := open(t, cfg), open(t, cfg)
	lease := acquire(t, a, cfg)
	token, until := lease.Fence(), lease.ValidUntil()
	for time.Now().Before(until) {
		if err := lease.Extend(t.Context(), cfg.TTL); err != nil {
			t.Fatalf("extend: %v", err)
		}
		time.Sleep(cfg.TTL / 10)
	}
	refused(t, b, cfg)
	if lease.Fence() != token {
		t.Errorf("extension changed the token from %d to %d", token, lease.Fence())
	}
	release(t, lease)
}

func reportsLoss(t *testing.T, cfg Config) {
	lease := acquire(t, open(t, cfg), cfg)
	n, ok := lease.(lockimpl.LostNotifier)
	if !ok {
		t.Skip("its leases do not tell of their loss")
	}
	lost := n.Lost()
	select {
	case <-lost:
		t.Fatal("lost while it was valid")
	default:
	}
	<-lost
	if early := time.Until(lease.ValidUntil()); early > 0 {
		t.Errorf("told %v before the end of validity", early)
	}
}

func cancelled(t *testing.T, cfg Config) {
	a, b := open(t, cfg), open(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if lease, err := a.Acquire(ctx, t.Name(), cfg.TTL); err == nil {
		release(t, lease)
	}
	release(t, eventually(t, b, cfg))
}

// sections has clients contend and counts how many are inside at once.
func sections(t *testing.T, cfg Config) {
	var inside, entered atomic.Int64
	var wg sync.WaitGroup
	for i := range 4 {
		l, cfg := open(t, cfg), cfg
		cfg.actor = uint64(i)
		wg.Go(func() {
			for range 5 {
				lease := eventually(t, l, cfg)
				if inside.Add(1) > 1 && time.Now().Before(lease.ValidUntil()) {
					t.Error("two owners inside")
				}
				entered.Add(1)
				inside.Add(-1)
				release(t, lease)
			}
		})
	}
	wg.Wait()
	if entered.Load() != 20 {
		t.Errorf("%d sections, want 20", entered.Load())
	}
}

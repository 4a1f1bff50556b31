package locktest

import (
	"context"
	"errors"
	"testing"
	"time"

	"locktorture/lockimpl"
)

func waits(t *testing.T, cfg Config) {
	a, b := open(t, cfg), open(t, cfg)
	w, ok := b.(lockimpl.WaitLocker)
	if !ok {
		t.Skip("it does not wait")
	}
	lease := acquire(t, a, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), cfg.TTL/20)
	defer cancel()
	if _, err := w.AcquireWait(ctx, t.Name(), cfg.TTL); err == nil {
		t.Fatal("granted while it was held")
	}
	got := make(chan lockimpl.Lease, 1)
	go func() {
		next, err := w.AcquireWait(t.Context(), t.Name(), cfg.TTL)
		if err != nil {
			t.Errorf("wait: %v", err)
		}
		got <- next
	}()
	release(t, lease)
	if next := <-got; next != nil {
		release(t, next)
	}
}

func shares(t *testing.T, cfg Config) {
	a, b := open(t, cfg), open(t, cfg)
	ra, ok := a.(lockimpl.SharedLocker)
	if !ok {
		t.Skip("it has no shared mode")
	}
	first, err := ra.AcquireShared(t.Context(), t.Name(), cfg.TTL)
	if err != nil {
		t.Fatalf("acquire shared: %v", err)
	}
	second, err := b.(lockimpl.SharedLocker).AcquireShared(t.Context(), t.Name(), cfg.TTL)
	if err != nil {
		t.Fatalf("second reader: %v", err)
	}
	refused(t, a, cfg)
	release(t, first)
	refused(t, a, cfg)
	release(t, second)
	writer := eventually(t, a, cfg)
	if cfg.Fenced && writer.Fence() <= second.Fence() {
		t.Errorf("writer's token %d is not above the reader's %d", writer.Fence(), second.Fence())
	}
	if _, err := ra.AcquireShared(t.Context(), t.Name(), cfg.TTL); !errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("reader beside a writer: %v, want ErrHeld", err)
	}
	release(t, writer)
}

func entersAgain(t *testing.T, cfg Config) {
	a, b := open(t, cfg), open(t, cfg)
	r, ok := a.(lockimpl.ReentrantLocker)
	if !ok {
		t.Skip("it is not re-entrant")
	}
	enter := func() lockimpl.Lease {
		lease, err := r.AcquireAs(t.Context(), "me", t.Name(), cfg.TTL)
		if err != nil {
			t.Fatalf("acquire as me: %v", err)
		}
		return lease
	}
	outer, inner := enter(), enter()
	if inner.Fence() != outer.Fence() {
		t.Errorf("re-entry changed the token from %d to %d", outer.Fence(), inner.Fence())
	}
	release(t, outer)
	refused(t, b, cfg)
	release(t, inner)
	release(t, eventually(t, b, cfg))
}

func allOrNone(t *testing.T, cfg Config) {
	a, b := open(t, cfg), open(t, cfg)
	m, ok := a.(lockimpl.MultiLocker)
	if !ok {
		t.Skip("it takes one key at a time")
	}
	keys := []string{t.Name() + "/z", t.Name(), t.Name() + "/a"}
	one := acquire(t, b, cfg)
	if _, err := m.AcquireAll(t.Context(), keys, cfg.TTL); !errors.Is(err, lockimpl.ErrHeld) {
		t.Fatalf("acquire all with one held: %v, want ErrHeld", err)
	}
	release(t, one)
	var leases []lockimpl.Lease
	for deadline := time.Now().Add(2 * cfg.TTL); ; time.Sleep(10 * time.Millisecond) {
		var err error
		if leases, err = m.AcquireAll(t.Context(), keys, cfg.TTL); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("acquire all: %v", err)
		}
	}
	refused(t, b, cfg)
	for _, lease := range leases {
		release(t, lease)
	}
}

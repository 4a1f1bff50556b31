package workload_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/history"
)

// A bomb is a lock that panics on its own, or while it is called back.
type bomb struct{ act func() }

func (b bomb) Acquire(context.Context, string, time.Duration) (lockimpl.Lease, error) {
	b.act()
	return nil, lockimpl.ErrHeld
}

func (bomb) Close() error { return nil }

// TestPanic has locks panic, and the harness where it is called by a lock or
// works by itself: each is told from the other by its stack.
func TestPanic(t *testing.T) {
	closed := make(chan int)
	close(closed)
	for name, c := range map[string]struct {
		act   func()
		pause func(context.Context) error
		lock  bool
		at    string
	}{
		"the lock":                      {act: func() { close(closed) }, lock: true, at: "workload_test.TestPanic"},
		"a library that the lock calls": {act: func() { _ = strings.Repeat("x", -len(closed)-1) }, lock: true, at: "workload_test.TestPanic"},
		"the harness, called back":      {act: func() { (*history.Recorder)(nil).NewProcess() }, at: "history.(*Recorder).NewProcess"},
		"the harness itself":            {act: func() {}, pause: func(context.Context) error { return (*workload.Client)(nil).Close() }, at: "workload.(*Client).Close"},
	} {
		t.Run(name, func(t *testing.T) {
			client := &workload.Client{Name: "c00", Pause: c.pause, Connect: func(context.Context) (*workload.Conn, error) {
				return &workload.Conn{Locker: bomb{c.act}, Close: func() error { return nil }}, nil
			}}
			cfg := workload.Config{Keys: 1, TTL: time.Second, Writes: 1, Duration: time.Minute}
			err := workload.Run(t.Context(), cfg, []*workload.Client{client}, history.NewRecorder())
			var p *workload.PanicError
			if !errors.As(err, &p) {
				t.Fatalf("Run returned %v", err)
			}
			if p.Lock != c.lock || !strings.Contains(p.At, c.at) || !strings.Contains(string(p.Stack), "panic(") {
				t.Errorf("lock's own: %t, in %s; want %t, in %s", p.Lock, p.At, c.lock, c.at)
			}
		})
	}
}

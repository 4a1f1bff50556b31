package redlock_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// A reaction is what an Observer does when it is told of something for the first time.
type reaction struct {
	to   redlock.Op
	act  atomic.Pointer[func() error]
	done chan error
}

// Observe implements redlock.Observer.
func (r *reaction) Observe(_ context.Context, e redlock.Event) {
	if e.Op != r.to {
		return
	}
	if act := r.act.Swap(nil); act != nil {
		r.done <- (*act)()
	}
}

// Who is told of a renewal or a loss may give the lease back, and close the session or the
// lock: nobody waits for the one who waits for it.
func TestObserverMayReleaseAndClose(t *testing.T) {
	for name, c := range map[string]struct {
		to    redlock.Op
		react func(t *testing.T, l *redlock.Lock) func() error
	}{
		"renewal, release": {redlock.OpExtend, func(t *testing.T, l *redlock.Lock) func() error {
			lease := get(t, l, "k", 3*time.Second)
			lease.Renew(t.Context())
			return func() error { return lease.Release(t.Context()) }
		}},
		"renewal, close": {redlock.OpExtend, func(t *testing.T, l *redlock.Lock) func() error {
			get(t, l, "k", 3*time.Second).Renew(t.Context())
			return l.Close
		}},
		"session, close": {redlock.OpExtend, func(t *testing.T, l *redlock.Lock) func() error {
			s, err := l.NewSession()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Acquire(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
			return func() error { return s.Close(t.Context()) }
		}},
		"loss, close": {redlock.OpLost, func(t *testing.T, l *redlock.Lock) func() error {
			get(t, l, "k", 3*time.Second)
			return l.Close
		}},
	} {
		t.Run(name, func(t *testing.T) {
			world.Run(t, 3, func(t *testing.T, w *world.World) {
				observer := &reaction{to: c.to, done: make(chan error, 1)}
				l, _ := api(w, redlock.Config{TTL: 3 * time.Second, Observer: observer})
				act := c.react(t, l)
				observer.act.Store(&act)
				select {
				case err := <-observer.done:
					if err != nil {
						t.Error(err)
					}
				case <-time.After(time.Minute):
					t.Fatal("an observer waits for itself")
				}
			})
		})
	}
}

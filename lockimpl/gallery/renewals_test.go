package gallery

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"

	"locktorture/lockimpl"
)

// TestReentryIsRenewedOnce takes a key twice for one owner and gives it back
// once: what is left is renewed as if it had been taken once.
func TestReentryIsRenewedOnce(t *testing.T) {
	for _, c := range []struct {
		id   string
		want []time.Duration // until 5.5 TTLs have passed
	}{
		{"renew-limited", times(ttl, ttl, 3)}, // and one at once
		{"redisson-hash", times(ttl/3, ttl/3, 16)},
	} {
		t.Run(c.id, func(t *testing.T) {
			virtually(t, func(t *testing.T, _ *miniredis.Miniredis, node lockimpl.Node) {
				know(t, node)
				d, node := noted(node, "evalsha")
				l := open(t, factory(t, c.id), []lockimpl.Node{node}).(lockimpl.ReentrantLocker)
				take := func() lockimpl.Lease {
					lease, err := l.AcquireAs(t.Context(), "me", "k", ttl)
					if err != nil {
						t.Fatal(err)
					}
					return lease
				}
				outer, inner := take(), take()
				outer.(lockimpl.Renewer).Renew(nil)
				synctest.Wait()
				mustRelease(t, inner)
				d.clear()
				time.Sleep(5*ttl + ttl/2)
				if got := d.at(); !slices.Equal(got, c.want) {
					t.Errorf("renewed at %v, want %v", got, c.want)
				}
			})
		})
	}
}

// TestReentryDoesNotRaiseTheFlag asks for renewal of a re-entry, after another
// lock of the object has been released: the renewal of the first has ended.
func TestReentryDoesNotRaiseTheFlag(t *testing.T) {
	virtually(t, func(t *testing.T, _ *miniredis.Miniredis, node lockimpl.Node) {
		know(t, node)
		l := open(t, RenewLimited(), []lockimpl.Node{node}).(*renewLimited)
		take := func() {
			lease, err := l.AcquireAs(t.Context(), "me", "k", ttl)
			if err != nil {
				t.Fatal(err)
			}
			lease.(lockimpl.Renewer).Renew(nil)
		}
		take()
		synctest.Wait() // for the first renewal
		mustRelease(t, mustAcquire(t, l, "other"))
		take()
		time.Sleep(2 * ttl)
		if n := running(&l.tasks); n != 0 {
			t.Errorf("%d renewal tasks although a lock of the object was released, want none", n)
		}
	})
}

// TestFailedReleaseKeepsTheWatchdog breaks the server for the time of a release:
// the hash lock is renewed on.
func TestFailedReleaseKeepsTheWatchdog(t *testing.T) {
	for _, id := range []string{"redisson-hash", "retry-on-error-hash"} {
		t.Run(id, func(t *testing.T) {
			virtually(t, func(t *testing.T, m *miniredis.Miniredis, node lockimpl.Node) {
				know(t, node)
				d, node := noted(node, "evalsha")
				lease := mustAcquire(t, open(t, factory(t, id), []lockimpl.Node{node}), "k")
				m.SetError("the server is broken")
				if err := lease.Release(t.Context()); err == nil {
					t.Fatal("a release without a server succeeded")
				}
				m.SetError("")
				d.clear()
				time.Sleep(ttl + ttl/10)
				if got, want := d.at(), times(ttl/3, ttl/3, 3); !slices.Equal(got, want) {
					t.Errorf("renewed at %v, want %v", got, want)
				}
			})
		})
	}
}

// TestWatchdogIsStoppedFirst keeps a release on its way for two rounds: nothing
// else is sent.
func TestWatchdogIsStoppedFirst(t *testing.T) {
	const ttl = 3 * time.Second
	synctest.Test(t, func(t *testing.T) {
		_, links, nodes := virtualCluster(t, 1)
		d, node := noted(nodes[0], "")
		lease, err := open(t, TokenWatchdog(), []lockimpl.Node{node}).Acquire(t.Context(), "k", ttl)
		if err != nil {
			t.Fatal(err)
		}
		d.clear()
		links[0].Up.Hold()
		done := async(t, func() error { return lease.Release(t.Context()) })
		time.Sleep(ttl * 3 / 4)
		if got := d.at(); !slices.Equal(got, times(0, 0, 1)) {
			t.Errorf("sent at %v, want the release alone", got)
		}
		links[0].Up.Free()
		if err := <-done; err != nil {
			t.Errorf("release: %v", err)
		}
	})
}

// TestWaiterTimes holds the instants at which a waiter that subscribes tries:
// once before it subscribes, once after, and when the lease has run out, or
// another's release is published.
func TestWaiterTimes(t *testing.T) {
	const left = 2 * time.Second
	for name, hold := range map[string]func(t *testing.T, m *miniredis.Miniredis, node lockimpl.Node) (over func() error){
		"the lease runs out": func(_ *testing.T, m *miniredis.Miniredis, _ lockimpl.Node) func() error {
			m.HSet("k", "another", "1")
			m.SetTTL("k", left)
			return func() error { return nil }
		},
		"the holder releases": func(t *testing.T, _ *miniredis.Miniredis, node lockimpl.Node) func() error {
			lease := mustAcquire(t, open(t, RedissonHash(), []lockimpl.Node{node}), "k")
			released := async(t, func() error {
				time.Sleep(left)
				return lease.Release(t.Context())
			})
			return func() error { return <-released }
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, m *miniredis.Miniredis, node lockimpl.Node) {
				know(t, node)
				over := hold(t, m, node)
				d, node := noted(node, "evalsha")
				w := open(t, RedissonHash(), []lockimpl.Node{node}).(lockimpl.WaitLocker)
				if _, err := w.AcquireWait(t.Context(), "k", ttl); err != nil {
					t.Fatal(err)
				}
				if got, want := d.at(), []time.Duration{0, 0, left}; !slices.Equal(got, want) {
					t.Errorf("tried at %v, want %v", got, want)
				}
				if err := over(); err != nil {
					t.Errorf("the holder's release: %v", err)
				}
			})
		})
	}
}

// TestWaiterStopsWhileItSubscribesAnew ends a wait whose subscription has broken and is on its way
// again, to a server that does not answer.
func TestWaiterStopsWhileItSubscribesAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, links, nodes := virtualCluster(t, 1)
		mustAcquire(t, open(t, RedissonHash(), nodes), "k")
		w := open(t, RedissonHash(), nodes).(lockimpl.WaitLocker)
		ctx, stop := context.WithCancel(t.Context())
		began := time.Now()
		ended := async(t, func() error { _, err := w.AcquireWait(ctx, "k", ttl); return err })
		synctest.Wait()
		links[0].Down.Hold()
		links[0].Cut()
		time.Sleep(time.Millisecond)
		stop()
		if err := <-ended; !errors.Is(err, lockimpl.ErrHeld) || time.Since(began) != time.Millisecond {
			t.Errorf("%v after %v, want %v when it was stopped, after 1ms", err, time.Since(began), lockimpl.ErrHeld)
		}
		links[0].Down.Free()
	})
}

// running is how many tasks have not ended.
func running(ts *tasks) int {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return len(ts.live)
}

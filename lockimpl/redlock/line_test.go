package redlock_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
	"locktorture/lockimpl/redlock/internal/script"
)

// A long line is served in its order, and at each hand-over one of it asks: of one client and
// of many.
func TestThousandFairWaiters(t *testing.T) {
	for _, c := range []struct{ nodes, clients, waiters, each int }{
		{1, 1, 1000, 50},
		{1, 20, 200, 50},
		{3, 1, 100, 50},
	} {
		world.Run(t, c.nodes, func(t *testing.T, w *world.World) {
			holder, _ := api(w, redlock.Config{})
			held := get(t, holder, "k", 9*time.Second)
			clients := make([]*redlock.Lock, c.clients)
			for i := range clients {
				clients[i], _ = api(w, redlock.Config{})
			}
			var mu sync.Mutex
			var order []int
			var waiters sync.WaitGroup
			for i := range c.waiters {
				waiters.Go(func() {
					lease, err := clients[i%c.clients].AcquireFair(t.Context(), "k", 9*time.Second)
					if err != nil {
						t.Errorf("waiter %d: %v", i, err)
						return
					}
					mu.Lock()
					order = append(order, i)
					mu.Unlock()
					if err := lease.Release(t.Context()); err != nil {
						t.Errorf("waiter %d: %v", i, err)
					}
				})
				time.Sleep(time.Millisecond)
			}
			before := w.Commands(1)
			if err := held.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			waiters.Wait()
			if !slices.IsSorted(order) || len(order) != c.waiters {
				t.Errorf("%+v: served %v", c, order)
			}
			if got := (w.Commands(1) - before) / c.waiters; got > c.each {
				t.Errorf("%+v: %d commands a hand-over, want at most %d", c, got, c.each)
			}
		})
	}
}

// What a long line over five masters asks does not grow with it, neither while it waits nor
// at a hand-over, and is served in its order, a round trip after the other.
func TestLongLineOverFiveMasters(t *testing.T) {
	const waiters, trip = 300, 2 * time.Millisecond
	world.Run(t, 5, func(t *testing.T, w *world.World) {
		holder, _ := api(w, redlock.Config{})
		held := get(t, holder, "k", 9*time.Second)
		l, links := api(w, redlock.Config{})
		for _, link := range links {
			link.Up.Delay(trip / 2)
			link.Down.Delay(trip / 2)
		}
		var order []int
		var mu sync.Mutex
		var line sync.WaitGroup
		for i := range waiters {
			line.Go(func() {
				lease, err := l.AcquireFair(t.Context(), "k", 9*time.Second)
				if err != nil {
					t.Errorf("waiter %d: %v", i, err)
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				if err := lease.Release(t.Context()); err != nil {
					t.Errorf("waiter %d: %v", i, err)
				}
			})
			time.Sleep(time.Millisecond)
		}
		time.Sleep(5 * time.Second) // their places outlast their own signs of life
		before := w.Commands(1)
		time.Sleep(time.Second)
		if got := w.Commands(1) - before; got > 400 {
			t.Errorf("%d commands a second while %d wait, want at most 400", got, waiters)
		}
		before = w.Commands(1)
		began := time.Now()
		if err := held.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		line.Wait()
		if took := time.Since(began); took > 2*waiters*trip {
			t.Errorf("the line was served in %v, want at most %v", took, 2*waiters*trip)
		}
		if got := (w.Commands(1) - before) / waiters; got > 35 {
			t.Errorf("%d commands a hand-over, want at most 35", got)
		}
		if !slices.IsSorted(order) || len(order) != waiters {
			t.Errorf("served %v", order)
		}
		if in, err := holder.Inspect(t.Context(), "k"); err != nil || in.Waiting != 0 {
			t.Errorf("%d wait when all have been served: %v", in.Waiting, err)
		}
	})
}

// A line whose client hears no wake-up is served all the same, by what its leader asks.
func TestLineThatHearsNothing(t *testing.T) {
	const waiters = 8
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		holder, _ := api(w, redlock.Config{})
		l, links := api(w, redlock.Config{})
		if err := get(t, l, "warm", time.Second).Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			link.Refuse(true) // the connections stay, and no others are made
		}
		var line sync.WaitGroup
		for range 3 {
			held := get(t, holder, "k", 9*time.Second)
			for i := range waiters {
				line.Go(func() {
					ctx := t.Context()
					if i%2 == 1 { // some leave before their turn
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, time.Duration(i)*300*time.Millisecond)
						defer cancel()
					}
					lease, err := l.AcquireFair(ctx, "k", 9*time.Second)
					if i%2 == 1 {
						if err == nil {
							t.Error("granted beside the holder")
						}
						return
					}
					if err == nil {
						time.Sleep(100 * time.Millisecond)
						err = lease.Release(t.Context())
					}
					if err != nil {
						t.Errorf("waiter %d: %v", i, err)
					}
				})
			}
			time.Sleep(3 * time.Second)
			if in, err := holder.Inspect(t.Context(), "k"); err != nil || in.Waiting != waiters/2 {
				t.Errorf("%d wait after some have left, want %d: %v", in.Waiting, waiters/2, err)
			}
			began := time.Now()
			if err := held.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			line.Wait()
			if took := time.Since(began); took > waiters/2*400*time.Millisecond {
				t.Errorf("the line was served in %v", took)
			}
		}
		for _, link := range links {
			link.Refuse(false)
		}
	})
}

// A call whose script the server has forgotten is sent again, and lands behind those that
// came after it in its pipeline. None of them relies on it: a renewal finds nothing to
// lengthen, and an acquire that has ended is not sent again.
func TestCallThatLandsBehindLaterOnes(t *testing.T) {
	one := func(s *script.Script) string { return s.Source }
	for name, c := range map[string]struct {
		known []string // to the server, of what follows the call in its pipeline
		calls func(t *testing.T, l *redlock.Lock, lease *redlock.Lease) []func() error
	}{
		"a renewal behind the release": {
			[]string{one(script.GiveBack), one(script.Release)},
			func(t *testing.T, _ *redlock.Lock, lease *redlock.Lease) []func() error {
				return []func() error{
					func() error { _ = lease.Extend(t.Context(), 9*time.Second); return nil },
					func() error { return lease.Release(t.Context()) },
				}
			},
		},
		"a release behind the next acquire": {
			[]string{one(script.Wait), one(script.Acquire)},
			func(t *testing.T, l *redlock.Lock, lease *redlock.Lease) []func() error {
				return []func() error{
					func() error { return lease.Release(t.Context()) },
					func() error { return takeAndGiveBack(t.Context(), l) },
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			world.Run(t, 1, func(t *testing.T, w *world.World) {
				raw, links := w.Client(redlock.NewFactory(redlock.Config{NodeTimeout: time.Second}))
				l := raw.(*redlock.Locker).Lock
				lease := get(t, l, "k", 9*time.Second)
				links[0].Up.Hold()
				var calls sync.WaitGroup
				first := func() { _, _ = l.Inspect(t.Context(), "k") } // in flight, while the others join the next pipeline
				for _, call := range append([]func() error{func() error { first(); return nil }}, c.calls(t, l, lease)...) {
					calls.Go(func() {
						if err := call(); err != nil {
							t.Error(err)
						}
					})
					synctest.Wait()
				}
				time.Sleep(5 * time.Millisecond)
				w.ForgetScripts(1, append(c.known, one(script.Inspect))...)
				links[0].Up.Free()
				calls.Wait()
				if on := w.LeaseKeys(raw, "k"); on != nil {
					t.Errorf("a key is left on %v", on)
				}
				if err := takeAndGiveBack(t.Context(), l); err != nil {
					t.Errorf("afterwards: %v", err)
				}
			})
		})
	}
}

// An acquire whose script the server has forgotten, and that has been given up when this is
// known, is not sent again.
func TestAcquireThatIsGivenUpIsNotSentAgain(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		raw, links := w.Client(redlock.NewFactory(redlock.Config{NodeTimeout: time.Second}))
		l := raw.(*redlock.Locker).Lock
		for range 2 {
			if err := takeAndGiveBack(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			w.ForgetScripts(1)
			links[0].Down.Delay(20 * time.Millisecond)
			err := within(t, 10*time.Millisecond, func(ctx context.Context) error { return takeAndGiveBack(ctx, l) })
			if err == nil {
				t.Error("granted before the answer")
			}
			time.Sleep(time.Second)
			if on := w.LeaseKeys(raw, "k"); on != nil {
				t.Errorf("a key is left on %v", on)
			}
			links[0].Down.Delay(0)
		}
	})
}

// takeAndGiveBack waits for k and releases it.
func takeAndGiveBack(ctx context.Context, l *redlock.Lock) error {
	lease, err := l.AcquireWait(ctx, "k", 9*time.Second)
	if err != nil {
		return err
	}
	return lease.Release(ctx)
}

// A line that was away for longer than its patience, so that the nodes forgot it, has its order
// all the same when it comes back: whoever leads it too, whatever of it is asked first.
func TestLineThatWasForgottenKeepsItsOrder(t *testing.T) {
	for late := time.Duration(0); late < 200*time.Millisecond; late += 10 * time.Millisecond {
		waiters := 4
		if late == 0 {
			waiters = 300 // more than one call keeps
		}
		world.Run(t, 1, func(t *testing.T, w *world.World) {
			holder, _ := api(w, redlock.Config{})
			l, links := api(w, redlock.Config{RetryMin: 120 * time.Millisecond}) // a call that keeps goes out before the next try
			for range 34 {                                                       // the leader's name, of which the serial number ends in z, comes behind the next
				lease, err := l.AcquireFair(t.Context(), "before", time.Second)
				if err == nil {
					err = lease.Release(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			held := get(t, holder, "k", 9*time.Second)
			var served []int
			var mu sync.Mutex
			var line sync.WaitGroup
			for i := range waiters {
				line.Go(func() {
					lease, err := l.AcquireFair(t.Context(), "k", 9*time.Second)
					if err != nil {
						t.Errorf("waiter %d: %v", i, err)
						return
					}
					mu.Lock()
					served = append(served, i)
					mu.Unlock()
					if err := lease.Release(t.Context()); err != nil {
						t.Errorf("waiter %d: %v", i, err)
					}
				})
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Second + late)
			links[0].Refuse(true)
			links[0].Cut()
			time.Sleep(2*time.Second + late)
			links[0].Up.Delay(20 * time.Millisecond) // so that several calls wait for the connection
			links[0].Refuse(false)
			time.Sleep(time.Second)
			if err := held.Release(t.Context()); err != nil {
				t.Error(err)
			}
			line.Wait()
			if !slices.IsSorted(served) || len(served) != waiters {
				t.Errorf("cut after %v: served %v", late, served)
			}
		})
	}
}

// A call that keeps places, and whose script the server has forgotten, is sent again behind the
// grant of one of them. It does not take that place again: those behind it are not held up.
func TestPlaceThatWasGrantedIsNotTakenAgain(t *testing.T) {
	for late := time.Duration(0); late < 100*time.Millisecond; late += 5 * time.Millisecond {
		world.Run(t, 1, func(t *testing.T, w *world.World) {
			holder, _ := api(w, redlock.Config{})
			held := get(t, holder, "k", 9*time.Second)
			l, links := api(w, redlock.Config{NodeTimeout: time.Second})
			links[0].Up.Delay(20 * time.Millisecond)
			granted := make(chan *redlock.Lease)
			for range 3 {
				go func() {
					lease, err := l.AcquireFair(t.Context(), "k", 9*time.Second)
					if err != nil {
						t.Error(err)
					}
					granted <- lease
				}()
			}
			ctx, stop := context.WithCancel(t.Context())
			var busy sync.WaitGroup
			busy.Go(func() { // so that what is asked waits for the next pipeline
				for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
					busy.Go(func() { _, _ = l.Inspect(ctx, "other") })
				}
			})
			time.Sleep(600*time.Millisecond + late)
			var known []string
			for _, s := range script.All() {
				if s != script.Keep {
					known = append(known, s.Source)
				}
			}
			w.ForgetScripts(1, known...)
			if err := held.Release(t.Context()); err != nil {
				t.Error(err)
			}
			for n := range 3 {
				began := time.Now()
				lease := <-granted
				if took := time.Since(began); took > 200*time.Millisecond {
					t.Errorf("%v: waiter %d was granted the key after %v", late, n, took)
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
			stop()
			busy.Wait()
		})
	}
}

// What the nodes come to say that ends every wait is told to a whole line at once, not to one
// after the other.
func TestLineIsToldTogetherWhatEndsItsWait(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		const patience = 30 * time.Second
		var server *redis.Client
		raw, _ := w.Client(func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
			server = redis.NewClient(&redis.Options{Dialer: nodes[0].Dial, Protocol: 2, DisableIdentity: true,
				MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
			return redlock.NewFactory(redlock.Config{Patience: patience, MaxTTL: time.Hour})(nodes)
		})
		defer server.Close()
		l := raw.(*redlock.Locker).Lock
		holder, _ := api(w, redlock.Config{Patience: patience, MaxTTL: time.Hour})
		get(t, holder, "k", 9*time.Second)
		key := raw.LeaseKeys("k")[0]
		var line sync.WaitGroup
		for i := range 20 {
			line.Go(func() {
				if _, err := l.AcquireFair(t.Context(), "k", 9*time.Second); !errors.Is(err, redlock.ErrMisconfigured) {
					t.Errorf("waiter %d: %v", i, err)
				}
			})
		}
		time.Sleep(time.Second)
		began := time.Now()
		server.Del(t.Context(), key)
		if err := server.Set(t.Context(), key, "something else", 0).Err(); err != nil {
			t.Fatal(err)
		}
		line.Wait()
		if took := time.Since(began); took > patience/3+time.Second {
			t.Errorf("the last of the line was told after %v", took)
		}
	})
}

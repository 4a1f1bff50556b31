package redlock_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"locktorture/lockimpl/internal/memnet"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// An observerFunc is an Observer.
type observerFunc func(redlock.Event)

// Observe implements redlock.Observer.
func (f observerFunc) Observe(_ context.Context, e redlock.Event) { f(e) }

// waitForAll has l wait for x and y, of which another client has y for so long, and fails unless
// both are granted in the end and are in force then.
func waitForAll(t *testing.T, l, other *redlock.Lock, theirs time.Duration) {
	t.Helper()
	held := get(t, other, "y", theirs)
	granted := make(chan []*redlock.Lease, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		leases, err := l.AcquireAllWait(ctx, []string{"y", "x"}, 3*time.Second)
		if err != nil || time.Now().Before(held.ValidUntil()) {
			t.Errorf("granted %d, %v before the end of the other lease: %v", len(leases), time.Until(held.ValidUntil()), err)
		}
		granted <- leases
	}()
	for _, lease := range <-granted {
		if err := lease.Release(t.Context()); err != nil {
			t.Errorf("%s: %v", lease.Key(), err)
		}
	}
	time.Sleep(time.Second)
	for _, key := range []string{"x", "y"} {
		if err := get(t, other, key, time.Second).Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// Who waits for several keys, and loses one of them meanwhile, waits for all of them anew: the
// nodes were away for longer than its lease, or have forgotten it.
func TestWaitForSeveralKeysOutlastsALoss(t *testing.T) {
	for name, happens := range map[string]func(w *world.World, links []*memnet.Link){
		"away": func(_ *world.World, links []*memnet.Link) {
			for _, link := range links {
				link.Refuse(true)
				link.Cut()
			}
			time.Sleep(4 * time.Second)
			for _, link := range links {
				link.Refuse(false)
			}
		},
		"silent": func(_ *world.World, links []*memnet.Link) {
			for _, link := range links {
				link.Up.Hold()
			}
			time.Sleep(4 * time.Second)
			for _, link := range links {
				link.Up.Free()
			}
		},
		"empty": func(w *world.World, _ []*memnet.Link) {
			for i := range w.Size() {
				w.Forget(i + 1)
			}
		},
	} {
		for _, n := range []int{1, 3} {
			world.Run(t, n, func(t *testing.T, w *world.World) {
				l, links := api(w, redlock.Config{})
				other, _ := api(w, redlock.Config{})
				connect(t, l)
				go func() {
					time.Sleep(2 * time.Second)
					happens(w, links)
				}()
				waitForAll(t, l, other, 9*time.Second)
				if t.Failed() {
					t.Logf("%s, %d nodes", name, n)
				}
			})
		}
	}
}

// So does who has got the last key when the first, which has to be extended by then, cannot be.
func TestWaitForSeveralKeysOutlastsAnOutageAtItsEnd(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			busy := func(message string) {
				for i := range n {
					w.Fail(i+1, message)
				}
			}
			times := 0
			l, _ := api(w, redlock.Config{Observer: observerFunc(func(e redlock.Event) {
				if e.Op != redlock.OpAcquire || e.Key != "y" || e.Err != nil {
					return
				}
				if times++; times == 1 {
					busy("BUSY Redis is busy running a script")
					time.AfterFunc(time.Second, func() { busy("") })
				}
			})})
			other, _ := api(w, redlock.Config{})
			connect(t, l)
			// A third of x's lease, of 3 s, is over 10 ms before it is extended.
			waitForAll(t, l, other, 995*time.Millisecond)
			if times != 2 {
				t.Errorf("%d nodes: y was granted %d times, want 2", n, times)
			}
		})
	}
}

// Who makes one try for several keys is told of a loss, and not of the end of a context, which
// goes on.
func TestTryForSeveralKeysIsToldOfALoss(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			var links []*memnet.Link
			cfg := redlock.Config{NodeTimeout: 9 * time.Second, Observer: observerFunc(func(e redlock.Event) {
				for _, link := range links {
					if e.Key == "x" && e.Op == redlock.OpAcquire {
						link.Up.Hold()
					}
				}
			})}
			var l *redlock.Lock
			l, links = api(w, cfg)
			connect(t, l)
			for _, link := range links {
				link.Down.Delay(20 * time.Millisecond) // so long x is lost before y would be
			}
			_, err := l.AcquireAll(t.Context(), []string{"x", "y"}, time.Second)
			for _, link := range links {
				link.Up.Free()
			}
			if !errors.Is(err, redlock.ErrLost) || errors.Is(err, context.Canceled) {
				t.Errorf("%v, want ErrLost alone", err)
			}
		})
	}
}

// Close ends a wait for several keys that is about to begin anew, and does not wait for its pause.
func TestCloseEndsAWaitThatBeginsAnew(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{RetryMin: time.Hour, RetryMax: time.Hour, Patience: 9 * time.Hour})
		other, _ := api(w, redlock.Config{})
		connect(t, l)
		held := get(t, other, "y", 9*time.Second)
		ended := make(chan error, 1)
		go func() { _, err := l.AcquireAllWait(t.Context(), []string{"x", "y"}, 3*time.Second); ended <- err }()
		time.Sleep(time.Second)
		w.Forget(1)
		time.Sleep(5 * time.Second) // until x is lost
		if len(ended) > 0 {
			t.Fatalf("ended with %v", <-ended)
		}
		began := time.Now()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, redlock.ErrClosed) || time.Since(began) > 3*time.Second {
			t.Errorf("%v after %v, want ErrClosed", err, time.Since(began))
		}
		_ = held.Release(t.Context())
	})
}

// Who takes many keys has those that it has extended together: one after the other that would
// take longer than a lease lasts, where the way to the nodes is long.
func TestManyKeysAreExtendedTogether(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			l, links := api(w, redlock.Config{})
			connect(t, l)
			for _, link := range links {
				link.Down.Delay(20 * time.Millisecond)
			}
			var keys []string
			for i := range 40 {
				keys = append(keys, strconv.Itoa(i))
			}
			for name, take := range map[string]func(context.Context, []string, time.Duration) ([]*redlock.Lease, error){
				"try": l.AcquireAll, "wait": l.AcquireAllWait,
			} {
				err := within(t, 5*time.Second, func(ctx context.Context) error {
					leases, err := take(ctx, keys, 600*time.Millisecond)
					for _, lease := range leases {
						if lease.Err() != nil {
							t.Errorf("%s, %d nodes: granted %s: %v", name, n, lease.Key(), lease.Err())
						}
						go func() { _ = lease.Release(t.Context()) }()
					}
					return err
				})
				if err != nil {
					t.Errorf("%s, %d nodes: %v", name, n, err)
				}
				time.Sleep(time.Second)
			}
		})
	}
}

// Where a lease lasts for a few exchanges only, those that are taken first are extended while the
// next is granted all the same.
func TestKeysAreExtendedOverALongWay(t *testing.T) {
	keys := strings.Split("abcdefgh", "")
	for _, n := range []int{1, 3} {
		for _, way := range []time.Duration{100 * time.Millisecond, 120 * time.Millisecond, 140 * time.Millisecond} {
			world.Run(t, n, func(t *testing.T, w *world.World) {
				l, links := api(w, redlock.Config{})
				connect(t, l)
				for _, link := range links {
					link.Down.Delay(way)
				}
				for name, take := range map[string]func(context.Context, []string, time.Duration) ([]*redlock.Lease, error){
					"try": l.AcquireAll, "wait": l.AcquireAllWait,
				} {
					err := within(t, 5*time.Second, func(ctx context.Context) error {
						leases, err := take(ctx, keys, 600*time.Millisecond)
						for _, lease := range leases {
							if lease.Err() != nil {
								t.Errorf("%s, %d nodes, %v away: granted %s: %v", name, n, way, lease.Key(), lease.Err())
							}
							go func() { _ = lease.Release(t.Context()) }()
						}
						return err
					})
					if err != nil {
						t.Errorf("%s, %d nodes, %v away: %v", name, n, way, err)
					}
					time.Sleep(time.Second)
				}
			})
		}
	}
}

// Who tries for several keys, and is refused one, does not wait for what is being extended.
func TestTryForSeveralKeysThatIsRefusedEndsAtOnce(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			l, links := api(w, redlock.Config{NodeTimeout: 2 * time.Second})
			other, _ := api(w, redlock.Config{})
			connect(t, l)
			get(t, other, "y", 9*time.Second)
			for _, link := range links {
				link.Down.Delay(900 * time.Millisecond)
			}
			began := time.Now()
			_, err := l.AcquireAll(t.Context(), []string{"x", "y"}, 3*time.Second)
			if took := time.Since(began); !errors.Is(err, redlock.ErrHeld) || took > 1850*time.Millisecond {
				t.Errorf("%d nodes: %v after %v, want ErrHeld after two exchanges", n, err, took)
			}
			time.Sleep(9 * time.Second)
		})
	}
}

// Who waits for several keys, of which its own context's lease holds one, is told so at once, and
// does not wait for the others first.
func TestWaitForSeveralKeysUnderALeaseOnOne(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			l, _ := api(w, redlock.Config{})
			other, _ := api(w, redlock.Config{})
			connect(t, l)
			held := get(t, other, "x", 9*time.Second)
			own := get(t, l, "y", 9*time.Second)
			began := time.Now()
			_, err := l.AcquireAllWait(own.Context(), []string{"x", "y"}, time.Second)
			if took := time.Since(began); !errors.Is(err, redlock.ErrMisconfigured) || took > 0 {
				t.Errorf("%d nodes: %v after %v, want ErrMisconfigured at once", n, err, took)
			}
			_, _ = own.Release(t.Context()), held.Release(t.Context())
		})
	}
}

// A context that ends while the keys that were granted first are extended, behind the last, leaves
// none of them: that is told, whatever became of the last.
func TestWaitForSeveralKeysThatEndsAtItsEndSaysSo(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			ctx, cancel := context.WithCancel(t.Context())
			busy := func(message string) {
				for i := range n {
					w.Fail(i+1, message)
				}
			}
			l, _ := api(w, redlock.Config{Observer: observerFunc(func(e redlock.Event) {
				if e.Op == redlock.OpAcquire && e.Key == "y" && e.Err == nil {
					busy("BUSY Redis is busy running a script")
					cancel()
				}
			})})
			other, _ := api(w, redlock.Config{})
			connect(t, l)
			get(t, other, "y", 995*time.Millisecond) // a third of x's lease, of 3 s, is over by then
			leases, err := l.AcquireAllWait(ctx, []string{"x", "y"}, 3*time.Second)
			if !errors.Is(err, context.Canceled) || errors.Is(err, redlock.ErrHeld) || len(leases) > 0 {
				t.Errorf("%d nodes: granted %d: %v", n, len(leases), err)
			}
			busy("")
			time.Sleep(4 * time.Second)
		})
	}
}

// An outage that is over before the deadline of what was granted first leaves that as it is: it is
// not given back, and taken anew.
func TestWaitForSeveralKeysOutlastsAShortOutage(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			taken := 0
			l, _ := api(w, redlock.Config{Observer: observerFunc(func(e redlock.Event) {
				if e.Op == redlock.OpAcquire && e.Key == "x" && e.Err == nil {
					taken++
				}
			})})
			other, _ := api(w, redlock.Config{})
			connect(t, l)
			go func() {
				time.Sleep(time.Second)
				for i := range n {
					w.Fail(i+1, "BUSY Redis is busy running a script")
				}
				time.Sleep(time.Second)
				for i := range n {
					w.Fail(i+1, "")
				}
			}()
			held := get(t, other, "y", 5*time.Second)
			leases, err := l.AcquireAllWait(t.Context(), []string{"x", "y"}, 3*time.Second)
			if err != nil || taken != 1 || time.Now().Before(held.ValidUntil()) {
				t.Errorf("%d nodes: x was taken %d times, want once: %v", n, taken, err)
			}
			for _, lease := range leases {
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

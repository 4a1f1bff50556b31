package redlock_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/memnet"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// A trafficCount counts what one client does on its links.
type trafficCount struct {
	sent  atomic.Int64   // writes, to all nodes
	dials []atomic.Int64 // by node
	most  atomic.Int64   // of the former, beyond which the test panics: time might stand still
}

// A trafficConn is a connection whose writes are counted.
type trafficConn struct {
	net.Conn
	by *trafficCount
}

func (c trafficConn) Write(b []byte) (int, error) {
	if n, most := c.by.sent.Add(1), c.by.most.Load(); most > 0 && n > most {
		panic("a client sent " + strconv.FormatInt(most, 10) + " times")
	}
	return c.Conn.Write(b)
}

// measured is api with a count of the traffic.
func measured(w *world.World, cfg redlock.Config) (*redlock.Lock, []*memnet.Link, *trafficCount) {
	client, links, by := withTraffic(w, redlock.NewFactory(cfg))
	return client.(*redlock.Locker).Lock, links, by
}

// withTraffic is a client of every server with a count of its traffic.
func withTraffic(w *world.World, factory lockimpl.Factory) (world.Lock, []*memnet.Link, *trafficCount) {
	by := &trafficCount{dials: make([]atomic.Int64, w.Size())}
	client, links := w.Client(func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		for i := range nodes {
			dial := nodes[i].Dial
			nodes[i].Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				by.dials[i].Add(1)
				c, err := dial(ctx, network, addr)
				if err != nil {
					return nil, err
				}
				return trafficConn{c, by}, nil
			}
		}
		return factory(nodes)
	})
	return client, links, by
}

// Pauses of nothing are no pauses: a waiter whom too few nodes answer would ask as fast as they
// refuse, and keep a core busy where they are known to be away.
func TestWaiterPausesWhateverItIsConfiguredTo(t *testing.T) {
	for name, cfg := range map[string]redlock.Config{
		"retry":   {RetryMin: 1, RetryMax: 1},
		"backoff": {Backoff: func(int) time.Duration { return 0 }},
	} {
		for _, n := range []int{1, 3} {
			world.Run(t, n, func(t *testing.T, w *world.World) {
				l, _, by := measured(w, cfg)
				connect(t, l)
				for i := range n {
					w.Fail(i+1, "LOADING Redis is loading the dataset in memory")
				}
				before := by.sent.Load()
				by.most.Store(before + 20_000)
				err := within(t, time.Second, func(ctx context.Context) error {
					_, err := l.AcquireFair(ctx, "k", time.Second)
					return err
				})
				if got := by.sent.Load() - before; err == nil || got > 3000*int64(n) {
					t.Errorf("%s: sent %d times to %d nodes in a second (%v)", name, got, n, err)
				}
				for i := range n {
					w.Fail(i+1, "")
				}
			})
		}
	}
}

// Who watches a key with a pause of nothing would ask as fast as the nodes answer.
func TestWatchPausesWhateverItIsAskedTo(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			l, _, by := measured(w, redlock.Config{})
			connect(t, l)
			before := by.sent.Load()
			by.most.Store(before + 20_000)
			err := within(t, time.Second, func(ctx context.Context) error {
				return l.Watch(ctx, "k", 1, func(redlock.Holder, bool) {})
			})
			if got := by.sent.Load() - before; !errors.Is(err, context.DeadlineExceeded) || got > 1500*int64(n) {
				t.Errorf("sent %d times to %d nodes in a second (%v)", got, n, err)
			}
		})
	}
}

// Who admits a node, and finds too few others to do so, pauses as well.
func TestAdmissionPausesWhateverItIsConfiguredTo(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links, by := measured(w, redlock.Config{RetryMin: 1, RetryMax: 1})
		connect(t, l)
		links[1].Refuse(true)
		links[2].Refuse(true)
		links[1].Cut()
		links[2].Cut()
		w.Forget(1)
		if err := within(t, 100*time.Millisecond, func(ctx context.Context) error {
			_, err := l.AcquireFair(ctx, "k", time.Second)
			return err
		}); err == nil {
			t.Fatal("granted by a node that is empty")
		}
		time.Sleep(9 * time.Second) // most of the quarantine, which is that of what the nodes grant
		before := by.sent.Load()
		by.most.Store(before + 30_000)
		time.Sleep(3 * time.Second)
		if got := by.sent.Load() - before; got > 1000 { // a twentieth of the quarantine apart, but for the first
			t.Errorf("sent %d times in three seconds", got)
		}
	})
}

// A node that came back empty, and is gone before it was admitted, is asked ever more rarely
// whether it can be.
func TestNodeThatIsGoneBeforeItsAdmissionIsAskedMoreRarely(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links, by := measured(w, redlock.Config{})
		connect(t, l)
		w.Forget(3)
		connect(t, l) // node 3 says that it is not admitted
		links[2].Refuse(true)
		links[2].Cut()
		time.Sleep(time.Minute)
		before := by.dials[2].Load()
		time.Sleep(10 * time.Minute)
		if got := by.dials[2].Load() - before; got > 2000 { // a twentieth of the quarantine apart, and the subscription's
			t.Errorf("dialled %d times in ten minutes", got)
		}
		links[2].Refuse(false)
		time.Sleep(30 * time.Second)
		if all, err := l.Admission(t.Context()); err != nil || all[2].State != redlock.Admitted {
			t.Errorf("half a minute after it was back: %+v, %v", all, err)
		}
	})
}

// However long the pauses are that a client is configured to, or the leases, a node that was gone at
// the end of its quarantine is admitted soon after it is back: nobody is served before that.
func TestAdmissionGoesOnWhateverThePausesMayBe(t *testing.T) {
	for name, c := range map[string]struct {
		cfg          redlock.Config
		gone, within time.Duration
	}{
		"pauses": {redlock.Config{RetryMin: time.Hour, RetryMax: time.Hour}, 15 * time.Second, 2 * time.Second},
		"leases": {redlock.Config{MaxTTL: 24 * time.Hour}, 25 * time.Hour, 11 * time.Second},
	} {
		for _, n := range []int{1, 3} {
			world.Run(t, n, func(t *testing.T, w *world.World) {
				l, links := api(w, c.cfg)
				connect(t, l)
				for i := range n {
					w.Forget(i + 1)
				}
				_, _ = l.Acquire(t.Context(), "k", time.Second) // which is told that they are not admitted
				time.Sleep(time.Second)
				for _, link := range links {
					link.Refuse(true)
					link.Cut()
				}
				time.Sleep(c.gone) // beyond the end of the quarantine
				for _, link := range links {
					link.Refuse(false)
				}
				began := time.Now()
				lease, err := l.AcquireWait(t.Context(), "k", time.Second)
				if took := time.Since(began); err != nil || took > c.within {
					t.Fatalf("%s, %d nodes: granted after %v: %v", name, n, took, err)
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// Nor does Bootstrap wait longer for another client that is at it than two exchanges take.
func TestBootstrapIsOverSoonWhateverThePausesMayBe(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{RetryMin: time.Hour, RetryMax: time.Hour, FirstTime: true})
		connect(t, l)
		w.Forget(1)
		began := time.Now()
		err := l.Bootstrap(t.Context())
		if took := time.Since(began); !errors.Is(err, redlock.ErrPartlyAdmitted) || took > 2*time.Second {
			t.Errorf("after %v: %v, want ErrPartlyAdmitted", took, err)
		}
	})
}

// busyFor has l take and give back keys, one every 5 ms, for so long, whatever comes of it: which
// nodes are asked first depends on the key.
func busyFor(t *testing.T, l *redlock.Lock, d time.Duration) {
	began := time.Now()
	for i := 0; time.Since(began) < d; i++ {
		time.Sleep(5 * time.Millisecond)
		if lease, err := l.Acquire(t.Context(), strconv.Itoa(i), time.Second); err == nil {
			_ = lease.Release(t.Context())
		}
	}
}

// A node that is gone, or only reads, is dialled ever more rarely, however much is asked of it, and
// is used again soon when it is back: all the sooner the shorter it was gone.
func TestNodeThatIsGoneIsDialledMoreRarelyUnderLoad(t *testing.T) {
	for _, n := range []int{1, 3} {
		for name, gone := range map[string]func(w *world.World, link *memnet.Link){
			"gone": func(_ *world.World, link *memnet.Link) {
				link.Refuse(true)
				link.Cut()
			},
			"demoted": func(w *world.World, _ *memnet.Link) { w.Demote(n) },
		} {
			for _, c := range []struct{ away, back time.Duration }{
				{50 * time.Millisecond, 30 * time.Millisecond}, {time.Second, 100 * time.Millisecond}, {20 * time.Second, 300 * time.Millisecond},
			} {
				world.Run(t, n, func(t *testing.T, w *world.World) {
					l, links, by := measured(w, redlock.Config{})
					connect(t, l)
					before, link := by.dials[n-1].Load(), links[n-1]
					gone(w, link)
					busyFor(t, l, c.away)
					if got, most := by.dials[n-1].Load()-before, int64(10+60*min(1, c.away.Seconds())+5*c.away.Seconds()); got == 0 || got > most {
						t.Errorf("%s, %d nodes: dialled %d times in %v, want at most %d", name, n, got, c.away, most)
					}
					if name == "demoted" {
						w.Promote(&redlock.Locker{Lock: l}, n, "k")
						return
					}
					link.Refuse(false)
					before = by.dials[n-1].Load()
					back := c.back
					if n > 1 {
						back += 200 * time.Millisecond // others are asked first for a moment
					}
					busyFor(t, l, back)
					if got := by.dials[n-1].Load() - before; got == 0 {
						t.Errorf("%d nodes: not dialled within %v, when it had been gone for %v", n, back, c.away)
					}
				})
			}
		}
	}
}

// So is a node that takes every connection, and ends it when it is asked for anything.
func TestNodeThatEndsItsConnectionsIsDialledMoreRarelyUnderLoad(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			var ends atomic.Bool
			factory := redlock.NewFactory(redlock.Config{})
			client, _, by := withTraffic(w, func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
				dial := nodes[n-1].Dial
				nodes[n-1].Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
					c, err := dial(ctx, network, addr)
					return endingConn{c, &ends, ""}, err
				}
				return factory(nodes)
			})
			l := client.(*redlock.Locker).Lock
			connect(t, l)
			before := by.dials[n-1].Load()
			ends.Store(true)
			busyFor(t, l, 5*time.Second)
			if got := by.dials[n-1].Load() - before; got == 0 || got > 120 {
				t.Errorf("%d nodes: dialled %d times in five seconds", n, got)
			}
			ends.Store(false)
			before = by.dials[n-1].Load()
			busyFor(t, l, 300*time.Millisecond)
			if got := by.dials[n-1].Load() - before; got == 0 || got > 3 { // and once for the subscription
				t.Errorf("%d nodes: dialled %d times when it served again", n, got)
			}
			connect(t, l)
		})
	}
}

// For how long a node was gone before it served again is forgotten: when it is gone for a moment
// after that, it is used again as soon as one that never was.
func TestNodeThatServedAgainIsUsedAgainAsSoon(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links, by := measured(w, redlock.Config{})
		connect(t, l)
		for _, gone := range []time.Duration{20 * time.Second, 50 * time.Millisecond} {
			links[0].Refuse(true)
			links[0].Cut()
			busyFor(t, l, gone)
			links[0].Refuse(false)
			before, back := by.dials[0].Load(), min(gone, 300*time.Millisecond)
			busyFor(t, l, back)
			if got := by.dials[0].Load() - before; got == 0 {
				t.Errorf("not dialled within %v, when it had been gone for %v", back, gone)
			}
		}
	})
}

// A node that is away is asked ever more rarely to undo what it was asked, however much others
// have to undo at the same time.
func TestNodeThatIsAwayIsAskedAsRarelyWhileAnotherRefuses(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links, by := measured(w, redlock.Config{Patience: time.Hour})
		other, _ := api(w, redlock.Config{})
		connect(t, l)
		leavesWhileNode3IsAway(t, l, links, other)
		time.Sleep(15 * time.Minute)
		var leases []*redlock.Lease
		for i := range 20 {
			leases = append(leases, get(t, l, "many"+strconv.Itoa(i), 10*time.Second))
		}
		w.Fail(2, "BUSY Redis is busy running a script")
		for _, lease := range leases {
			go func() { _ = lease.Release(t.Context()) }()
		}
		time.Sleep(time.Second) // until all nodes have been asked
		before := by.dials[2].Load()
		time.Sleep(8 * time.Second)
		if got := by.dials[2].Load() - before; got > 25 { // most are the subscription's, about one a second
			t.Errorf("dialled %d times in eight seconds", got)
		}
		w.Fail(2, "")
		time.Sleep(time.Minute)
		links[2].Refuse(false)
		time.Sleep(300 * time.Millisecond) // for so long it may not be dialled
		connect(t, l)                      // which asks every node
		waitsNobody(t, other)
		for i := range leases {
			if on := w.LeaseKeys(&redlock.Locker{Lock: l}, "many"+strconv.Itoa(i)); len(on) > 0 {
				t.Fatalf("keys left on %v", on)
			}
		}
	})
}

// A node that was away when the lock was taken has nothing to give back: it is not asked to again
// and again, which would keep every release in memory until its lease had ended.
func TestReleaseAsksANodeThatHasNothingOnce(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{})
		connect(t, l)
		links[2].Refuse(true)
		links[2].Cut()
		for i := range 20 {
			lease := get(t, l, strconv.Itoa(i), 10*time.Second)
			time.Sleep(50 * time.Millisecond) // until every node has been asked
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if n := redlock.SentAgain(l); n > 0 {
			t.Errorf("%d calls are sent again to a node that was away all the time", n)
		}
		links[2].Refuse(false)
	})
}

// Who waits for a semaphore under a lease on one of its places waits for the others, and is told
// so at once where there is none: it would ask again and again for what it has itself.
func TestWaitForASemaphoreUnderItsOwnLease(t *testing.T) {
	for _, places := range []int{1, 2} {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			l, _, by := measured(w, redlock.Config{})
			other, _ := api(w, redlock.Config{})
			s, err := l.Semaphore("pool", places)
			if err != nil {
				t.Fatal(err)
			}
			mine, err := s.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			mine.Renew(t.Context())
			ctx, cancel := context.WithTimeout(mine.Context(), 8*time.Second)
			defer cancel()
			before := by.sent.Load()
			by.most.Store(before + 20_000)
			if places == 1 {
				if _, err := s.AcquireWait(ctx); !errors.Is(err, redlock.ErrMisconfigured) {
					t.Errorf("under the only place: %v, want ErrMisconfigured", err)
				}
				return
			}
			for _, slot := range []string{"pool#0", "pool#1"} {
				if slot == mine.Key() {
					continue
				}
				theirs := get(t, other, slot, 9*time.Second)
				time.AfterFunc(3*time.Second, func() { _ = theirs.Release(t.Context()) })
			}
			began := time.Now()
			got, err := s.AcquireWait(ctx)
			if err != nil || got.Key() == mine.Key() || time.Since(began) > 4*time.Second {
				t.Errorf("the other place: %v after %v", err, time.Since(began))
			}
			if got := by.sent.Load() - before; got > 1000 {
				t.Errorf("sent %d times in three seconds", got)
			}
		})
	}
}

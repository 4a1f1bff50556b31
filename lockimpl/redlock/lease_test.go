package redlock_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// A holder gives up a hundredth of the TTL and two milliseconds, for clocks
// that run at different rates and for the servers' resolution.
func TestValidityLeavesRoomForDrift(t *testing.T) {
	for _, ttl := range []time.Duration{10 * time.Millisecond, time.Second, 10 * time.Second} {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			l, _ := w.Client(full)
			warm(t, l)
			began := time.Now()
			lease := take(t, l, "k", ttl)
			most := began.Add(ttl - ttl/100 - 2*time.Millisecond)
			if lease.ValidUntil().After(most) {
				t.Errorf("ttl %v: valid for %v, want at most %v", ttl, lease.ValidUntil().Sub(began), most.Sub(began))
			}
			time.Sleep(time.Millisecond)
			began = time.Now()
			if err := lease.Extend(t.Context(), ttl); err != nil {
				t.Fatal(err)
			}
			if most = began.Add(ttl - ttl/100 - 2*time.Millisecond); lease.ValidUntil().After(most) {
				t.Errorf("ttl %v: extended by %v, want at most %v", ttl, lease.ValidUntil().Sub(began), most.Sub(began))
			}
		})
	}
}

// While a machine is suspended its monotonic clock stands still: after it,
// nothing vouches for a lease from before.
func TestLeaseDoesNotOutliveASuspension(t *testing.T) {
	for name, use := range map[string]func(t *testing.T, lease lockimpl.Lease){
		"valid until": func(t *testing.T, lease lockimpl.Lease) {
			if until := lease.ValidUntil(); time.Now().Before(until) {
				t.Errorf("valid for another %v", time.Until(until))
			}
		},
		"lost": func(t *testing.T, lease lockimpl.Lease) {
			select {
			case <-lease.(lockimpl.LostNotifier).Lost():
			default:
				t.Error("not lost")
			}
		},
		"extend": func(t *testing.T, lease lockimpl.Lease) {
			if err := lease.Extend(t.Context(), time.Second); !errors.Is(err, lockimpl.ErrLost) {
				t.Errorf("extend: %v, want ErrLost", err)
			}
		},
		"release": func(t *testing.T, lease lockimpl.Lease) {
			if err := lease.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
				t.Errorf("release: %v, want ErrLost", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			world.Run(t, 1, func(t *testing.T, w *world.World) {
				l, _ := w.Client(full)
				lease := take(t, l, "k", 5*time.Second)
				redlock.Suspend(lease, 2*time.Second)
				use(t, lease)
			})
		})
	}
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, _ := w.Client(full)
		lease := take(t, l, "k", 9*time.Second)
		lost := lease.(lockimpl.LostNotifier).Lost() // asked before it
		time.Sleep(100 * time.Millisecond)
		redlock.Suspend(lease, 2*time.Second)
		woken := time.Now()
		<-lost
		if late := time.Since(woken); late > time.Second {
			t.Errorf("told %v after the suspension", late)
		}
	})
}

func TestExtendKeepsToItsContextBehindARenewal(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links := w.Client(redlock.NewFactory(redlock.Config{NodeTimeout: 4 * time.Second}))
		lease := take(t, l, "k", 9*time.Second)
		links[0].Down.Hold()
		first := make(chan error, 1)
		go func() { first <- lease.Extend(t.Context(), 9*time.Second) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := lease.Extend(ctx, 9*time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("extend: %v, want the context's end", err)
		}
		if took := time.Since(began); took > 50*time.Millisecond {
			t.Errorf("50ms asked, %v waited", took)
		}
		links[0].Down.Free()
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// deaf is a connection whose deadlines do nothing.
type deaf struct{ net.Conn }

func (deaf) SetDeadline(time.Time) error      { return nil }
func (deaf) SetReadDeadline(time.Time) error  { return nil }
func (deaf) SetWriteDeadline(time.Time) error { return nil }

func TestAcquireKeepsToItsContextWithoutDeadlines(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links := w.Client(func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
			dial := nodes[0].Dial
			nodes[0].Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := dial(ctx, network, addr)
				return deaf{c}, err
			}
			return redlock.NewLocker(nodes, redlock.Config{NodeTimeout: 5 * time.Second})
		})
		warm(t, l)
		links[0].Down.Delay(3 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := l.Acquire(ctx, "k", 9*time.Second)
		if took := time.Since(began); err == nil || took > 300*time.Millisecond {
			t.Errorf("200ms asked, answered after %v: %v", took, err)
		}
		links[0].Down.Delay(0)
	})
}

// A node that dies during a section is one that the lock can spare, also where
// no more than a quorum had been asked.
func TestReleaseDoesWithoutANodeThatDied(t *testing.T) {
	for _, n := range []int{3, 5} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			l, links := w.Client(full)
			warm(t, l)
			if err := take(t, l, "k", time.Second).Release(t.Context()); err != nil { // the fence's first use asks all nodes
				t.Fatal(err)
			}
			synctest.Wait()
			lease := take(t, l, "k", 5*time.Second)
			asked := w.LeaseKeys(l, "k")
			if len(asked) != n/2+1 {
				t.Fatalf("asked servers %v", asked)
			}
			links[asked[0]-1].Refuse(true)
			links[asked[0]-1].Cut()
			if err := lease.Release(t.Context()); err != nil {
				t.Errorf("%d nodes, one of which died: %v", n, err)
			}
		})
	}
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := w.Client(full)
		lease := w.Take(l, "k", 5*time.Second)
		for _, link := range links[:2] {
			link.Refuse(true)
			link.Cut()
		}
		if err := lease.Release(t.Context()); err == nil {
			t.Error("one of three nodes answered, and the release was confirmed")
		}
	})
}

// A copy of an acquire that arrives after the release must not take the lock.
func TestLateCopyOfAnAcquireTakesNothing(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			l, links := w.Client(full)
			warm(t, l)
			for _, link := range links {
				link.Up.Delay(time.Second)
			}
			done := make(chan error, 1)
			go func() {
				lease, err := l.Acquire(t.Context(), "k", 8*time.Second)
				if err == nil {
					err = lease.Release(t.Context())
				}
				done <- err
			}()
			time.Sleep(20 * time.Millisecond) // until every node has been asked
			for _, link := range links {
				link.Up.Delay(0) // of what is sent from now on
				link.Cut()
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second) // the copies have arrived
			synctest.Wait()
			if on := w.LeaseKeys(l, "k"); len(on) > 0 {
				t.Errorf("%d nodes: keys left on servers %v by a copy that came after the release", n, on)
			}
		})
	}
}

// A server that was out of reach for longer than a lease lasts may execute an attempt then.
// It is told that the attempt is over, whether that was refused or granted by the others.
func TestAttemptThatIsExecutedAfterItsLeaseIsUndone(t *testing.T) {
	const ttl = 2 * time.Second
	for _, shared := range []bool{false, true} {
		for _, granted := range []bool{false, true} {
			for _, silent := range []time.Duration{3 * ttl / 2, 10 * ttl} {
				world.Run(t, 3, func(t *testing.T, w *world.World) {
					l, links := w.Client(full)
					other := w.Reach(full, 2, 3)
					warm(t, l)
					acquire := world.Lock.Acquire
					if shared {
						acquire = world.Lock.AcquireShared
					}
					if !granted {
						w.Take(other, "k", ttl) // which ends by itself
					}
					allAsked(links)
					links[0].Up.Hold()
					lease, err := acquire(l, t.Context(), "k", ttl)
					if granted != (err == nil) {
						t.Fatalf("shared %v: %v", shared, err)
					}
					time.Sleep(50 * time.Millisecond) // until every node has been asked
					if granted {
						w.Release(lease)
					}
					time.Sleep(silent)
					if !links[0].Late() {
						t.Fatal("the node was not asked")
					}
					links[0].Up.Free()
					time.Sleep(time.Second) // twice the time that a node has to answer
					if on := w.LeaseKeys(l, "k"); len(on) > 0 {
						t.Errorf("shared %v, granted by others %v: the attempt is still on %v, %v after it was sent", shared, granted, on, silent)
					}
				})
			}
		}
	}
}

// The release of an attempt that failed, and that a node does not get which had granted it, is
// sent again.
func TestReleaseOfAFailedAttemptIsSentAgain(t *testing.T) {
	for _, shared := range []bool{false, true} {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			other := w.Reach(full, 2, 3)
			held := w.Take(other, "k", 9*time.Second)
			l, links := w.Client(full)
			warm(t, l)
			acquire := world.Lock.Acquire
			if shared {
				acquire = world.Lock.AcquireShared
			}
			for _, link := range links[1:] {
				link.Down.Delay(50 * time.Millisecond)
			}
			time.AfterFunc(30*time.Millisecond, links[0].Up.Drop) // when it has answered
			if _, err := acquire(l, t.Context(), "k", 9*time.Second); !errors.Is(err, lockimpl.ErrHeld) {
				t.Errorf("beside a holder: %v", err)
			}
			time.Sleep(2 * time.Second)
			w.Release(held)
			if on := slices.Compact(w.LeaseKeys(l, "k")); !slices.Equal(on, []int{1}) {
				t.Fatalf("the attempt is on %v, and node 1 has granted it and was told nothing since", on)
			}
			links[0].Up.Free()
			time.Sleep(time.Second)
			if on := w.LeaseKeys(l, "k"); len(on) > 0 {
				t.Errorf("shared %v: the attempt is still on %v", shared, on)
			}
		})
	}
}

// A copy of a release that arrives when somebody else holds the key frees
// nothing.
func TestLateCopyOfAReleaseFreesNobodyElse(t *testing.T) {
	for _, n := range []int{1, 3} {
		for _, shared := range []bool{false, true} {
			world.Run(t, n, func(t *testing.T, w *world.World) {
				a, links := w.Client(full)
				b, _ := w.Client(full)
				c, _ := w.Client(full)
				acquire := world.Lock.Acquire
				if shared {
					acquire = world.Lock.AcquireShared
				}
				first, err := acquire(a, t.Context(), "k", 8*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Millisecond) // until every node has been asked
				for _, link := range links {
					link.Up.Delay(2 * time.Second)
				}
				done := make(chan error, 1)
				go func() { done <- first.Release(t.Context()) }()
				time.Sleep(20 * time.Millisecond)
				for _, link := range links {
					link.Up.Delay(0) // of what is sent from now on
					link.Cut()
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				second := w.Take(b, "k", 8*time.Second)
				time.Sleep(3 * time.Second) // the copies have arrived
				if _, err := c.Acquire(t.Context(), "k", time.Second); !errors.Is(err, lockimpl.ErrHeld) {
					t.Errorf("%d nodes, shared %v: %v, want ErrHeld", n, shared, err)
				}
				w.Release(second)
			})
		}
	}
}

// What is left of an attempt that was granted by some nodes, and whose release
// is lost, is gone after one TTL.
func TestPartialGrantsEndWithinOneTTL(t *testing.T) {
	for _, shared := range []bool{false, true} {
		withAndWithoutHints(t, 5, func(t *testing.T, w *world.World, f lockimpl.Factory) {
			a, links := w.Client(f)
			b, _ := w.Client(f)
			warm(t, a)
			acquire := world.Lock.Acquire
			if shared {
				acquire = world.Lock.AcquireShared
			}
			began := time.Now()
			for _, link := range links {
				link.Down.Drop()
			}
			if _, err := acquire(a, t.Context(), "k", 4*time.Second); err == nil {
				t.Fatal("granted without an answer")
			}
			for _, link := range links {
				link.Up.Drop() // and the releases are lost as well
				link.Refuse(true)
				link.Cut()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			lease, err := b.AcquireWait(ctx, "k", time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 4500*time.Millisecond {
				t.Errorf("shared %v: free after %v, the lease was one of 4s", shared, took)
			}
			w.Release(lease)
		})
	}
}

// Clients whose clocks differ by up to two seconds, as their proposals tell, and
// one whose clock is absurd: none takes a key early, and tokens stay in order.
func TestClientsWhoseClocksDiffer(t *testing.T) {
	for _, n := range []int{1, 5} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			ahead := []time.Duration{0, 600 * time.Millisecond, 1900 * time.Millisecond, time.Hour}
			var clients []world.Lock
			for range ahead {
				l, _ := w.Client(full)
				clients = append(clients, l)
			}
			var last uint64
			for round := range 12 {
				for i, l := range clients {
					redlock.Propose(l, time.Now().Add(ahead[i]))
				}
				l := clients[round*3%4]
				lease := w.Take(l, "k", 5*time.Second)
				if lease.Fence() <= last {
					t.Errorf("%d nodes, round %d: token %d after %d", n, round, lease.Fence(), last)
				}
				last = lease.Fence()
				for i, other := range clients {
					if _, err := other.Acquire(t.Context(), "k", 5*time.Second); !errors.Is(err, lockimpl.ErrHeld) {
						t.Errorf("%d nodes, round %d: client %d beside the holder: %v, want ErrHeld", n, round, i, err)
					}
				}
				if round%3 == 0 {
					time.Sleep(6 * time.Second) // it is left to end by itself
					continue
				}
				w.Release(lease)
			}
		})
	}
}

// waysToAsk are the ways to ask for k, for a second, by name.
func waysToAsk(l world.Lock) map[string]func(ctx context.Context) (lockimpl.Lease, error) {
	return map[string]func(ctx context.Context) (lockimpl.Lease, error){
		"acquire": func(ctx context.Context) (lockimpl.Lease, error) { return l.Acquire(ctx, "k", time.Second) },
		"wait":    func(ctx context.Context) (lockimpl.Lease, error) { return l.AcquireWait(ctx, "k", time.Second) },
		"fair":    func(ctx context.Context) (lockimpl.Lease, error) { return l.AcquireFair(ctx, "k", time.Second) },
		"shared":  func(ctx context.Context) (lockimpl.Lease, error) { return l.AcquireSharedWait(ctx, "k", time.Second) },
	}
}

// Of many waits that end in an outage none says that somebody holds the key,
// and all say what went wrong.
func TestOutageIsNotARefusal(t *testing.T) {
	for _, n := range []int{1, 3, 5} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			l, links := w.Client(full)
			var dead atomic.Int64
			for _, link := range links[:n/2+1] {
				link.Refuse(true)
				dead.Add(1)
			}
			for name, acquire := range waysToAsk(l) {
				ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
				_, err := acquire(ctx)
				cancel()
				var dial *net.OpError
				if errors.Is(err, lockimpl.ErrHeld) || !errors.Is(err, lockimpl.ErrNoQuorum) || !errors.As(err, &dial) {
					t.Errorf("%s, %d of %d nodes down: %v, want ErrNoQuorum with the dial's error", name, dead.Load(), n, err)
				}
			}
			if n > 1 { // a quorum answers, and somebody holds the key
				links[0].Refuse(false)
				time.Sleep(300 * time.Millisecond) // longer than what is known of a node that was gone is told
				other, _ := w.Client(full)
				w.Take(other, "k", 9*time.Second)
				if _, err := l.Acquire(t.Context(), "k", time.Second); !errors.Is(err, lockimpl.ErrHeld) {
					t.Errorf("a minority of %d nodes is down, and the key is held: %v, want ErrHeld", n, err)
				}
			}
		})
	}
}

// A node that has not answered yet is not one that would have granted.
func TestSilentNodeIsNoVoteForARefusal(t *testing.T) {
	const slow = 100 * time.Millisecond
	for _, silent := range []bool{true, false} {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			l, links := w.Client(full)
			other, _ := w.Client(full)
			warm(t, l)
			w.Take(other, "k", 9*time.Second)
			time.Sleep(50 * time.Millisecond) // until every node has it
			links[1].Refuse(true)
			links[1].Lose()
			if links[2].Up.Hold(); !silent {
				go func() {
					time.Sleep(slow)
					links[2].Up.Free()
				}()
			}
			for name, acquire := range waysToAsk(l) {
				ctx, cancel := context.WithTimeout(t.Context(), 1200*time.Millisecond)
				_, err := acquire(ctx)
				cancel()
				if errors.Is(err, lockimpl.ErrHeld) == silent {
					t.Errorf("%s: one node has the key, one is down, and one is silent %v: %v", name, silent, err)
				}
			}
		})
	}
}

// Neither is it a refusal where one node says that somebody holds the key, and of the others nothing
// is known when the context ends.
func TestSilenceBesideAHolderIsNotARefusal(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		other, _ := w.Client(full)
		w.Take(other, "k", 9*time.Second)
		l, links := w.Client(full)
		for _, link := range links[1:] {
			link.Up.Drop()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := l.Acquire(ctx, "k", time.Second); errors.Is(err, lockimpl.ErrHeld) || !errors.Is(err, lockimpl.ErrNoQuorum) {
			t.Errorf("two of three nodes are silent: %v, want ErrNoQuorum", err)
		}
	})
}

func TestAllKeysAreWaitedForLongerThanTheTTL(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		var grants atomic.Int64
		a, _ := w.Client(full)
		b, _ := w.Client(redlock.NewFactory(redlock.Config{Observer: observerFunc(func(e redlock.Event) {
			if e.Op == redlock.OpAcquire && e.Key == "x" {
				grants.Add(1)
			}
		})}))
		held := w.Take(a, "y", time.Second)
		held.(lockimpl.Renewer).Renew(nil)
		go func() {
			time.Sleep(6 * time.Second)
			_ = held.Release(context.Background())
		}()
		leases, err := b.AcquireAllWait(t.Context(), []string{"y", "x"}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for _, lease := range leases {
			if left := time.Until(lease.ValidUntil()); left < 500*time.Millisecond {
				t.Errorf("%v left of a lease of 1s", left)
			}
			w.Release(lease)
		}
		if n := grants.Load(); n != 1 {
			t.Errorf("x was taken %d times, want once", n)
		}
	})
}

// Waiters of clients with different patience take turns.
func TestPatienceMayDifferBetweenClients(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var grants [2]atomic.Int64
		done := make(chan struct{}, 4)
		for i := range 4 {
			l, _ := w.Client(redlock.NewFactory(redlock.Config{Patience: []time.Duration{50 * time.Millisecond, 5 * time.Second}[i%2]}))
			go func() {
				defer func() { done <- struct{}{} }()
				for ctx.Err() == nil {
					lease, err := l.AcquireFair(ctx, "k", time.Second)
					if err != nil {
						continue
					}
					grants[i%2].Add(1)
					time.Sleep(20 * time.Millisecond)
					_ = lease.Release(context.Background())
				}
			}()
		}
		for range 4 {
			<-done
		}
		few, many := grants[0].Load(), grants[1].Load()
		if few > many {
			few, many = many, few
		}
		if few < many/2 || many < 100 {
			t.Errorf("grants %d and %d", grants[0].Load(), grants[1].Load())
		}
	})
}

// A caller that runs its own pipeline waits for a silent server no longer than one that
// has it run: NodeTimeout bounds an attempt as a whole, and the wait for a release.
func TestSilentServerCostsACallerOneNodeTimeout(t *testing.T) {
	const timeout = 500 * time.Millisecond // of full
	for _, ask := range []string{"acquire", "release"} {
		world.Run(t, 1, func(t *testing.T, w *world.World) {
			l, links := w.Client(func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
				dial := nodes[0].Dial
				nodes[0].Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
					c, err := dial(ctx, network, addr)
					return deaf{c}, err
				}
				return full(nodes)
			})
			warm(t, l)
			lease := take(t, l, "k", 9*time.Second) // so that a caller runs its own pipeline
			links[0].Up.Hold()
			began := time.Now()
			var err error
			if ask == "release" {
				err = lease.Release(context.Background())
			} else {
				_, err = l.Acquire(context.Background(), "other", 9*time.Second)
			}
			if took := time.Since(began); err == nil || took > timeout {
				t.Errorf("%s of a silent server: %v after %v", ask, err, took)
			}
		})
	}
}

package redlock_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// closedWays are the ways to ask for key, and for others with it.
var closedWays = map[string]func(ctx context.Context, l *redlock.Locker, key string) error{
	"as": func(ctx context.Context, l *redlock.Locker, key string) error {
		_, err := l.AcquireAs(ctx, "me", key, 8*time.Second)
		return err
	},
	"all": func(ctx context.Context, l *redlock.Locker, key string) error {
		_, err := l.AcquireAllWait(ctx, []string{key, key + "-b"}, 8*time.Second)
		return err
	},
	"acquire": func(ctx context.Context, l *redlock.Locker, key string) error {
		_, err := l.Acquire(ctx, key, 8*time.Second)
		return err
	},
	"wait": func(ctx context.Context, l *redlock.Locker, key string) error {
		_, err := l.AcquireWait(ctx, key, 8*time.Second)
		return err
	},
	"fair": func(ctx context.Context, l *redlock.Locker, key string) error {
		_, err := l.AcquireFair(ctx, key, 8*time.Second)
		return err
	},
	"shared": func(ctx context.Context, l *redlock.Locker, key string) error {
		_, err := l.AcquireShared(ctx, key, 8*time.Second)
		return err
	},
}

// The moments at which something comes beside an acquire: a message takes twice as long,
// so that each one comes as a message arrives, or between two.
const (
	momentsApart = 1500 * time.Microsecond
	moments      = 14
)

// Close comes at every moment of an acquire: of one that is granted, and of one that gets a
// part of the nodes. Nothing is left of it, and nobody is given a lease that cannot be
// given back.
func TestCloseBesideAnAcquireLeavesNoKey(t *testing.T) {
	for _, n := range []int{1, 3} {
		for name, ask := range closedWays {
			t.Run(fmt.Sprintf("%d/%s", n, name), func(t *testing.T) {
				world.Run(t, n, func(t *testing.T, w *world.World) {
					holder, _ := w.Client(full)
					for at := range moments {
						closeBeside(t, w, holder, ask, time.Duration(at)*momentsApart)
					}
				})
			})
		}
	}
}

// closeBeside closes a lock so long after the beginning of an acquire:
// at the very moment, or when everything that has happened has been taken in.
func closeBeside(t *testing.T, w *world.World, holder world.Lock, ask func(context.Context, *redlock.Locker, string) error, at time.Duration) {
	for _, settled := range []bool{false, true} {
		for _, partly := range []bool{false, true} {
			key := fmt.Sprint("k", at, settled, partly)
			var theirs []int
			if partly && w.Size() > 1 {
				w.Take(holder, key, 9*time.Second)
				w.Forward(1, 10*time.Second)
				theirs = w.LeaseKeys(holder, key)
			}
			locked, links := w.Client(full)
			l := locked.(*redlock.Locker)
			for _, link := range links {
				link.Up.Delay(2 * momentsApart)
				link.Down.Delay(2 * momentsApart)
			}
			done := make(chan error, 1)
			go func() { done <- ask(t.Context(), l, key) }()
			time.Sleep(at)
			if settled {
				synctest.Wait()
			}
			before := len(done) > 0
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			err := <-done
			synctest.Wait()
			if on := w.LeaseKeys(l, key); err != nil && !slices.Equal(on, theirs) {
				t.Fatalf("closed after %v, settled %v, partly held %v: keys left on servers %v, other's are on %v (%v)", at, settled, partly, on, theirs, err)
			}
			if err == nil && settled && !before {
				t.Fatalf("closed after %v: granted by a closed lock", at)
			}
			if on := w.LeaseKeys(l, key+"-b"); err != nil && len(on) > 0 {
				t.Fatalf("closed after %v: keys left of the second on servers %v", at, on)
			}
		}
	}
}

// A context ends at every moment of an acquire: nothing is left of one that was not granted.
func TestContextThatEndsAtAnyMomentLeavesNoKey(t *testing.T) {
	for _, n := range []int{1, 3} {
		for name, ask := range closedWays {
			t.Run(fmt.Sprintf("%d/%s", n, name), func(t *testing.T) {
				world.Run(t, n, func(t *testing.T, w *world.World) {
					for at := range moments {
						locked, links := w.Client(full)
						l := locked.(*redlock.Locker)
						for _, link := range links {
							link.Up.Delay(2 * momentsApart)
							link.Down.Delay(2 * momentsApart)
						}
						key := fmt.Sprint("k", at)
						ctx, cancel := context.WithCancel(t.Context())
						time.AfterFunc(time.Duration(at)*momentsApart, cancel)
						err := ask(ctx, l, key)
						time.Sleep(100 * time.Millisecond)
						on := append(w.LeaseKeys(l, key), w.LeaseKeys(l, key+"-b")...)
						if err != nil && len(on) > 0 || errors.Is(err, redlock.ErrHeld) {
							t.Fatalf("ended after %v: keys left on servers %v (%v)", time.Duration(at)*momentsApart, on, err)
						}
					}
				})
			})
		}
	}
}

// Close ends every wait, wherever it stands, and leaves no place in a queue.
func TestCloseEndsEveryWait(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			l, _ := api(w, redlock.Config{Patience: 5 * time.Second})
			other, _ := api(w, redlock.Config{})
			held := get(t, other, "k", 9*time.Second)
			held.Renew(t.Context())
			sem, err := l.Semaphore("pool", 1)
			if err != nil {
				t.Fatal(err)
			}
			get(t, other, "pool#0", 9*time.Second)
			own, err := l.AcquireWait(t.Context(), "own", 9*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			waits := []func() error{
				func() error { _, err := l.AcquireWait(t.Context(), "k", time.Second); return err },
				func() error { _, err := l.AcquireWait(t.Context(), "k", time.Second); return err }, // behind the first
				func() error { _, err := l.AcquireWait(t.Context(), "own", time.Second); return err },
				func() error { _, err := l.AcquireFair(t.Context(), "k", time.Second); return err },
				func() error { _, err := l.AcquireSharedWait(t.Context(), "k", time.Second); return err },
				func() error { _, err := l.AcquireAllWait(t.Context(), []string{"a", "k"}, time.Second); return err },
				func() error { _, err := sem.AcquireWait(t.Context()); return err },
				func() error { return l.Do(t.Context(), "k", func(context.Context, uint64) error { return nil }) },
			}
			done := make(chan error, len(waits))
			for _, wait := range waits {
				go func() { done <- wait() }()
			}
			time.Sleep(400 * time.Millisecond)
			began := time.Now()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			in, err := other.Inspect(t.Context(), "k")
			if err != nil || in.Waiting != 0 {
				t.Errorf("%d wait after Close (%v)", in.Waiting, err)
			}
			for range waits {
				if err := <-done; !errors.Is(err, redlock.ErrClosed) {
					t.Errorf("%d nodes: %v, want ErrClosed", n, err)
				}
			}
			if took := time.Since(began); took > 100*time.Millisecond {
				t.Errorf("%d nodes: the waits ended after %v", n, took)
			}
			if err := own.Err(); err != nil {
				t.Errorf("a lease of a closed lock: %v, and it has not run out", err)
			}
		})
	}
}

// A release that a node refuses is not sent again once the lock is closed, however long the node
// may have to be told: Close does not wait for that.
func TestCloseGivesUpWhatANodeRefuses(t *testing.T) {
	for _, inDoubt := range []bool{false, true} {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			l, links := w.Client(full)
			allAsked(links)
			warm(t, l)
			if inDoubt {
				links[0].Up.Hold()
			}
			lease := take(t, l, "k", time.Second)
			time.Sleep(50 * time.Millisecond) // until every node has been asked
			links[0].Refuse(true)
			links[0].Cut()
			if err := lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * time.Second) // the lease would have ended
			began := time.Now()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 600*time.Millisecond {
				t.Errorf("in doubt %v: Close took %v", inDoubt, took)
			}
		})
	}
}

// A dial that does not heed its context, as go-redis' own over TLS, holds nobody up.
func TestCloseDoesNotWaitForADial(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	release := make(chan struct{})
	open.Go(func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			defer c.Close()
		}
	})
	t.Cleanup(func() {
		close(release)
		_ = silent.Close()
		open.Wait()
	})
	stubborn := func(context.Context, string, string) (net.Conn, error) {
		<-release
		return nil, errors.New("released")
	}
	cfg := redlock.Config{NodeTimeout: 200 * time.Millisecond}
	for name, lockOver := range map[string]func() (*redlock.Lock, error){
		"a client over TLS": func() (*redlock.Lock, error) {
			c := redis.NewClient(&redis.Options{Addr: silent.Addr().String(), TLSConfig: &tls.Config{InsecureSkipVerify: true}, DialTimeout: 5 * time.Minute})
			t.Cleanup(func() { _ = c.Close() })
			return redlock.New(cfg, c)
		},
		"a client with a dialer": func() (*redlock.Lock, error) {
			c := redis.NewClient(&redis.Options{Addr: "nowhere:1", Dialer: stubborn, DialTimeout: 5 * time.Minute})
			t.Cleanup(func() { _ = c.Close() })
			return redlock.New(cfg, c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := lockOver()
			if err != nil {
				t.Fatal(err)
			}
			err = within(t, 300*time.Millisecond, func(ctx context.Context) error { _, err := l.AcquireWait(ctx, "k", time.Second); return err })
			if err == nil || errors.Is(err, redlock.ErrHeld) {
				t.Errorf("acquire: %v", err)
			}
			began := time.Now()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("Close took %v", took)
			}
		})
	}
}

// A session gives back more leases than the queue of a node holds.
func TestSessionOfMoreLeasesThanAQueueHolds(t *testing.T) {
	const leases = 1<<14 + 1000
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{TTL: 9 * time.Second})
		s, err := l.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		for i := range leases {
			if _, err := s.Acquire(t.Context(), fmt.Sprint("k", i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("%.200v", err)
		}
		for i := range leases {
			if on := w.LeaseKeys(&redlock.Locker{Lock: l}, fmt.Sprint("k", i)); len(on) > 0 {
				t.Fatalf("k%d is left on %v", i, on)
			}
		}
	})
}

// What a node that is gone may still execute is undone when it comes back. Until then it is
// dialled four times in the time of a lease, and ever more rarely, and Close waits for no pause between two.
func TestUndoOfWhatANodeMayStillExecuteCostsLittle(t *testing.T) {
	const ttl = 8 * time.Second
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links, by := withTraffic(w, full)
		dials := &by.dials[0]
		allAsked(links)
		warm(t, l)
		links[0].Up.Hold()
		lease := take(t, l, "k", ttl)
		time.Sleep(50 * time.Millisecond) // until every node has been asked
		w.Release(lease)
		time.Sleep(time.Second)
		links[0].Refuse(true)
		links[0].Lose()
		time.Sleep(2 * ttl) // it has ended
		before := dials.Load()
		time.Sleep(10 * ttl)
		if n := dials.Load() - before; n == 0 || n > 4*10+1 {
			t.Errorf("%d dials in %v", n, 10*ttl)
		}
		time.Sleep(time.Hour)
		before = dials.Load()
		time.Sleep(10 * ttl)
		if n := dials.Load() - before; n == 0 || n > 9 {
			t.Errorf("%d dials in %v after an hour", n, 10*ttl)
		}
		time.Sleep(ttl / 8)
		began := time.Now()
		if err := l.(*redlock.Locker).Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("Close took %v beside a node that refuses connections", took)
		}
	})
}

// However long a node was out of reach: what it executes then is undone as soon as this
// client hears it.
func TestLateAttemptIsUndoneOnceItsNodeIsHeard(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) { undoneOnceHeard(t, w, redlock.Config{}) })
}

// So it is by a server that does not say who it is.
func TestLateAttemptIsUndoneOnceItsAnonymousNodeIsHeard(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		w.Deny("INFO")
		undoneOnceHeard(t, w, redlock.Config{AnonymousServers: true})
	})
}

func undoneOnceHeard(t *testing.T, w *world.World, cfg redlock.Config) {
	const ttl = 9 * time.Second
	l, links := w.Client(redlock.NewFactory(cfg))
	allAsked(links)
	if cfg.AnonymousServers {
		first, err := l.AcquireWait(t.Context(), "first", ttl) // behind the quarantine of those who were admitted by name
		if err != nil {
			t.Fatal(err)
		}
		w.Release(first)
		time.Sleep(2 * ttl) // until all are admitted
	}
	warm(t, l)
	links[0].Up.Hold()
	lease := take(t, l, "k", ttl)
	time.Sleep(50 * time.Millisecond) // until every node has been asked
	w.Release(lease)
	time.Sleep(10*time.Minute + 3*time.Second)
	links[0].Up.Free()
	time.Sleep(50 * time.Millisecond)
	lease = take(t, l, "other", ttl)
	time.Sleep(50 * time.Millisecond) // until every node has been asked
	if on := w.LeaseKeys(l, "k"); len(on) > 0 {
		t.Errorf("the attempt is still on %v", on)
	}
	w.Release(lease)
}

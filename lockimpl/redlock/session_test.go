package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// crowd is so many leases of a session that a pass over them takes several
// pipelines.
const crowd = 600

// fill has a new session of l take so many keys.
func fill(t *testing.T, l *redlock.Lock) (*redlock.Session, []*redlock.Lease) {
	t.Helper()
	s, err := l.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	leases := make([]*redlock.Lease, crowd)
	for i := range leases {
		if leases[i], err = s.Acquire(t.Context(), fmt.Sprintf("k%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	return s, leases
}

// allValid fails the test when any of leases was lost.
func allValid(t *testing.T, leases []*redlock.Lease, when string) {
	t.Helper()
	lost := 0
	var why error
	for _, got := range leases {
		if err := got.Err(); err != nil {
			lost++
			why = err
		}
	}
	if lost > 0 {
		t.Fatalf("%s: %d of %d leases were lost: %v", when, lost, len(leases), why)
	}
}

// Pipelines that take so long that a pass over all leases takes more than a
// third of the TTL.
func TestSessionOutlivesPassesThatAreLongerThanItsPause(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{TTL: 2 * time.Second})
		s, leases := fill(t, l)
		links[0].Down.Delay(300 * time.Millisecond) // two pipelines or more: at least 0.6 s of 2 s
		for at := range 6 {
			time.Sleep(time.Second)
			allValid(t, leases, fmt.Sprintf("after %d s", at+1))
		}
		links[0].Down.Delay(0)
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// A server that is silent for longer than NodeTimeout, whenever it begins:
// what was not renewed then is renewed in time afterwards.
func TestSessionOutlivesASilenceLongerThanNodeTimeout(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{TTL: 2 * time.Second, NodeTimeout: 200 * time.Millisecond})
		s, leases := fill(t, l)
		for at := range 3 {
			time.Sleep(2*time.Second + time.Duration(at)*230*time.Millisecond)
			for _, link := range links {
				link.Up.Drop()
			}
			time.Sleep(600 * time.Millisecond)
			for _, link := range links {
				link.Up.Free()
			}
			time.Sleep(time.Second)
			allValid(t, leases, fmt.Sprintf("silence %d", at+1))
		}
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// slowly lets every byte that is read from a connection take its time.
type slowly struct {
	net.Conn
	perByte *atomic.Int64 // nanoseconds
}

func (c slowly) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	time.Sleep(time.Duration(n) * time.Duration(c.perByte.Load()))
	return n, err
}

// A machine, or a line, so slow that a full pipeline does not come back within
// NodeTimeout: smaller ones do.
func TestSessionRenewsInSmallerPipelinesWhereLargeOnesTakeTooLong(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		var perByte atomic.Int64
		factory := func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
			dial := nodes[0].Dial
			nodes[0].Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := dial(ctx, network, addr)
				if err != nil {
					return nil, err
				}
				return slowly{c, &perByte}, nil
			}
			return redlock.NewLocker(nodes, redlock.Config{TTL: 8 * time.Second, NodeTimeout: 300 * time.Millisecond})
		}
		got, _ := w.Client(factory)
		s, leases := fill(t, got.(*redlock.Locker).Lock)
		perByte.Store(int64(250 * time.Microsecond)) // a renewal is answered in 4 bytes: 512 take half a second
		for at := range 3 {
			time.Sleep(3 * time.Second)
			allValid(t, leases, fmt.Sprintf("after %d s", 3*at+3))
		}
		perByte.Store(0)
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// A lease that too few nodes still know is dropped by its session, and given back when
// it would have ended: also what a slow node is granted after that.
func TestSessionGivesBackWhatNodesLost(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{TTL: 2 * time.Second, NodeTimeout: 5 * time.Second})
		allAsked(links)
		warm, err := l.Acquire(t.Context(), "k", time.Second)
		if err == nil {
			err = warm.Release(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		links[2].Up.Hold()
		s, err := l.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Acquire(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		until := got.ValidUntil()
		time.Sleep(100 * time.Millisecond) // the third node is asked
		w.Forget(1)
		w.Forget(2)
		<-got.Lost()
		time.Sleep(400 * time.Millisecond)
		links[2].Up.Free()
		time.Sleep(time.Until(until) + 100*time.Millisecond)
		if in, _ := l.Inspect(t.Context(), "k"); len(in.Holders) > 0 {
			t.Errorf("left of the lease: %v", in.Holders)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// extensions counts them.
type extensions struct{ atomic.Int64 }

// Observe implements redlock.Observer.
func (n *extensions) Observe(_ context.Context, e redlock.Event) {
	if e.Op == redlock.OpExtend {
		n.Add(1)
	}
}

// A lease that its holder extends at the moment when it is due has one round at a
// time, and is renewed no more often than it takes.
func TestSessionBesideAnExtensionByTheHolder(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		var renewals extensions
		l, links := api(w, redlock.Config{TTL: 2 * time.Second, Observer: &renewals})
		s, err := l.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Acquire(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(600 * time.Millisecond)
		links[0].Down.Delay(300 * time.Millisecond)
		if err := got.Extend(t.Context(), 2*time.Second); err != nil {
			t.Error(err)
		}
		links[0].Down.Delay(0)
		renewals.Store(0)
		time.Sleep(20 * time.Second)
		if n := renewals.Load(); n < 25 || n > 40 {
			t.Errorf("%d renewals in 20 s of a lease of 2 s, want one every 0.67 s", n)
		}
		if err := errors.Join(got.Err(), s.Close(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// A lease that is the only one of its session is renewed, though the session had nothing to
// do before and slept for longer than the lease lasts.
func TestSessionRenewsALeaseThatIsTakenWhileItSleeps(t *testing.T) {
	const ttl = 3 * time.Second
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{TTL: ttl})
		s, err := l.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond) // it sleeps
		got, err := s.Acquire(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * ttl)
		if err := got.Err(); err != nil {
			t.Error(err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// What was acquired one by one is renewed together: one pipeline carries all that are due soon,
// behind one check of who the server is.
func TestSessionRenewsTogetherWhatIsDueSoon(t *testing.T) {
	const leases, ttl, rounds = 20, 6 * time.Second, 3 // due within a twelfth of the TTL
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		sent := &hook{names: map[string]int{}}
		raw, _ := w.Client(func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
			c := redis.NewClient(&redis.Options{Dialer: nodes[0].Dial, Protocol: 2, DisableIdentity: true,
				MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
			c.AddHook(sent)
			t.Cleanup(func() { _ = c.Close() })
			l, err := redlock.New(redlock.Config{TTL: ttl}, c)
			return &redlock.Locker{Lock: l}, err
		})
		s, err := raw.(*redlock.Locker).NewSession()
		if err != nil {
			t.Fatal(err)
		}
		for i := range leases {
			if _, err := s.Acquire(t.Context(), fmt.Sprint("k", i)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(ttl / 24 / leases)
		}
		sent.mu.Lock()
		clear(sent.names)
		sent.mu.Unlock()
		time.Sleep(rounds*ttl/3 + ttl/24)
		sent.mu.Lock()
		if got := sent.names["evalsha"]; got != rounds*leases {
			t.Errorf("%d renewals of %d leases, want %d rounds", got, leases, rounds)
		}
		if got := sent.names["info"]; got != rounds {
			t.Errorf("%d pipelines, want %d: one a round", got, rounds)
		}
		sent.mu.Unlock()
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// What a session is granted when it has been closed meanwhile is given back, and a closed
// session grants nothing: nobody would renew it.
func TestClosedSessionGrantsNothing(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{TTL: 9 * time.Second})
		s, err := l.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			link.Down.Delay(100 * time.Millisecond)
		}
		done := make(chan error, 1)
		go func() {
			_, err := s.Acquire(t.Context(), "k")
			done <- err
		}()
		time.Sleep(50 * time.Millisecond)
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, redlock.ErrClosed) {
			t.Errorf("closed while the key was asked for: %v, want ErrClosed", err)
		}
		if _, err := s.Acquire(t.Context(), "k2"); !errors.Is(err, redlock.ErrClosed) {
			t.Errorf("closed before: %v, want ErrClosed", err)
		}
		time.Sleep(time.Second)
		for _, key := range []string{"k", "k2"} {
			if on := w.LeaseKeys(&redlock.Locker{Lock: l}, key); len(on) > 0 {
				t.Errorf("%s is left on %v", key, on)
			}
		}
	})
}

// What nodes that still know a lost lease of a session have of it keeps others out until the
// deadline that its holder was told, as it does without a session.
func TestSessionKeepsWhatIsLostUntilItsDeadline(t *testing.T) {
	world.Run(t, 5, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{TTL: 6 * time.Second})
		s, err := l.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links[3:] {
			link.Refuse(true)
		}
		got, err := s.Acquire(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		until := got.ValidUntil()
		time.Sleep(50 * time.Millisecond)
		w.Forget(1)
		for _, link := range links[3:] {
			link.Refuse(false)
		}
		<-got.Lost()
		if time.Until(until) < time.Second {
			t.Fatalf("lost %v before its deadline", time.Until(until))
		}
		other, _ := api(w, redlock.Config{})
		next, err := other.AcquireWait(t.Context(), "k", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if time.Now().Before(until) {
			t.Errorf("granted %v before the deadline", time.Until(until))
		}
		if err := errors.Join(next.Release(t.Context()), s.Close(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// A session that is closed ends the waits of its own, and those alone, and leaves nobody in a queue.
func TestClosedSessionEndsItsWaits(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			other, _ := api(w, redlock.Config{})
			l, _ := api(w, redlock.Config{})
			held := get(t, other, "k", 9*time.Second)
			held.Renew(t.Context())
			s, err := l.NewSession()
			if err != nil {
				t.Fatal(err)
			}
			ended, later := make(chan error, 2), make(chan error, 1)
			for range 2 { // one contends, one stands behind it
				go func() {
					_, err := s.AcquireWait(t.Context(), "k")
					ended <- err
				}()
			}
			go func() {
				got, err := l.AcquireWait(t.Context(), "k", time.Second)
				if err == nil {
					err = got.Release(t.Context())
				}
				later <- err
			}()
			time.Sleep(time.Second)
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
			for range 2 {
				select {
				case err := <-ended:
					if !errors.Is(err, redlock.ErrClosed) {
						t.Errorf("%d nodes: %v, want ErrClosed", n, err)
					}
				default:
					t.Errorf("%d nodes: waits a second after its session was closed", n)
				}
			}
			if in, err := other.Inspect(t.Context(), "k"); err != nil || in.Waiting != 1 {
				t.Errorf("%d nodes: %d wait on the nodes, want the one who is not of the session: %v", n, in.Waiting, err)
			}
			if err := held.Release(t.Context()); err != nil {
				t.Error(err)
			}
			if err := <-later; err != nil {
				t.Errorf("%d nodes: who is not of the session: %v", n, err)
			}
		})
	}
}

// A wait that is granted the key as its session is closed gives it back.
func TestGrantToASessionThatIsClosedIsGivenBack(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			var s *redlock.Session
			l, _ := api(w, redlock.Config{Observer: observerFunc(func(e redlock.Event) {
				if e.Op == redlock.OpAcquire && e.Key == "k" && e.Err == nil {
					if err := s.Close(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})})
			connect(t, l)
			var err error
			if s, err = l.NewSession(); err != nil {
				t.Fatal(err)
			}
			if got, err := s.AcquireWait(t.Context(), "k"); !errors.Is(err, redlock.ErrClosed) || got != nil {
				t.Errorf("%d nodes: %v, want ErrClosed", n, err)
			}
			time.Sleep(50 * time.Millisecond)
			if on := w.LeaseKeys(&redlock.Locker{Lock: l}, "k"); len(on) > 0 {
				t.Errorf("%d nodes: the lease is still on %v", n, on)
			}
		})
	}
}

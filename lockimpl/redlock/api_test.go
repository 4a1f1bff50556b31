package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl/internal/memnet"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// api returns a client of the world's servers as those who adopt the lock see it.
func api(w *world.World, cfg redlock.Config) (*redlock.Lock, []*memnet.Link) {
	l, links := w.Client(redlock.NewFactory(cfg))
	return l.(*redlock.Locker).Lock, links
}

// get acquires key or fails the test.
func get(t *testing.T, l *redlock.Lock, key string, ttl time.Duration) *redlock.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), key, ttl)
	if err != nil {
		t.Fatalf("acquire %s: %v", key, err)
	}
	return lease
}

func TestContextOfALeaseEndsWithItAndSaysWhy(t *testing.T) {
	type key struct{}
	for name, c := range map[string]struct {
		end  func(t *testing.T, lease *redlock.Lease, links []*memnet.Link)
		want error
		says string
	}{
		"released": {
			func(t *testing.T, lease *redlock.Lease, _ []*memnet.Link) {
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}, redlock.ErrReleased, "released",
		},
		"ran out":   {func(*testing.T, *redlock.Lease, []*memnet.Link) {}, redlock.ErrLost, "it ran out"},
		"suspended": {func(_ *testing.T, lease *redlock.Lease, _ []*memnet.Link) { redlock.SuspendLease(lease, time.Minute) }, redlock.ErrLost, "suspended"},
	} {
		t.Run(name, func(t *testing.T) {
			world.Run(t, 3, func(t *testing.T, w *world.World) {
				l, links := api(w, redlock.Config{})
				began := time.Now()
				ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "v"), time.Second)
				defer cancel()
				lease, err := l.Acquire(ctx, "k", 5*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				work := lease.Context()
				if work.Value(key{}) != "v" || lease.Key() != "k" || lease.TTL() != 5*time.Second {
					t.Errorf("value %v, key %s, ttl %v", work.Value(key{}), lease.Key(), lease.TTL())
				}
				time.Sleep(2 * time.Second)
				if work.Err() != nil || lease.Err() != nil {
					t.Fatalf("ended with the context of the acquire: %v, %v", context.Cause(work), lease.Err())
				}
				c.end(t, lease, links)
				<-work.Done()
				if cause := context.Cause(work); !errors.Is(cause, c.want) || !strings.Contains(cause.Error(), c.says) || lease.Err() != cause {
					t.Errorf("cause %v, error %v", cause, lease.Err())
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("told after %v", took)
				}
				if again := lease.Context(); context.Cause(again) != lease.Err() {
					t.Errorf("a context that was asked for later: %v", context.Cause(again))
				}
			})
		})
	}
}

func TestContextOfALeaseThatNodesForgotSaysSo(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{})
		lease := get(t, l, "k", 5*time.Second)
		work := lease.Context()
		for server := 1; server <= 3; server++ {
			w.Forget(server)
		}
		if err := lease.Extend(t.Context(), 5*time.Second); !errors.Is(err, redlock.ErrLost) {
			t.Fatalf("extended on nodes that forgot it: %v", err)
		}
		<-work.Done()
		if cause := context.Cause(work); !errors.Is(cause, redlock.ErrLost) || !strings.Contains(cause.Error(), "too many nodes") {
			t.Errorf("cause %v", cause)
		}
	})
}

func TestDoHoldsTheKeyForAsLongAsItTakes(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		a, _ := api(w, redlock.Config{TTL: time.Second})
		b, _ := api(w, redlock.Config{})
		var inside, outside uint64
		failed := errors.New("mine")
		err := a.Do(t.Context(), "k", func(ctx context.Context, fence uint64) error {
			time.Sleep(10 * time.Second)
			if inside = fence; ctx.Err() != nil {
				t.Errorf("ended: %v", context.Cause(ctx))
			}
			if _, err := b.Acquire(t.Context(), "k", time.Second); !errors.Is(err, redlock.ErrHeld) {
				t.Errorf("beside Do: %v", err)
			}
			return failed
		})
		if err != failed {
			t.Errorf("Do returned %v", err)
		}
		lease := get(t, b, "k", time.Second)
		if outside = lease.Fence(); outside <= inside {
			t.Errorf("token %d after %d", outside, inside)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = a.Do(t.Context(), "k", func(context.Context, uint64) error { panic("of the section") })
		}()
		synctest.Wait()
		get(t, b, "k", time.Second)
	})
}

func TestDoTellsWhenTheLeaseWasLost(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{TTL: time.Second})
		failed := errors.New("mine")
		err := l.Do(t.Context(), "k", func(ctx context.Context, _ uint64) error {
			for _, link := range links {
				link.Up.Drop()
			}
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, redlock.ErrLost) {
				t.Errorf("ended for %v", cause)
			}
			return failed
		})
		if !errors.Is(err, redlock.ErrLost) || !errors.Is(err, failed) {
			t.Errorf("Do returned %v", err)
		}
		for _, link := range links {
			link.Up.Free()
		}
		err = l.Do(t.Context(), "z", func(ctx context.Context, _ uint64) error {
			for _, link := range links {
				link.Up.Drop()
			}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if !errors.Is(err, redlock.ErrLost) || strings.Count(err.Error(), "lost") != 1 {
			t.Errorf("Do of a section that returns why its context ended returned %q", err)
		}
		for _, link := range links {
			link.Up.Free()
		}
	})
}

// The key is held for as long as fn takes, also when it takes long to heed the end of its context.
func TestDoHoldsTheKeyWhenItsContextHasEnded(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{TTL: 2 * time.Second})
		other, _ := api(w, redlock.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		err := l.Do(ctx, "k", func(context.Context, uint64) error {
			cancel()
			time.Sleep(7 * time.Second)
			if _, err := other.Acquire(t.Context(), "k", time.Second); !errors.Is(err, redlock.ErrHeld) {
				t.Errorf("beside fn: %v, want ErrHeld", err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A loss that nobody noticed while fn ran, and that the release finds, is told as well.
func TestDoTellsALossThatItsReleaseFinds(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			l, _ := api(w, redlock.Config{})
			failed := errors.New("of fn")
			for _, want := range []error{nil, failed} {
				err := l.Do(t.Context(), "k", func(ctx context.Context, _ uint64) error {
					synctest.Wait()
					for server := range n {
						w.Forget(server + 1)
					}
					if ctx.Err() != nil {
						t.Error("the loss was noticed before the release")
					}
					return want
				})
				if !errors.Is(err, redlock.ErrLost) || want != nil && !errors.Is(err, want) {
					t.Errorf("%d nodes: told %v, want ErrLost and %v", n, err, want)
				}
				time.Sleep(time.Minute) // the quarantine
			}
		})
	}
}

func TestDoEndsItsWaitWithTheContext(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		a, _ := api(w, redlock.Config{})
		b, _ := api(w, redlock.Config{})
		get(t, a, "k", 5*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := b.Do(ctx, "k", func(context.Context, uint64) error { t.Error("run beside another"); return nil })
		if !errors.Is(err, redlock.ErrHeld) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Do returned %v", err)
		}
	})
}

func TestRenewalEndsWithItsContextAndCanBeBegunAgain(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{})
		lease := get(t, l, "k", time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		lease.Renew(ctx)
		time.Sleep(5 * time.Second)
		cancel()
		synctest.Wait()
		lease.Renew(t.Context())
		time.Sleep(5 * time.Second)
		if err := lease.Err(); err != nil {
			t.Fatalf("a renewed lease: %v", err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		lease = get(t, l, "k", time.Second)
		ctx, cancel = context.WithCancel(t.Context())
		lease.Renew(ctx)
		time.Sleep(time.Second / 2)
		cancel()
		ended := time.Now()
		<-lease.Lost()
		if after := time.Since(ended); after > time.Second || !errors.Is(lease.Err(), redlock.ErrLost) {
			t.Errorf("lost after %v: %v", after, lease.Err())
		}
	})
}

// An outage is none of the refusals, whatever the way in.
func TestOutagesAreToldFromRefusals(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		a, _ := api(w, redlock.Config{})
		b, links := api(w, redlock.Config{})
		get(t, a, "k", 9*time.Second)
		ways := map[string]func(context.Context) error{
			"Acquire":       func(ctx context.Context) error { _, err := b.Acquire(ctx, "k", time.Second); return err },
			"AcquireWait":   func(ctx context.Context) error { _, err := b.AcquireWait(ctx, "k", time.Second); return err },
			"AcquireShared": func(ctx context.Context) error { _, err := b.AcquireShared(ctx, "k", time.Second); return err },
			"AcquireFair":   func(ctx context.Context) error { _, err := b.AcquireFair(ctx, "k", time.Second); return err },
			"AcquireAs":     func(ctx context.Context) error { _, err := b.AcquireAs(ctx, "o", "k", time.Second); return err },
			"AcquireAll": func(ctx context.Context) error {
				_, err := b.AcquireAll(ctx, []string{"k", "z"}, time.Second)
				return err
			},
			"Do": func(ctx context.Context) error {
				return b.Do(ctx, "k", func(context.Context, uint64) error { return nil })
			},
		}
		for name, way := range ways {
			ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
			if err := way(ctx); !errors.Is(err, redlock.ErrHeld) || errors.Is(err, redlock.ErrNoQuorum) || errors.Is(err, redlock.ErrUnknown) {
				t.Errorf("%s: held by another: %v", name, err)
			}
			cancel()
		}
		for _, link := range links {
			link.Refuse(true)
			link.Cut()
		}
		for name, way := range ways {
			ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
			if err := way(ctx); errors.Is(err, redlock.ErrHeld) || !errors.Is(err, redlock.ErrNoQuorum) && !errors.Is(err, redlock.ErrUnknown) {
				t.Errorf("%s: nobody answers: %v", name, err)
			}
			cancel()
		}
		for _, link := range links {
			link.Refuse(false)
		}
	})
}

func TestInspectNamesTheHolder(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		a, _ := api(w, redlock.Config{Name: "host-1/worker-7"})
		b, links := api(w, redlock.Config{Name: "host-2"})
		look := func() redlock.Inspection {
			t.Helper()
			in, err := b.Inspect(t.Context(), "k")
			if err != nil {
				t.Fatal(err)
			}
			return in
		}
		if in := look(); len(in.Holders) != 0 || in.Nodes != 3 {
			t.Errorf("a free key: %+v", in)
		}
		lease := get(t, a, "k", 5*time.Second)
		waits := make(chan error)
		go func() {
			got, err := b.AcquireWait(t.Context(), "k", time.Second)
			if err == nil {
				err = got.Release(t.Context())
			}
			waits <- err
		}()
		time.Sleep(time.Second)
		in := look()
		if h, ok := b.Held(in); !ok || h.Name != "host-1/worker-7" || h.Fence != lease.Fence() || h.Shared ||
			h.Left <= 3*time.Second || h.Left > 4100*time.Millisecond || in.Waiting != 1 {
			t.Errorf("held: %+v; token %d", in, lease.Fence())
		}
		if err := errors.Join(lease.Release(t.Context()), <-waits); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if _, err := a.AcquireShared(t.Context(), "k", 5*time.Second); err != nil {
			t.Fatal(err)
		}
		if h, ok := b.Held(look()); !ok || !h.Shared || h.Name != "host-1/worker-7" {
			t.Errorf("read: %+v", h)
		}
		for _, link := range links[:2] {
			link.Refuse(true)
			link.Cut()
		}
		if in, err := b.Inspect(t.Context(), "k"); !errors.Is(err, redlock.ErrNoQuorum) || in.Nodes != 1 {
			t.Errorf("with two of three away: %+v, %v", in, err)
		}
		for _, link := range links {
			link.Refuse(false)
		}
	})
}

func TestAdmissionIsToldAndCanBeForced(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{})
		states := func() (all []redlock.NodeState) {
			t.Helper()
			nodes, err := l.Admission(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range nodes {
				if n.Node != fmt.Sprintf("n%d", i+1) || (n.State == redlock.Unreachable) != (n.Err != nil) {
					t.Errorf("node %d: %+v", i+1, n)
				}
				all = append(all, n.State)
			}
			return all
		}
		lease := get(t, l, "k", 5*time.Second)
		highest := lease.Fence()
		w.Forget(1)
		links[2].Refuse(true)
		links[2].Cut()
		if got := states(); !slices.Equal(got, []redlock.NodeState{redlock.Quarantined, redlock.Admitted, redlock.Unreachable}) {
			t.Errorf("states %v", got)
		}
		if err := l.ForceAdmission(t.Context(), "n9"); !errors.Is(err, redlock.ErrUnknownNode) {
			t.Errorf("no such node: %v", err)
		}
		if err := l.ForceAdmission(t.Context(), "n1"); err != nil {
			t.Fatal(err)
		}
		if got := states(); got[0] != redlock.Admitted {
			t.Errorf("states %v", got)
		}
		next := get(t, l, "other", time.Second)
		if next.Fence() <= highest {
			t.Errorf("token %d after %d", next.Fence(), highest)
		}
		links[2].Refuse(false)
	})
}

// notes is an observer that keeps what it is told.
type notes struct {
	mu  sync.Mutex
	all []redlock.Event
}

func (n *notes) Observe(_ context.Context, e redlock.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, e)
}

func (n *notes) said() (all []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range n.all {
		what := "ok"
		switch {
		case errors.Is(e.Err, redlock.ErrHeld):
			what = "held"
		case errors.Is(e.Err, redlock.ErrLost):
			what = "lost"
		case e.Err != nil:
			what = e.Err.Error()
		}
		if e.Began.IsZero() || e.Ended.Before(e.Began) || e.Key == "" {
			what += fmt.Sprintf(" %+v", e)
		}
		all = append(all, string(e.Op)+" "+what)
	}
	return all
}

func TestObserverIsToldEverything(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		seen := &notes{}
		l, _ := api(w, redlock.Config{Observer: seen})
		other, _ := api(w, redlock.Config{})
		lease := get(t, l, "k", time.Second)
		lease.Renew(t.Context())
		time.Sleep(400 * time.Millisecond)
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		get(t, other, "k", time.Minute/10)
		if _, err := l.Acquire(t.Context(), "k", time.Second); err == nil {
			t.Fatal("granted beside another")
		}
		get(t, l, "z", time.Second)
		time.Sleep(2 * time.Second)
		want := []string{"acquire ok", "extend ok", "release ok", "acquire held", "acquire ok", "lost lost"}
		if got := seen.said(); !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

func TestSessionRenewsManyLeasesTogether(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{TTL: time.Second})
		other, _ := api(w, redlock.Config{})
		s, err := l.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		var leases []*redlock.Lease
		for i := range 20 {
			got, err := s.Acquire(t.Context(), fmt.Sprintf("k%d", i))
			if err != nil {
				t.Fatal(err)
			}
			leases = append(leases, got)
		}
		time.Sleep(10 * time.Second)
		for _, got := range leases {
			if err := got.Err(); err != nil {
				t.Fatalf("%s: %v", got.Key(), err)
			}
		}
		if err := leases[0].Release(t.Context()); err != nil {
			t.Error(err)
		}
		if n := len(s.Leases()); n != 19 {
			t.Errorf("%d leases after one was released", n)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Acquire(t.Context(), "k0"); !errors.Is(err, redlock.ErrClosed) {
			t.Errorf("acquire in a closed session: %v", err)
		}
		synctest.Wait()
		for i := range 20 {
			get(t, other, fmt.Sprintf("k%d", i), time.Second)
		}
	})
}

func TestBackoffOfTheCallersChoice(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		var asked []int
		l, links := api(w, redlock.Config{Backoff: func(tries int) time.Duration {
			asked = append(asked, tries)
			return 40 * time.Millisecond
		}})
		links[0].Refuse(true)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if _, err := l.AcquireWait(ctx, "k", time.Second); !errors.Is(err, redlock.ErrNoQuorum) {
			t.Errorf("nobody answers: %v", err)
		}
		if len(asked) < 5 || asked[0] != 1 || asked[4] != 5 {
			t.Errorf("asked for the pauses after %v tries", asked)
		}
		links[0].Refuse(false)
	})
}

// A release whose answer is lost with the connection is sent again, and finds
// the key gone: nobody can say that the lease had been lost.
func TestReleaseThatIsSentTwiceIsNoLoss(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{})
		cut := func() {
			time.Sleep(5 * time.Millisecond)
			links[0].Down.Free()
			links[0].Cut()
		}
		lease := get(t, l, "k", 5*time.Second)
		links[0].Down.Drop()
		go cut()
		if err := lease.Release(t.Context()); errors.Is(err, redlock.ErrLost) || err != nil && !errors.Is(err, redlock.ErrUnknown) {
			t.Errorf("released: %v", err)
		}
		err := l.Do(t.Context(), "k", func(context.Context, uint64) error {
			links[0].Down.Drop()
			go cut()
			return nil
		})
		if err != nil {
			t.Errorf("Do: %v", err)
		}
	})
}

func TestGivingUpSeveralKeysIsNoLoss(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		seen := &notes{}
		l, _ := api(w, redlock.Config{Observer: seen})
		other, _ := api(w, redlock.Config{})
		get(t, other, "z", 5*time.Second)
		if _, err := l.AcquireAll(t.Context(), []string{"a", "z"}, time.Second); !errors.Is(err, redlock.ErrHeld) {
			t.Errorf("one of two is held: %v", err)
		}
		synctest.Wait()
		if got := seen.said(); !slices.Equal(got, []string{"acquire ok", "acquire held"}) {
			t.Errorf("told %q", got)
		}
	})
}

// However often an owner is granted the key and gives a grant back, the lease keeps one context
// for all of them, which ends with it and carries the values of each acquire.
func TestContextsOfOneLeaseAreOne(t *testing.T) {
	type name struct{}
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{})
		outer, err := l.AcquireAs(t.Context(), "me", "k", 9*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var all []context.Context
		for i := range 100 {
			again, err := l.AcquireAs(context.WithValue(t.Context(), name{}, i), "me", "k", time.Second)
			if err != nil {
				t.Fatal(err)
			}
			child, cancel := context.WithCancel(again.Context())
			defer cancel()
			all = append(all, again.Context(), child)
			if got := child.Value(name{}); got != i {
				t.Errorf("grant %d: the context of its acquire says %v", i, got)
			}
			if err := again.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if again.Context().Err() != nil {
				t.Error("the context of a grant ended before the lease")
			}
		}
		if got := redlock.Contexts(outer); got != 1 {
			t.Errorf("%d contexts of one lease", got)
		}
		if err := outer.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for i, ctx := range all {
			if !errors.Is(context.Cause(ctx), redlock.ErrReleased) {
				t.Fatalf("context %d after the release: %v", i, context.Cause(ctx))
			}
		}
	})
}

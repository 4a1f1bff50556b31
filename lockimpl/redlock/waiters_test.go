package redlock_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/memnet"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// within calls ask with a context of so long.
func within(t *testing.T, d time.Duration, ask func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return ask(ctx)
}

// Who waits in the line behind another caller of its own client asks nobody, and is told what
// that one was told: of an outage, or that somebody holds the key.
func TestWaiterInTheLineIsToldWhatThoseAheadWereTold(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(links []*memnet.Link)
		dials   bool // the error of a dial is told
	}{
		"refused": {func(links []*memnet.Link) {
			for _, link := range links {
				link.Refuse(true)
				link.Cut()
			}
		}, true},
		"silent": {func(links []*memnet.Link) {
			for _, link := range links {
				link.Down.Drop()
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			world.Run(t, 3, func(t *testing.T, w *world.World) {
				l, links := api(w, redlock.Config{NodeTimeout: 200 * time.Millisecond})
				c.happens(links)
				ask := func(ctx context.Context) error { _, err := l.AcquireWait(ctx, "k", time.Second); return err }
				first := make(chan error, 1)
				go func() { first <- within(t, 3*time.Second, ask) }()
				synctest.Wait()
				err := within(t, 700*time.Millisecond, ask)
				var dial *net.OpError
				if errors.Is(err, redlock.ErrHeld) || errors.Is(err, redlock.ErrUnknown) || !errors.Is(err, redlock.ErrNoQuorum) ||
					!errors.Is(err, context.DeadlineExceeded) || errors.As(err, &dial) != c.dials {
					t.Errorf("told %v", err)
				}
				<-first
				for _, link := range links {
					link.Refuse(false)
					link.Down.Free()
				}
			})
		})
	}
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{})
		other, _ := api(w, redlock.Config{})
		ask := func(ctx context.Context) error { _, err := l.AcquireWait(ctx, "k", 9*time.Second); return err }
		held := get(t, other, "k", 9*time.Second)
		first := make(chan error, 1)
		go func() { first <- within(t, 3*time.Second, ask) }()
		synctest.Wait()
		if err := within(t, 700*time.Millisecond, ask); !errors.Is(err, redlock.ErrHeld) {
			t.Errorf("behind one that waits for another client: %v, want ErrHeld", err)
		}
		if err := held.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		if err := within(t, 700*time.Millisecond, ask); !errors.Is(err, redlock.ErrHeld) {
			t.Errorf("behind one that was granted: %v, want ErrHeld", err)
		}
	})
}

// A lease that was handed over in the line says nothing of who has the key once it was given
// back: who waits meanwhile may wait in an outage.
func TestHandOverThatIsOverIsNoHolder(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{NodeTimeout: time.Second})
		other, _ := api(w, redlock.Config{})
		ask := func(ctx context.Context) error { _, err := l.AcquireWait(ctx, "k", 9*time.Second); return err }
		held := get(t, other, "k", 9*time.Second)
		granted := make(chan *redlock.Lease, 1)
		go func() {
			lease, err := l.AcquireWait(t.Context(), "k", 9*time.Second)
			if err != nil {
				t.Error(err)
			}
			granted <- lease
		}()
		synctest.Wait()
		next := make(chan error, 1)
		go func() { next <- within(t, 5*time.Second, ask) }()
		synctest.Wait()
		if err := held.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		lease := <-granted
		if lease == nil {
			t.FailNow()
		}
		for _, link := range links {
			link.Down.Drop()
		}
		_ = within(t, time.Millisecond, lease.Release)
		// The next one has asked, and has no answer yet.
		if err := within(t, 100*time.Millisecond, ask); errors.Is(err, redlock.ErrHeld) || !errors.Is(err, redlock.ErrNoQuorum) {
			t.Errorf("told %v of an outage", err)
		}
		if err := <-next; errors.Is(err, redlock.ErrHeld) {
			t.Errorf("told %v of an outage", err)
		}
		for _, link := range links {
			link.Down.Free()
		}
	})
}

// A context that has ended before any node was asked says nothing of who has the key.
func TestContextThatEndsBeforeANodeIsAskedIsNoRefusal(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := w.Client(redlock.NewFactory(redlock.Config{NodeTimeout: 5 * time.Second}))
		warm(t, l)
		unasked := func(name string, err error, cause error) {
			t.Helper()
			if errors.Is(err, redlock.ErrHeld) || !errors.Is(err, redlock.ErrNoQuorum) || !errors.Is(err, cause) {
				t.Errorf("%s: %v", name, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for name, ask := range asks {
			unasked(name, ask(ctx, l.(*redlock.Locker), "k"), context.Canceled)
		}
		for _, link := range links {
			link.Down.Hold()
		}
		as := func(ctx context.Context) error { _, err := l.AcquireAs(ctx, "me", "k", time.Second); return err }
		first := make(chan error, 1)
		go func() { first <- as(t.Context()) }()
		synctest.Wait()
		unasked("behind another call of the owner", within(t, 100*time.Millisecond, as), context.DeadlineExceeded)
		for _, link := range links {
			link.Down.Free()
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// What a minority of the nodes will always say does not end a wait that the others may
// serve soon; what a majority says does.
func TestMinorityThatIsMisconfiguredEndsNoWait(t *testing.T) {
	nodes := nodesAt(addrs(embedded(t, 3)))
	bootstrapped(t, nodes, patient)
	refusing := embedded(t, 1)[0]
	refusing.RequireAuth("secret") // before anybody connects: a server in memory reads it without its lock
	nodes[0].Dial = dialTo(refusing.Addr())
	var down atomic.Bool
	var dials atomic.Int64
	down.Store(true)
	dial := dialTo(nodes[1].Addr)
	nodes[1].Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dials.Add(1); down.Load() {
			return nil, errors.New("away for a while")
		}
		return dial(ctx, network, addr)
	}
	ways := map[string]func(ctx context.Context, l *redlock.Locker) error{
		"semaphore": func(ctx context.Context, l *redlock.Locker) error {
			s, err := l.Semaphore("s", 1)
			if err == nil {
				_, err = s.AcquireWait(ctx)
			}
			return err
		},
	}
	for _, name := range []string{"wait", "fair", "shared wait"} {
		ways[name] = func(ctx context.Context, l *redlock.Locker) error { return asks[name](ctx, l, name) }
	}
	for name, way := range ways {
		down.Store(true)
		l := client(t, nodes, patient)
		before := dials.Load()
		done := make(chan error, 1)
		go func() { done <- within(t, time.Minute, func(ctx context.Context) error { return way(ctx, l) }) }()
		await(t, "it has asked again", func() bool { return dials.Load() > before+3 || len(done) > 0 })
		down.Store(false)
		if err := <-done; err != nil {
			t.Errorf("%s, one node of three refuses the user and another was away: %v", name, err)
		}
	}
	nodes[1].Dial = dialTo(refusing.Addr())
	l := client(t, nodes, patient)
	cannotWait := func(ctx context.Context) error { return asks["wait"](ctx, l, "other") }
	if err := within(t, time.Minute, cannotWait); !errors.Is(err, redlock.ErrMisconfigured) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("two of three refuse the user: %v", err)
	}
}

// A waiter asks again within a third of its patience, however long the pauses of an outage
// may be. It can hear the nodes all the while: that one comes back, they do not say.
func TestPauseOfAWaiterKeepsToItsPatience(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{RetryMin: 20 * time.Second, Patience: 300 * time.Millisecond})
		before, err := l.AcquireFair(t.Context(), "another", time.Second)
		if err == nil {
			err = before.Release(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		loading := func(message string) {
			for i := range w.Size() {
				w.Fail(i+1, message)
			}
		}
		loading("LOADING Redis is loading the dataset in memory")
		go func() {
			time.Sleep(time.Second)
			loading("")
		}()
		began := time.Now()
		if _, err := l.AcquireWait(t.Context(), "k", time.Second); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 1200*time.Millisecond {
			t.Errorf("granted after %v of an outage of 1 s", took)
		}
	})
}

// Waiting does not make nodes grant for longer.
func TestWaitForMoreThanTheNodesGrantEndsAtOnce(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{MaxTTL: time.Minute, TTL: 20 * time.Second})
		s, err := l.Semaphore("s", 2)
		if err != nil {
			t.Fatal(err)
		}
		for name, ask := range map[string]func(ctx context.Context) error{
			"wait":      func(ctx context.Context) error { _, err := l.AcquireWait(ctx, "k", 20*time.Second); return err },
			"fair":      func(ctx context.Context) error { _, err := l.AcquireFair(ctx, "k", 20*time.Second); return err },
			"shared":    func(ctx context.Context) error { _, err := l.AcquireSharedWait(ctx, "k", 20*time.Second); return err },
			"semaphore": func(ctx context.Context) error { _, err := s.AcquireWait(ctx); return err },
			"Do": func(ctx context.Context) error {
				return l.Do(ctx, "k", func(context.Context, uint64) error { return nil })
			},
		} {
			began := time.Now()
			err := within(t, time.Minute, ask)
			if took := time.Since(began); !errors.Is(err, redlock.ErrTTLTooLong) || took > time.Second {
				t.Errorf("%s: after %v: %v", name, took, err)
			}
		}
	})
}

// A wake-up that nobody could hear, since the subscription was not there yet or had broken,
// costs a waiter no longer than until it is there: then who waits asks again.
func TestWaiterAsksAgainOnceItCanHear(t *testing.T) {
	for name, c := range map[string]struct{ waits, deaf func(*memnet.Link) }{
		"not heard yet": {waits: func(link *memnet.Link) { link.Refuse(true) }, deaf: func(*memnet.Link) {}},
		"broken":        {waits: func(*memnet.Link) {}, deaf: func(link *memnet.Link) { link.Refuse(true); link.Cut() }},
	} {
		t.Run(name, func(t *testing.T) {
			world.Run(t, 1, func(t *testing.T, w *world.World) {
				l, links := api(w, redlock.Config{Patience: time.Hour, NodeTimeout: 200 * time.Millisecond})
				other, _ := api(w, redlock.Config{})
				if err := get(t, l, "another", time.Second).Release(t.Context()); err != nil { // so that it is connected
					t.Fatal(err)
				}
				held := get(t, other, "k", 9*time.Second)
				c.waits(links[0])
				granted := make(chan error, 1)
				go func() {
					granted <- within(t, time.Minute, func(ctx context.Context) error { _, err := l.AcquireWait(ctx, "k", time.Second); return err })
				}()
				time.Sleep(time.Second)
				c.deaf(links[0])
				if err := held.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				links[0].Refuse(false)
				began := time.Now()
				if err := <-granted; err != nil || time.Since(began) > 3*time.Second {
					t.Errorf("granted %v after it could hear: %v", time.Since(began), err)
				}
			})
		})
	}
}

// A wake-up that a quorum could not hear costs a waiter no longer than until one more node can
// be heard, also where a quorum was heard before and that node never was.
func TestWaiterAsksAgainOnceAnotherNodeCanBeHeard(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{Patience: time.Hour, NodeTimeout: 200 * time.Millisecond})
		other, _ := api(w, redlock.Config{})
		if err := get(t, l, "another", time.Second).Release(t.Context()); err != nil { // so that it is connected
			t.Fatal(err)
		}
		held := get(t, other, "k", 9*time.Second)
		links[2].Refuse(true)
		links[2].Cut()
		granted := make(chan error, 1)
		go func() {
			granted <- within(t, time.Minute, func(ctx context.Context) error { _, err := l.AcquireWait(ctx, "k", time.Second); return err })
		}()
		time.Sleep(time.Second) // two nodes can be heard
		links[0].Refuse(true)
		links[0].Cut()
		links[1].Down.Drop() // nor is it named by the node that it hears
		if err := held.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
		links[1].Down.Free()
		time.Sleep(time.Second)
		links[2].Refuse(false)
		began := time.Now()
		if err := <-granted; err != nil || time.Since(began) > 3*time.Second {
			t.Errorf("granted %v after a second node could be heard: %v", time.Since(began), err)
		}
		links[0].Refuse(false)
	})
}

// A waiter that has a place on fewer nodes than a quorum is named by those alone; it asks soon
// all the same, and not only once the lease that it was refused for would be over.
func TestWaiterNamedByAMinorityAsksSoon(t *testing.T) {
	for _, fair := range []bool{false, true} {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			l, links := api(w, redlock.Config{Patience: time.Hour, NodeTimeout: 200 * time.Millisecond})
			wait := l.AcquireWait
			if fair {
				wait = l.AcquireFair
			}
			if err := get(t, l, "another", time.Second).Release(t.Context()); err != nil { // so that it is connected
				t.Fatal(err)
			}
			other, otherLinks := api(w, redlock.Config{})
			held := get(t, other, "k", 9*time.Second)
			links[2].Refuse(true)
			links[2].Cut() // node 3 gives it no place
			granted := make(chan error, 1)
			go func() {
				granted <- within(t, time.Minute, func(ctx context.Context) error { _, err := wait(ctx, "k", time.Second); return err })
			}()
			time.Sleep(time.Second)
			links[2].Refuse(false)
			time.Sleep(time.Second)
			otherLinks[1].Up.Hold() // node 2 does not hear of the release
			if err := held.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := <-granted; err != nil || time.Since(began) > time.Second {
				t.Errorf("fair %v: granted %v after it was named by one node of three: %v", fair, time.Since(began), err)
			}
			otherLinks[1].Up.Free()
		})
	}
}

// Who comes to lead a line in an outage, and whose context ends while it asks, is told what
// those ahead were told since it asked last, and not what it was told before the outage.
func TestWaiterThatComesToLeadInAnOutageIsToldOfIt(t *testing.T) {
	const ahead = 1500 * time.Millisecond
	for longer := 20 * time.Millisecond; longer < 300*time.Millisecond; longer += 20 * time.Millisecond {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			l, links := w.Client(full)
			other, _ := w.Client(full)
			warm(t, l)
			w.Take(other, "k", 9*time.Second)
			told := make([]error, 2)
			var wg sync.WaitGroup
			for i, patience := range []time.Duration{ahead, ahead + longer} {
				wg.Go(func() {
					told[i] = within(t, patience, func(ctx context.Context) error {
						_, err := l.AcquireFair(ctx, "k", time.Second)
						return err
					})
				})
				time.Sleep(50 * time.Millisecond) // it leads, or comes behind the first
			}
			for _, link := range links[1:] {
				link.Up.Hold()
			}
			wg.Wait()
			for i, err := range told {
				if err == nil || errors.Is(err, redlock.ErrHeld) {
					t.Errorf("waiter %d, with %v more than the one ahead, after a second of an outage: %v", i+1, longer, err)
				}
			}
		})
	}
}

// The place in line of a waiter that has given up is taken away once the node that it is on
// can be reached again, however long its Patience would have it kept: it keeps everybody else
// from the key.
func TestPlaceOfWhoGaveUpIsTakenAwayOnceItsNodeIsBack(t *testing.T) {
	for name, c := range map[string]struct{ goes, comes func(link *memnet.Link) }{
		"down":   {func(link *memnet.Link) { link.Refuse(true); link.Cut() }, func(link *memnet.Link) { link.Refuse(false) }},
		"silent": {func(link *memnet.Link) { link.Up.Hold() }, func(link *memnet.Link) { link.Up.Free() }},
	} {
		for _, n := range []int{1, 3} {
			world.Run(t, n, func(t *testing.T, w *world.World) {
				other, _ := api(w, redlock.Config{})
				held := get(t, other, "k", 5*time.Second)
				l, links := api(w, redlock.Config{Patience: time.Minute})
				if err := within(t, time.Second, func(ctx context.Context) error {
					time.AfterFunc(900*time.Millisecond, func() {
						for _, link := range links {
							c.goes(link)
						}
					})
					_, err := l.AcquireWait(ctx, "k", time.Second)
					return err
				}); err == nil {
					t.Fatal("granted to two")
				}
				time.Sleep(3 * time.Second) // longer than the lease that was asked for
				if err := held.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, link := range links {
					c.comes(link)
				}
				time.Sleep(time.Second)
				if err := get(t, other, "k", time.Second).Release(t.Context()); err != nil {
					t.Errorf("%s, %d nodes: %v", name, n, err)
				}
			})
		}
	}
}

// A writer that tries, is refused by readers and never tries again keeps nobody from the key
// for long, however long the waiters of its client are kept in line.
func TestWriterThatTriesNoMoreKeepsNobodyOut(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		other, _ := api(w, redlock.Config{})
		read, err := other.AcquireShared(t.Context(), "k", 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		l, _ := api(w, redlock.Config{Patience: time.Minute})
		for range 3 {
			if _, err := l.Acquire(t.Context(), "k", time.Second); !errors.Is(err, lockimpl.ErrHeld) {
				t.Fatalf("held by a reader: %v", err)
			}
		}
		if err := read.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Acquire(t.Context(), "k", time.Second); !errors.Is(err, lockimpl.ErrHeld) {
			t.Errorf("the writer that tried comes first for a while: %v", err)
		}
		time.Sleep(time.Second)
		if err := get(t, other, "k", time.Second).Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// awaitPromptly reports an error unless a waiter whose next poll is far away is granted at once.
func awaitPromptly(t *testing.T, granted <-chan error) {
	t.Helper()
	began := time.Now()
	if err := <-granted; err != nil || time.Since(began) > 200*time.Millisecond {
		t.Errorf("granted after %v: %v", time.Since(began), err)
	}
}

// The last reader that leaves wakes the writer who waits, also where the lease of another reader
// ended before, unreleased.
func TestLastOfTheReadersThatLiveWakesTheWriter(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			l, _ := api(w, redlock.Config{Patience: 15 * time.Second})
			other, _ := api(w, redlock.Config{})
			if _, err := other.AcquireShared(t.Context(), "k", time.Second); err != nil { // it is never released
				t.Fatal(err)
			}
			reader, err := other.AcquireShared(t.Context(), "k", 9*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			granted := make(chan error, 1)
			go func() { _, err := l.AcquireWait(t.Context(), "k", time.Second); granted <- err }()
			time.Sleep(3 * time.Second)
			if err := reader.Release(t.Context()); err != nil {
				t.Error(err)
			}
			awaitPromptly(t, granted)
		})
	}
}

// A writer that gives up waiting lets the readers in who wait behind it, while others read.
func TestWriterThatGivesUpLetsReadersIn(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			l, _ := api(w, redlock.Config{Patience: 15 * time.Second})
			other, _ := api(w, redlock.Config{Patience: 15 * time.Second})
			if _, err := other.AcquireShared(t.Context(), "k", 9*time.Second); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			gaveUp := make(chan struct{})
			go func() {
				defer close(gaveUp)
				if _, err := other.AcquireWait(ctx, "k", time.Second); err == nil {
					t.Error("a writer was granted beside a reader")
				}
			}()
			time.Sleep(500 * time.Millisecond) // it has queued
			granted := make(chan error, 1)
			go func() { _, err := l.AcquireSharedWait(t.Context(), "k", time.Second); granted <- err }()
			time.Sleep(500 * time.Millisecond)
			if len(granted) > 0 {
				t.Error("a reader overtook the writer who waits")
			}
			cancel()
			<-gaveUp
			awaitPromptly(t, granted)
		})
	}
}

// Who was granted the key, or has given up, waits on no node any more: not on one either that
// refused it when others granted. Nobody is kept out for the time of its patience.
func TestWhoWaitsNoMoreHasNoPlace(t *testing.T) {
	for _, givesUp := range []bool{false, true} {
		for name, ask := range map[string]func(ctx context.Context, l *redlock.Lock) (*redlock.Lease, error){
			"wait": func(ctx context.Context, l *redlock.Lock) (*redlock.Lease, error) {
				return l.AcquireWait(ctx, "k", time.Second)
			},
			"fair": func(ctx context.Context, l *redlock.Lock) (*redlock.Lease, error) {
				return l.AcquireFair(ctx, "k", time.Second)
			},
			"shared": func(ctx context.Context, l *redlock.Lock) (*redlock.Lease, error) {
				return l.AcquireSharedWait(ctx, "k", time.Second)
			},
		} {
			world.Run(t, 3, func(t *testing.T, w *world.World) {
				l, mine := api(w, redlock.Config{Patience: time.Hour})
				other, links := api(w, redlock.Config{})
				if err := get(t, l, "another", time.Second).Release(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(50 * time.Millisecond) // until it is connected to every node
				for _, link := range mine {
					link.Up.Delay(time.Millisecond) // so that every node is asked before one has answered
				}
				held := get(t, other, "k", 9*time.Second)
				time.Sleep(50 * time.Millisecond)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan error, 1)
				go func() { _, err := ask(ctx, l); done <- err }()
				time.Sleep(time.Second)
				if in, err := other.Inspect(t.Context(), "k"); err != nil || in.Waiting != 1 {
					t.Errorf("%s: %d wait (%v)", name, in.Waiting, err)
				}
				if givesUp {
					cancel()
				} else { // the release does not get to node 1
					links[0].Refuse(true)
					links[0].Cut()
					if err := held.Release(t.Context()); err != nil {
						t.Error(err)
					}
				}
				if err := <-done; givesUp == (err == nil) {
					t.Errorf("%s: %v", name, err)
				}
				links[0].Refuse(false)
				time.Sleep(100 * time.Millisecond)
				if in, err := other.Inspect(t.Context(), "k"); err != nil || in.Waiting != 0 || in.Nodes != 3 {
					t.Errorf("%s, gives up %v: %d wait on one of %d nodes (%v)", name, givesUp, in.Waiting, in.Nodes, err)
				}
			})
		}
	}
}

// A try that kept new readers out, since readers had refused the one before, has no place any more
// once a writer has refused it: nobody is kept out for the sake of who does not wait.
func TestTryThatKeptReadersOutHasNoPlace(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{Patience: time.Hour})
		other, _ := api(w, redlock.Config{})
		reader, err := other.AcquireShared(t.Context(), "k", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Acquire(t.Context(), "k", time.Second); !errors.Is(err, redlock.ErrHeld) { // from now on it queues
			t.Errorf("beside a reader: %v", err)
		}
		if err := reader.Release(t.Context()); err != nil {
			t.Error(err)
		}
		writer := get(t, other, "k", 5*time.Second)
		if _, err := l.Acquire(t.Context(), "k", time.Second); !errors.Is(err, redlock.ErrHeld) {
			t.Errorf("beside a writer: %v", err)
		}
		synctest.Wait()
		if in, err := other.Inspect(t.Context(), "k"); err != nil || in.Waiting != 0 {
			t.Errorf("%d wait (%v)", in.Waiting, err)
		}
		if err := writer.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := other.AcquireShared(t.Context(), "k", time.Second); err != nil {
			t.Errorf("a reader of a key that nobody has: %v", err)
		}
	})
}

// Nothing is taken back, again and again, from a node that was never asked: while one is down,
// everybody who waits and is granted would leave a call behind.
func TestNodeThatWasNotReachedIsNotAskedToForgetAPlace(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{Patience: time.Minute})
		links[2].Refuse(true)
		other, _ := api(w, redlock.Config{})
		for range 5 {
			held := get(t, other, "k", 5*time.Second)
			granted := make(chan error, 1)
			go func() {
				lease, err := l.AcquireWait(t.Context(), "k", time.Second)
				if err == nil {
					err = lease.Release(t.Context())
				}
				granted <- err
			}()
			time.Sleep(100 * time.Millisecond)
			if err := held.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-granted; err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Second) // until the leases are over, and their releases are not sent again
		if n := redlock.SentAgain(l); n > 0 {
			t.Errorf("%d calls are sent again to a node that never was reached", n)
		}
	})
}

// Whoever may not subscribe waits for that once, and not before each wait for a key.
func TestWhoMayNotSubscribeWaitsForItOnce(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			w.Deny("SUBSCRIBE")
			l, _ := api(w, redlock.Config{})
			var longest time.Duration
			for i := range 4 {
				began := time.Now()
				lease, err := l.AcquireFair(t.Context(), "k", time.Second)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); i > 0 {
					longest = max(longest, took)
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if longest > 20*time.Millisecond {
				t.Errorf("%d nodes: a free key was granted after %v", n, longest)
			}
		})
	}
}

package redlock_test

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/memnet"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
	"locktorture/lockimpl/redlock/internal/script"
)

// waitsNobody reports an error unless nobody waits for k on any node.
func waitsNobody(t *testing.T, l *redlock.Lock) {
	t.Helper()
	if in, err := l.Inspect(t.Context(), "k"); err != nil || in.Waiting != 0 {
		t.Errorf("%d wait, want nobody (%v)", in.Waiting, err)
	}
}

// connect has a client connect to every node.
func connect(t *testing.T, l *redlock.Lock) {
	t.Helper()
	lease := get(t, l, "another", time.Second)
	time.Sleep(50 * time.Millisecond)
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
}

// A node may get an early attempt of a waiter long after that has given up, and its last
// attempt never: the place that the early one takes is taken away again.
func TestPlaceThatAnEarlierAttemptTakesLateIsTakenAway(t *testing.T) {
	for _, n := range []int{1, 3} {
		for name, ask := range map[string]func(ctx context.Context, l *redlock.Lock) (*redlock.Lease, error){
			"fair": func(ctx context.Context, l *redlock.Lock) (*redlock.Lease, error) {
				return l.AcquireFair(ctx, "k", time.Second)
			},
			"shared": func(ctx context.Context, l *redlock.Lock) (*redlock.Lease, error) {
				return l.AcquireSharedWait(ctx, "k", time.Second)
			},
		} {
			world.Run(t, n, func(t *testing.T, w *world.World) {
				other, _ := api(w, redlock.Config{})
				l, links := api(w, redlock.Config{Patience: 5 * time.Second})
				connect(t, l)
				for _, link := range links {
					link.Up.Hold()
				}
				if err := within(t, 3*time.Second, func(ctx context.Context) error { _, err := ask(ctx, l); return err }); err == nil {
					t.Fatal("granted by nobody")
				}
				time.Sleep(20 * time.Second) // longer than the place of who stops asking is kept
				held := get(t, other, "k", 9*time.Second)
				for _, link := range links {
					link.Up.Free()
				}
				time.Sleep(time.Second)
				if in, err := other.Inspect(t.Context(), "k"); err != nil || in.Waiting != 0 {
					t.Errorf("%s, %d nodes: %d wait, want nobody (%v)", name, n, in.Waiting, err)
				}
				if err := held.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// keptByNode3 has other take a key and give it back while node 3 is out of its reach: that keeps
// the lease, and refuses.
func keptByNode3(t *testing.T, other *redlock.Lock, othersLinks []*memnet.Link) {
	t.Helper()
	held := get(t, other, "k", 9*time.Second)
	time.Sleep(100 * time.Millisecond)
	othersLinks[2].Refuse(true)
	othersLinks[2].Cut()
	if err := held.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A node that has forgotten the script of an acquire is sent that again, behind the call that
// takes the waiter out of line, since others have granted the lock: it has no place there.
func TestAcquireThatLandsBehindTheLeavingLeavesNoPlace(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{Patience: time.Minute})
		other, othersLinks := api(w, redlock.Config{})
		connect(t, l)
		keptByNode3(t, other, othersLinks)
		links[2].Down.Delay(40 * time.Millisecond)
		busy := make(chan *redlock.Lease, 1)
		go func() {
			lease, _ := l.AcquireShared(t.Context(), "another", time.Second)
			busy <- lease
		}()
		time.Sleep(20 * time.Millisecond) // a pipeline to node 3 is in flight
		w.ForgetScripts(3, script.Leave.Source)
		if _, err := l.AcquireFair(t.Context(), "k", 9*time.Second); err != nil {
			t.Fatal(err)
		}
		<-busy
		time.Sleep(time.Second)
		waitsNobody(t, l)
		othersLinks[2].Refuse(false)
	})
}

// leavesWhileNode3IsAway has l give up its wait for what other holds, when node 3 has just become
// out of l's reach.
func leavesWhileNode3IsAway(t *testing.T, l *redlock.Lock, links []*memnet.Link, other *redlock.Lock) {
	t.Helper()
	held := get(t, other, "k", 9*time.Second)
	time.Sleep(50 * time.Millisecond)
	if err := within(t, time.Second, func(ctx context.Context) error {
		time.AfterFunc(900*time.Millisecond, func() {
			links[2].Refuse(true)
			links[2].Cut()
		})
		_, err := l.AcquireWait(ctx, "k", time.Second)
		return err
	}); err == nil {
		t.Fatal("granted to two")
	}
	if err := held.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// A node that is away is asked ever more rarely to take a waiter out of line, however long it
// would be kept there, and at once when it is connected to again.
func TestNodeThatIsAwayIsAskedEverMoreRarely(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		other, _ := api(w, redlock.Config{})
		l, links, by := measured(w, redlock.Config{Patience: time.Hour})
		connect(t, l)
		leavesWhileNode3IsAway(t, l, links, other)
		before := by.dials[2].Load()
		time.Sleep(10 * time.Minute)
		if got := by.dials[2].Load() - before; got > 1500 { // most are the subscription's, about one a second
			t.Errorf("dialled %d times in ten minutes", got)
		}
		links[2].Refuse(false)
		time.Sleep(300 * time.Millisecond) // for so long it may not be dialled
		connect(t, l)                      // which asks every node
		waitsNobody(t, other)
	})
}

// An endingConn is a connection that ends when a script is called on it, once ends is set, but for
// those that it is to serve.
type endingConn struct {
	net.Conn
	ends  *atomic.Bool
	serve string
}

func (c endingConn) Write(b []byte) (int, error) {
	served := 0
	if c.serve != "" {
		served = bytes.Count(b, []byte(c.serve))
	}
	if c.ends.Load() && bytes.Count(b, []byte("evalsha")) > served {
		return len(b), c.Close()
	}
	return c.Conn.Write(b)
}

// A node that takes every connection, and refuses what it is asked to undo, a replica or one that
// was demoted, or ends the connection then, is asked as seldom as one that is away, though it
// serves something else.
func TestNodeThatRefusesWhatItIsAskedIsNotDialledWithoutEnd(t *testing.T) {
	for name, c := range map[string]struct {
		refuse func(w *world.World, ends *atomic.Bool)
		serve  string
	}{
		"only reads":          {func(w *world.World, _ *atomic.Bool) { w.Demote(1) }, ""},
		"ends the connection": {func(_ *world.World, ends *atomic.Bool) { ends.Store(true) }, ""},
		"serves who looks on": {func(_ *world.World, ends *atomic.Bool) { ends.Store(true) }, script.Inspect.SHA},
	} {
		for _, n := range []int{1, 3} {
			world.Run(t, n, func(t *testing.T, w *world.World) {
				var ends atomic.Bool
				factory := redlock.NewFactory(redlock.Config{})
				client, _, by := withTraffic(w, func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
					dial := nodes[0].Dial
					nodes[0].Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
						conn, err := dial(ctx, network, addr)
						return endingConn{conn, &ends, c.serve}, err
					}
					return factory(nodes)
				})
				by.most.Store(50_000)
				l := client.(*redlock.Locker).Lock
				held := get(t, l, "k", 9*time.Second)
				c.refuse(w, &ends)
				err := held.Release(t.Context())
				if n == 1 && err == nil {
					t.Errorf("%s, and the release is confirmed", name)
				}
				for began := time.Now(); c.serve != "" && time.Since(began) < 9*time.Second; time.Sleep(5 * time.Millisecond) {
					_, _ = l.Inspect(t.Context(), "other")
				}
				time.Sleep(time.Minute)
				if got := by.dials[0].Load(); got > 600 {
					t.Errorf("%s, %d nodes: dialled %d times in a minute", name, n, got)
				}
				ends.Store(false)
			})
		}
	}
}

// The place of a writer that has tried comes to its end, and who waits behind it, and asks
// seldom, is woken then: the readers who left meanwhile woke nobody, since nobody tried.
func TestWhoWaitsBehindATryIsWokenAtItsEnd(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			readers, _ := api(w, redlock.Config{})
			tries, _ := api(w, redlock.Config{})
			l, _ := api(w, redlock.Config{Patience: time.Minute})
			connect(t, l)
			read := triedBesideAReader(t, readers, tries)
			granted := make(chan error, 1)
			go func() { _, err := l.AcquireWait(t.Context(), "k", time.Second); granted <- err }()
			time.Sleep(100 * time.Millisecond)
			if err := read.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(250 * time.Millisecond)
			if len(granted) > 0 {
				t.Error("granted before the place of the last try has ended")
			}
			awaitPromptly(t, granted)
			waitsNobody(t, l)
		})
	}
}

// A place of which the time is over, of a writer that tried and is out of reach, is taken away by
// whoever asks next: who waits behind it, and asks seldom, is woken by that.
func TestWhoWaitsBehindAPlaceThatIsDroppedIsWoken(t *testing.T) {
	for name, passes := range map[string]func(t *testing.T, l *redlock.Lock){
		"try":        func(t *testing.T, l *redlock.Lock) { _, _ = l.Acquire(t.Context(), "k", time.Second) },
		"shared try": func(t *testing.T, l *redlock.Lock) { _, _ = l.AcquireShared(t.Context(), "k", time.Second) },
		"wait": func(t *testing.T, l *redlock.Lock) {
			_ = within(t, 3*time.Second, func(ctx context.Context) error { _, err := l.AcquireFair(ctx, "k", time.Second); return err })
		},
		"line": nil, // it has waited all the while, and has its places kept
	} {
		for _, shared := range []bool{false, true} {
			for _, n := range []int{1, 3} {
				world.Run(t, n, func(t *testing.T, w *world.World) {
					behind(t, w, name, shared, passes)
				})
			}
		}
	}
}

// triedBesideAReader has a writer try for k again and again, of which readers hold a lease, which
// it returns.
func triedBesideAReader(t *testing.T, readers, tries *redlock.Lock) *redlock.Lease {
	t.Helper()
	read, err := readers.AcquireShared(t.Context(), "k", 9*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	for range 3 {
		if _, err := tries.Acquire(t.Context(), "k", time.Second); err == nil {
			t.Fatal("granted beside a reader")
		}
		time.Sleep(100 * time.Millisecond)
	}
	return read
}

func behind(t *testing.T, w *world.World, name string, shared bool, passes func(t *testing.T, l *redlock.Lock)) {
	readers, _ := api(w, redlock.Config{})
	tries, links := api(w, redlock.Config{})
	l, _ := api(w, redlock.Config{Patience: time.Minute})
	other, _ := api(w, redlock.Config{Patience: 2 * time.Second})
	for _, c := range []*redlock.Lock{tries, l, other} {
		connect(t, c)
	}
	read := triedBesideAReader(t, readers, tries)
	for _, link := range links {
		link.Up.Hold()
	}
	granted := make(chan error, 2)
	var all sync.WaitGroup
	defer all.Wait()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ask := func() {
		if shared {
			_, err := l.AcquireSharedWait(t.Context(), "k", 5*time.Second)
			granted <- err
			return
		}
		lease, err := l.AcquireFair(t.Context(), "k", 5*time.Second)
		granted <- err
		if err == nil {
			time.Sleep(time.Second)
			_ = lease.Release(t.Context())
		}
	}
	all.Go(ask)
	if shared {
		all.Go(ask)
	}
	time.Sleep(100 * time.Millisecond)
	if name == "line" {
		for range 2 {
			all.Go(func() { _, _ = other.AcquireFair(ctx, "k", time.Second) })
			time.Sleep(time.Millisecond)
		}
	}
	if err := read.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(250 * time.Millisecond)
	if len(granted) > 0 {
		t.Error("granted before the place of the last try has ended")
	}
	time.Sleep(200 * time.Millisecond)
	if passes != nil {
		all.Go(func() { passes(t, other) })
	} else {
		time.Sleep(700 * time.Millisecond)
	}
	began := time.Now()
	for i := 0; i < 1 || shared && i < 2; i++ {
		if err := <-granted; err != nil || time.Since(began) > time.Second { // a minority may name it, twice in vain
			t.Errorf("%s, %d nodes, shared %v: granted after %v: %v", name, w.Size(), shared, time.Since(began), err)
		}
	}
	for _, link := range links {
		link.Up.Free()
	}
}

// A release wakes the readers behind the place of a dead writer too: it has ended, and nobody
// would take it away until one of them, who ask seldom, asks.
func TestReadersBehindADeadWriterAreWoken(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			holder, _ := api(w, redlock.Config{})
			readers, _ := api(w, redlock.Config{Patience: time.Minute})
			writer, links := api(w, redlock.Config{})
			for _, c := range []*redlock.Lock{holder, readers, writer} {
				connect(t, c)
			}
			held := get(t, holder, "k", 9*time.Second)
			granted := make(chan error, 2)
			var all sync.WaitGroup
			read := func() {
				_, err := readers.AcquireSharedWait(t.Context(), "k", time.Second)
				granted <- err
			}
			all.Go(read)
			time.Sleep(100 * time.Millisecond)
			ctx, stop := context.WithCancel(t.Context())
			all.Go(func() { _, _ = writer.AcquireFair(ctx, "k", time.Second) })
			time.Sleep(100 * time.Millisecond)
			for _, link := range links {
				link.Up.Hold()
			}
			all.Go(read)
			time.Sleep(2 * time.Second) // until the place of the writer has ended
			if err := held.Release(t.Context()); err != nil {
				t.Error(err)
			}
			began := time.Now()
			for range 2 {
				if err := <-granted; err != nil || time.Since(began) > 50*time.Millisecond {
					t.Errorf("%d nodes: granted after %v: %v", n, time.Since(began), err)
				}
			}
			stop()
			for _, link := range links {
				link.Up.Free()
			}
			all.Wait()
		})
	}
}

// A long line for a key that is free on a minority of the nodes does not ask again and again:
// each is granted it there in vain, and the next is named when that is undone.
func TestLongLineThatAMinorityNamesAsksSeldom(t *testing.T) {
	for _, cfg := range []redlock.Config{{Patience: time.Minute}, {RetryMin: 1, RetryMax: 1}} {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			holder, links := api(w, redlock.Config{})
			links[0].Refuse(true)
			held := get(t, holder, "k", 10*time.Second)
			l, _ := api(w, cfg)
			connect(t, l)
			ctx, cancel := context.WithCancel(t.Context())
			var line sync.WaitGroup
			for range 100 {
				line.Go(func() { _, _ = l.AcquireFair(ctx, "k", 9*time.Second) })
				time.Sleep(time.Millisecond)
			}
			time.Sleep(4 * time.Second)
			before := w.Commands(1)
			time.Sleep(4 * time.Second)
			if got := (w.Commands(1) - before) / 4; got > 600 {
				t.Errorf("%+v: %d commands a second, want at most 600", cfg, got)
			}
			cancel()
			line.Wait()
			time.Sleep(50 * time.Millisecond) // until all have left
			links[0].Refuse(false)
			if err := held.Release(t.Context()); err != nil {
				t.Error(err)
			}
			waitsNobody(t, holder)
		})
	}
}

// A waiter that was granted the lock by a minority, in vain, and whose place was kept there since
// by who leads its line, leaves that place when it gives up.
func TestWhoWasGrantedInVainLeavesNoPlace(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		holder, links := api(w, redlock.Config{})
		links[0].Refuse(true)
		held := get(t, holder, "k", 10*time.Second)
		l, _ := api(w, redlock.Config{Patience: 3 * time.Second})
		connect(t, l)
		ctx, cancel := context.WithCancel(t.Context())
		var line sync.WaitGroup
		for range 5 {
			line.Go(func() { _, _ = l.AcquireFair(ctx, "k", 9*time.Second) })
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(8 * time.Second)
		links[0].Refuse(false)
		cancel()
		line.Wait()
		time.Sleep(300 * time.Millisecond) // until all have left, and holder may dial
		if err := held.Release(t.Context()); err != nil {
			t.Error(err)
		}
		connect(t, holder)
		waitsNobody(t, holder)
	})
}

// A place that was to be kept for a waiter that has left meanwhile is not taken again.
func TestPlaceOfWhoHasLeftIsNotKept(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{Patience: time.Minute})
		connect(t, l)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		redlock.KeepLate(ctx, l, "k")
		time.Sleep(50 * time.Millisecond)
		if in, err := l.Inspect(t.Context(), "k"); err != nil || in.Waiting != 1 {
			t.Errorf("%d wait, want the one that has not left (%v)", in.Waiting, err)
		}
	})
}

// A waiter that is named by a minority asks within a third of its patience, however long the
// pauses of an outage may be.
func TestWaiterThatIsNamedKeepsToItsPatience(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{RetryMax: time.Hour, Patience: 3 * time.Second})
		if got := redlock.NamedPause(l); got > time.Second {
			t.Errorf("named by one node of three, it asks after %v", got)
		}
	})
}

// A node executes the acquire of a waiter that others have granted, and does not get the leaving
// that comes in the next pipeline: that is sent again, since the node may have kept a place.
func TestPlaceThatIsTakenBehindTheGrantIsTakenAway(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{Patience: time.Minute})
		other, othersLinks := api(w, redlock.Config{})
		connect(t, l)
		keptByNode3(t, other, othersLinks)
		links[2].Down.Delay(40 * time.Millisecond)
		var busy sync.WaitGroup
		ask := func(key string) { busy.Go(func() { _, _ = l.AcquireShared(t.Context(), key, time.Second) }) }
		ask("in flight")
		time.Sleep(10 * time.Millisecond)
		for range 511 { // with the acquire, as much as goes into one pipeline
			ask("behind it")
		}
		time.Sleep(5 * time.Millisecond)
		if _, err := l.AcquireFair(t.Context(), "k", 9*time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(45 * time.Millisecond) // until node 3 has executed that
		links[2].Up.Drop()
		time.Sleep(100 * time.Millisecond) // until it was sent the leaving
		othersLinks[2].Refuse(false)
		if in, err := other.Inspect(t.Context(), "k"); err != nil || in.Waiting != 1 {
			t.Fatalf("%d wait, want the one whose leaving was lost (%v)", in.Waiting, err)
		}
		links[2].Up.Free()
		links[2].Down.Delay(0)
		busy.Wait()
		time.Sleep(3 * time.Second)
		waitsNobody(t, other)
	})
}

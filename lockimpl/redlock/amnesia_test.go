package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// withAndWithoutHints runs test over n servers with hints on and off: hints
// hide a broken core.
func withAndWithoutHints(t *testing.T, n int, test func(t *testing.T, w *world.World, f lockimpl.Factory)) {
	for _, off := range []bool{false, true} {
		t.Run(fmt.Sprintf("hints=%v", !off), func(t *testing.T) {
			world.Run(t, n, func(t *testing.T, w *world.World) {
				test(t, w, redlock.NewFactory(redlock.Config{NoProposals: off, NoGossip: off}))
			})
		})
	}
}

// backWithin takes key again within limit and returns its token.
func backWithin(t *testing.T, l world.Lock, limit time.Duration) uint64 {
	t.Helper()
	for began := time.Now(); time.Since(began) < limit; time.Sleep(20 * time.Millisecond) {
		if lease, err := l.Acquire(t.Context(), "k", time.Second); err == nil {
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			return lease.Fence()
		}
	}
	t.Fatalf("not granted within %v", limit)
	return 0
}

func TestEmptyNodesOneAfterTheOtherKeepTokensGrowing(t *testing.T) {
	withAndWithoutHints(t, 5, func(t *testing.T, w *world.World, f lockimpl.Factory) {
		l, links := w.Client(f)
		var last uint64
		for round := range 6 {
			cut := links[round%5]
			cut.Refuse(true)
			cut.Cut()
			token := backWithin(t, l, time.Second)
			if token <= last {
				t.Errorf("round %d: token %d after %d", round, token, last)
			}
			last = token
			cut.Refuse(false)
			w.Forget((round+2)%5 + 1)
			if token = backWithin(t, l, time.Second); token <= last {
				t.Errorf("round %d: token %d after %d", round, token, last)
			}
			last = token
			time.Sleep(12 * time.Second) // the quarantine
		}
	})
}

func TestEmptyMajorityComesBackWithinAQuarantine(t *testing.T) {
	for _, lost := range []int{3, 5} {
		withAndWithoutHints(t, 5, func(t *testing.T, w *world.World, f lockimpl.Factory) {
			l, _ := w.Client(f)
			before := backWithin(t, l, time.Second)
			for server := 1; server <= lost; server++ {
				w.Forget(server)
			}
			if _, err := l.Acquire(t.Context(), "k", time.Second); !world.IsHeld(err) {
				t.Errorf("acquire of %d nodes of five: %v", 5-lost, err)
			}
			if after := backWithin(t, l, 12*time.Second); after <= before {
				t.Errorf("token %d after %d", after, before)
			}
		})
	}
}

func TestEmptySingleNodeComesBackWithinAQuarantine(t *testing.T) {
	withAndWithoutHints(t, 1, func(t *testing.T, w *world.World, f lockimpl.Factory) {
		l, _ := w.Client(f)
		before := backWithin(t, l, time.Second)
		w.Forget(1)
		if after := backWithin(t, l, 12*time.Second); after <= before {
			t.Errorf("token %d after %d", after, before)
		}
	})
}

func TestBootstrapRefusesASetThatLostSomething(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		w.Forget(2)
		l, _ := w.Client(full)
		if err := l.Bootstrap(t.Context()); err == nil {
			t.Error("admitted an empty node beside two that serve")
		}
	})
}

func TestClockJumpsAndPausesKeepTokensGrowing(t *testing.T) {
	withAndWithoutHints(t, 3, func(t *testing.T, w *world.World, f lockimpl.Factory) {
		a, b := w.Reach(f, 1, 2, 3), w.Reach(f, 1, 2, 3)
		first := w.Take(a, "k", 5*time.Second)
		for server := 1; server <= 3; server++ {
			w.Forward(server, time.Hour)
		}
		second := w.Take(b, "k", 5*time.Second)
		if !relied(first) || !relied(second) {
			t.Error("nodes whose clocks jump break the lock, and it has two holders at once: this shows only one")
		}
		if second.Fence() <= first.Fence() {
			t.Errorf("token %d after %d", second.Fence(), first.Fence())
		}
		if err := first.Extend(t.Context(), 5*time.Second); !errors.Is(err, lockimpl.ErrLost) {
			t.Errorf("extension across another's lease: %v, want ErrLost", err)
		}
	})
}

func TestBlackHoledNodeCostsNothingButItsVote(t *testing.T) {
	world.Run(t, 5, func(t *testing.T, w *world.World) {
		l, links := w.Client(full)
		warm(t, l)
		links[4].Up.Hold()
		began := time.Now()
		for range 100 {
			if err := take(t, l, "k", 5*time.Second).Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("100 pairs took %v of virtual time beside a black hole", took)
		}
		links[4].Up.Free()
		links[4].Cut()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if on := w.LeaseKeys(l, "k"); len(on) > 0 {
			t.Errorf("keys left on servers %v", on)
		}
	})
}

func TestNodeThatComesBackIsUsedAtOnce(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links := w.Client(full)
		warm(t, l)
		links[0].Refuse(true)
		links[0].Cut()
		synctest.Wait()
		for range 200 {
			if _, err := l.Acquire(t.Context(), "k", time.Second); !errors.Is(err, lockimpl.ErrNoQuorum) {
				t.Fatalf("acquire of a dead node: %v, want ErrNoQuorum", err)
			}
		}
		links[0].Refuse(false)
		began := time.Now()
		backWithin(t, l, time.Second)
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("used again after %v", took)
		}
	})
}

func TestNoKeyIsLeftAndHandOffsGoOnUnderContention(t *testing.T) {
	withAndWithoutHints(t, 5, func(t *testing.T, w *world.World, f lockimpl.Factory) {
		var wg sync.WaitGroup
		b := newBook()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var last world.Lock
		for i := range 16 {
			l, links := w.Client(f)
			last = l
			for j, link := range links {
				link.Up.Delay(time.Duration(100+(i*7+j*13)%50) * time.Microsecond)
			}
			links[4].Down.Delay(50 * time.Millisecond) // a slow node
			wg.Go(func() {
				for range 5 {
					asked := b.ask(fmt.Sprint("c", i), "k", false)
					lease, err := l.AcquireWait(ctx, "k", 5*time.Second)
					if err != nil {
						t.Error(err)
						return
					}
					h := b.granted(asked, "wait", lease)
					time.Sleep(100 * time.Microsecond)
					b.left("k", h)
					if err := lease.Release(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		began := time.Now()
		wg.Wait()
		if took := time.Since(began); took > 10*time.Second || b.total() != 80 {
			t.Errorf("%d grants in %v", b.total(), took)
		}
		if wrong := b.findings(); len(wrong) > 0 {
			t.Error(strings.Join(wrong, "\n"))
		}
		time.Sleep(time.Second)
		if on := w.LeaseKeys(last, "k"); len(on) > 0 {
			t.Errorf("keys left on servers %v", on)
		}
	})
}

// A node that comes back empty is seeded by a quorum of the others: fewer may not know the
// last tokens. It serves nobody until so many can be reached.
func TestEmptyNodeIsSeededByAQuorumOfOthers(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		before := w.Take(w.Reach(bare, 1, 2), "k", time.Second) // which node 3 knows nothing of
		w.Release(before)
		l, links := w.Client(bare)
		links[1].Refuse(true)
		w.Forget(1)
		for range 300 {
			if lease, err := l.Acquire(t.Context(), "k", time.Second); err == nil {
				t.Fatalf("token %d after %d, from a node that one other node seeded", lease.Fence(), before.Fence())
			}
			time.Sleep(100 * time.Millisecond)
		}
		links[1].Refuse(false)
		if after := backWithin(t, l, time.Second); after <= before.Fence() {
			t.Errorf("token %d after %d", after, before.Fence())
		}
	})
}

// Tokens may be ahead of the nodes' clocks, by as much as the clock of a client is. They grow
// also where everything is lost, and the quarantine is shorter than that.
func TestTokensGrowWhenAllIsLostWhileTheyAreAheadOfTheClock(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			const ttl = 500 * time.Millisecond
			ahead, _ := w.Client(redlock.NewFactory(redlock.Config{MaxTTL: ttl}))
			redlock.Propose(ahead, time.Now().Add(1900*time.Millisecond))
			before := w.Take(ahead, "k", ttl)
			w.Release(before)
			for server := range n {
				w.Forget(server + 1)
			}
			l, _ := w.Client(redlock.NewFactory(redlock.Config{MaxTTL: ttl, NoProposals: true}))
			began := time.Now()
			after, err := l.AcquireWait(t.Context(), "k", ttl)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 1500*time.Millisecond {
				t.Fatalf("the quarantine of %v took %v", ttl, took)
			}
			if after.Fence() <= before.Fence() {
				t.Errorf("%d nodes: token %d after %d", n, after.Fence(), before.Fence())
			}
			w.Release(after)
		})
	}
}

package redlock_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/memnet"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// Names that are used once and never again leave a bounded number of keys.
func TestNamesUsedOnceLeaveFewKeys(t *testing.T) {
	many := make([]string, 20_000)
	for i := range many {
		many[i] = fmt.Sprint("once-", i)
	}
	for where, c := range map[string]struct {
		nodes []lockimpl.Node
		names []string
		most  int
	}{
		"many":         {serverNodes(t, 1), many, redlock.Fences},
		"of one fence": {embeddedNodes(t, 3), redlock.SharingAFence(100), 1},
	} {
		t.Run(where, func(t *testing.T) {
			l := bootstrapped(t, c.nodes, patient)
			before := stored(t, c.nodes)
			takeOnce(t, l, c.names)
			if err := l.Close(); err != nil { // waits for what is under way
				t.Error(err)
			}
			if after, most := stored(t, c.nodes), before+int64(c.most*len(c.nodes)); after > most || before == 0 {
				t.Errorf("%d keys after %d names that were used once, want at most %d", after, len(c.names), most)
			}
		})
	}
}

// takeOnce takes and gives back each of names once.
func takeOnce(t *testing.T, l *redlock.Locker, names []string) {
	const at = 16
	var wg sync.WaitGroup
	for i := range at {
		wg.Go(func() {
			for j := i; j < len(names); j += at {
				lease, err := l.Acquire(t.Context(), names[j], 10*time.Second)
				if err == nil {
					err = lease.Release(t.Context())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// stored counts all keys of some servers.
func stored(t *testing.T, nodes []lockimpl.Node) (n int64) {
	for _, node := range nodes {
		rdb := redis.NewClient(&redis.Options{Addr: node.Addr})
		n += rdb.DBSize(t.Context()).Val()
		_ = rdb.Close()
	}
	return n
}

// A fence that has been deleted or evicted, or has never been there, takes no
// token back: the high-water mark of the node stands in for it.
func TestTokensGrowWhenFencesAreLost(t *testing.T) {
	for _, n := range []int{1, 3, 5} {
		withAndWithoutHints(t, n, func(t *testing.T, w *world.World, f lockimpl.Factory) {
			l, _ := w.Client(f)
			var last uint64
			for round := range 12 {
				if round%2 == 1 {
					for server := range n {
						w.LoseFences(server + 1)
					}
				} else {
					w.LoseFences(1 + round%n)
				}
				last = above(t, w, l, last)
			}
		})
	}
}

// Neither does the loss of fences let anybody else in.
func TestLossOfFencesFreesNothing(t *testing.T) {
	withAndWithoutHints(t, 3, func(t *testing.T, w *world.World, f lockimpl.Factory) {
		a, _ := w.Client(f)
		b, _ := w.Client(f)
		held := w.Take(a, "k", 5*time.Second)
		for server := range 3 {
			w.LoseFences(server + 1)
		}
		for name, acquire := range map[string]func() (lockimpl.Lease, error){
			"acquire": func() (lockimpl.Lease, error) { return b.Acquire(t.Context(), "k", time.Second) },
			"shared":  func() (lockimpl.Lease, error) { return b.AcquireShared(t.Context(), "k", time.Second) },
		} {
			if _, err := acquire(); !errors.Is(err, lockimpl.ErrHeld) {
				t.Errorf("%s: %v, want ErrHeld", name, err)
			}
		}
		if err := held.Extend(t.Context(), 5*time.Second); err != nil {
			t.Error(err)
		}
		w.Release(held)
	})
}

// above takes and gives back a key as a writer, as two readers and as a writer
// again, and returns the last token.
func above(t *testing.T, w *world.World, l world.Lock, last uint64) uint64 {
	t.Helper()
	first := w.Take(l, "k", time.Second)
	w.Release(first)
	var readers []lockimpl.Lease
	for range 2 {
		reader, err := l.AcquireShared(t.Context(), "k", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, reader)
	}
	for _, reader := range readers {
		if reader.Fence() <= first.Fence() {
			t.Errorf("a reader's token %d after a writer's %d", reader.Fence(), first.Fence())
		}
		w.Release(reader)
	}
	second := w.Take(l, "k", time.Second)
	w.Release(second)
	if first.Fence() <= last || second.Fence() <= max(readers[0].Fence(), readers[1].Fence()) {
		t.Errorf("tokens %d, readers %d and %d, %d, after %d", first.Fence(), readers[0].Fence(), readers[1].Fence(), second.Fence(), last)
	}
	return second.Fence()
}

// Fences that are lost while an attempt is under way, before its write-back.
func TestTokensGrowWhenFencesAreLostInAnAttempt(t *testing.T) {
	withAndWithoutHints(t, 3, func(t *testing.T, w *world.World, f lockimpl.Factory) {
		l, links := w.Client(f)
		before := w.Take(l, "k", time.Second)
		w.Release(before)
		links[0].Down.Hold()
		links[1].Down.Hold()
		links[2].Down.Hold()
		tokens := make(chan uint64, 1)
		go func() {
			lease, err := l.Acquire(t.Context(), "k", time.Second)
			if err != nil {
				t.Error(err)
				tokens <- 0
				return
			}
			w.Release(lease)
			tokens <- lease.Fence()
		}()
		time.Sleep(50 * time.Millisecond) // every node has granted
		for server := range 3 {
			w.LoseFences(server + 1)
		}
		for _, link := range links {
			link.Down.Free()
		}
		token := <-tokens
		if token <= before.Fence() {
			t.Errorf("token %d after %d", token, before.Fence())
		}
		if after := w.Take(l, "k", time.Second); after.Fence() <= token {
			t.Errorf("token %d after %d", after.Fence(), token)
		}
	})
}

// Locks that share a fence keep their tokens in order, and exclude nobody.
func TestLocksThatShareAFence(t *testing.T) {
	withAndWithoutHints(t, 3, func(t *testing.T, w *world.World, f lockimpl.Factory) {
		l, _ := w.Client(f)
		names := redlock.SharingAFence(2)
		reader, err := l.AcquireShared(t.Context(), names[0], 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var last uint64
		for range 5 {
			writer := w.Take(l, names[1], 5*time.Second)
			if writer.Fence() <= last {
				t.Errorf("token %d after %d", writer.Fence(), last)
			}
			last = writer.Fence()
			w.Release(writer)
		}
		if err := reader.Extend(t.Context(), 5*time.Second); err != nil {
			t.Error(err)
		}
		w.Release(reader)
		if writer := w.Take(l, names[0], 5*time.Second); writer.Fence() <= reader.Fence() {
			t.Errorf("token %d after a reader's %d", writer.Fence(), reader.Fence())
		}
	})
}

// A reader whose write-back is overtaken, on one node, by a writer of another lock that shares
// its fence takes a token above that writer's. The node has to keep it before it counts: the
// next writer would be issued it again.
func TestWriterOfAnotherLockOvertakesAReadersWriteBack(t *testing.T) {
	overtaken(t, func(w *world.World, links []*memnet.Link, l world.Lock, key string, read func() lockimpl.Lease) {
		links[2].Refuse(true)
		links[1].Up.Free()
		lease := read()
		w.Release(lease)
		writer := w.Take(w.Reach(bare, 2, 3), key, time.Second)
		if writer.Fence() <= lease.Fence() {
			t.Errorf("a writer's token %d after a reader's %d", writer.Fence(), lease.Fence())
		}
		w.Release(writer)
	})
}

// The third node may have made that token obsolete when the answer comes: the node that gives it has
// the lease all the same, and has to be told when that is given back.
func TestLateAnswerToAnOlderWriteBackKeepsTheNode(t *testing.T) {
	overtaken(t, func(w *world.World, links []*memnet.Link, l world.Lock, key string, read func() lockimpl.Lease) {
		links[2].Up.Free()
		lease := read()
		links[1].Up.Free()
		time.Sleep(20 * time.Millisecond)
		w.Release(lease)
		if on := w.LeaseKeys(l, key); len(on) > 0 {
			t.Errorf("a lease that was given back is on %v", on)
		}
	})
}

// bare has nothing that makes nodes agree by itself.
var bare = redlock.NewFactory(redlock.Config{NoProposals: true, NoGossip: true})

// overtaken has a reader of key granted by nodes 1 and 2, which disagree, and holds up its
// write-back to node 2, and all that it sends to node 3, while both are used by a writer of another
// lock with the same fence. read returns the lease, when it is granted.
func overtaken(t *testing.T, then func(w *world.World, links []*memnet.Link, l world.Lock, key string, read func() lockimpl.Lease)) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		names := redlock.SharingAFence(2)
		key, other := names[0], names[1]
		w.Release(w.Take(w.Reach(bare, 1, 3), other, time.Second)) // node 1 is ahead of node 2
		l, links := w.Client(bare)
		links[2].Up.Hold()
		links[0].Down.Hold() // node 2 is heard first
		got := make(chan lockimpl.Lease, 1)
		go func() {
			defer close(got)
			if lease, err := l.AcquireShared(t.Context(), key, 5*time.Second); err != nil {
				t.Error(err)
			} else {
				got <- lease
			}
		}()
		time.Sleep(20 * time.Millisecond)
		links[1].Up.Hold() // the write-back
		links[0].Down.Free()
		time.Sleep(20 * time.Millisecond)
		w.Release(w.Take(w.Reach(bare, 2, 3), other, time.Second))
		then(w, links, l, key, func() lockimpl.Lease {
			lease, ok := <-got
			if !ok {
				t.FailNow()
			}
			synctest.Wait()
			return lease
		})
	})
}

// spend has one server alone issue so many tokens for k, in attempts that fail. Each is of a
// client of its own: one whose other nodes are known to be away gives up without waiting for
// this one.
func spend(t *testing.T, w *world.World, server, tokens int) {
	t.Helper()
	for range tokens {
		l, links := w.Client(bare)
		for i, link := range links {
			if i != server-1 {
				link.Up.Drop()
			}
		}
		if _, err := l.Acquire(t.Context(), "k", time.Second); err == nil {
			t.Fatal("granted by one of three nodes")
		}
		time.Sleep(50 * time.Millisecond)
		if on := w.LeaseKeys(l, "k"); len(on) > 0 {
			t.Fatalf("an attempt that failed is on %v", on)
		}
	}
}

// A node that has stored a token counts for no later one: when a node that is heard late takes
// the token further, every other has to store it again.
func TestNodeThatStoredAnOlderTokenDoesNotCount(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		spend(t, w, 2, 1) // node 2 is ahead of node 1, and node 3 of both
		spend(t, w, 3, 5)
		l, links := w.Client(bare)
		links[2].Up.Hold()
		links[1].Down.Hold() // node 1 is heard first
		got := make(chan lockimpl.Lease, 1)
		go func() {
			lease, _ := l.Acquire(t.Context(), "k", time.Second)
			got <- lease
		}()
		time.Sleep(20 * time.Millisecond)
		links[0].Down.Hold() // it stores the token of node 2, and is not heard
		links[1].Down.Free()
		time.Sleep(20 * time.Millisecond)
		links[0].Up.Drop() // nor is either told of the token of node 3
		links[1].Up.Drop()
		links[2].Up.Free()
		time.Sleep(20 * time.Millisecond)
		links[0].Down.Free()
		lease := <-got
		time.Sleep(2 * time.Second) // what was granted has ended
		next := w.Take(w.Reach(bare, 1, 2), "k", time.Second)
		if lease != nil && next.Fence() <= lease.Fence() {
			t.Errorf("token %d after %d", next.Fence(), lease.Fence())
		}
		w.Release(next)
	})
}

// A lease counts only nodes that keep its token, a reader's as a writer's: whoever comes next is
// above it, whichever nodes grant that.
func TestNodesThatDisagreeStoreTheToken(t *testing.T) {
	for _, shared := range []bool{false, true} {
		world.Run(t, 3, func(t *testing.T, w *world.World) {
			spend(t, w, 1, 3) // node 1 is ahead of the others
			first := w.Reach(bare, 1, 2)
			acquire := first.Acquire
			if shared {
				acquire = first.AcquireShared
			}
			lease, err := acquire(t.Context(), "k", time.Second)
			if err != nil {
				t.Fatal(err)
			}
			w.Release(lease)
			next := w.Take(w.Reach(bare, 2, 3), "k", time.Second)
			if next.Fence() <= lease.Fence() {
				t.Errorf("shared %v: token %d after %d", shared, next.Fence(), lease.Fence())
			}
			w.Release(next)
		})
	}
}

// A node on which a writer of another lock has overtaken the reader's token, and that says so
// when the lease is granted, has it all the same, and is told when it is given back.
func TestNodeThatOvertookTheTokenIsToldOfTheRelease(t *testing.T) {
	overtaken(t, func(w *world.World, links []*memnet.Link, l world.Lock, key string, read func() lockimpl.Lease) {
		links[2].Up.Free()
		lease := read()
		w.Release(w.Take(w.Reach(bare, 1, 2), redlock.SharingAFence(2)[1], time.Second))
		links[1].Up.Free()
		time.Sleep(20 * time.Millisecond)
		w.Release(lease)
		if on := w.LeaseKeys(l, key); len(on) > 0 {
			t.Errorf("a lease that was given back is on %v", on)
		}
	})
}

// Neither does a node keep the lease that refused to store the token, and had granted before.
func TestNodeThatRefusesTheTokenIsToldOfTheRelease(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		spend(t, w, 1, 1)
		l, links := w.Client(bare)
		links[2].Refuse(true)
		links[0].Down.Hold() // node 2 is heard first
		done := make(chan error, 1)
		go func() {
			_, err := l.Acquire(t.Context(), "k", 9*time.Second)
			done <- err
		}()
		time.Sleep(20 * time.Millisecond)
		w.Fail(2, "OOM command not allowed when used memory > 'maxmemory'")
		links[0].Down.Free()
		if err := <-done; err == nil {
			t.Fatal("granted with a token that one node stores")
		}
		w.Fail(2, "")
		time.Sleep(time.Second)
		if on := w.LeaseKeys(l, "k"); len(on) > 0 {
			t.Errorf("an attempt that failed is on %v", on)
		}
	})
}

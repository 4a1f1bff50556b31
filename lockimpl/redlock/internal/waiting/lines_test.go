package waiting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

// rung returns which wakers ring, and has them ring no more.
func rung(all []*Waker) (which []int) {
	for i, w := range all {
		select {
		case <-w.bell:
			which = append(which, i)
		default:
		}
		if len(w.bell) > 0 {
			which = append(which, -1) // it rang twice
		}
	}
	return which
}

// A release nearby rings the next of those who contend, and nobody behind it: a line of n
// would cost n attempts for each hand-over. When that one leaves, it is the turn of the next.
func TestReleaseRingsTheNextInTheLineAlone(t *testing.T) {
	var q Lines
	q.Poke("k") // nobody contends
	var all []*Waker
	var leave []func()
	for i := range 4 {
		w := NewWaker(1)
		all, leave = append(all, w), append(leave, q.Join("k", fmt.Sprint("x:c:", i), w))
	}
	other := NewWaker(1)
	defer q.Join("other", "x:c:other", other)()
	for first := range all {
		q.Poke("k")
		if got := rung(all); !slices.Equal(got, []int{first}) {
			t.Errorf("with %d gone: %v were rung", first, got)
		}
		leave[first]()
	}
	q.Poke("k")
	q.RingAll("k")
	if got := rung(append(all, other)); got != nil {
		t.Errorf("with all gone: %v were rung", got)
	}
	q.RingAll("other")
	if got := rung(append(all, other)); !slices.Equal(got, []int{4}) {
		t.Errorf("all of the other key: %v were rung", got)
	}
}

// An askedLease notes whether it was asked by lines that hold their mutex.
type askedLease struct {
	q      *Lines
	lost   chan struct{}
	asked  int
	locked bool
}

func (a *askedLease) Lost() <-chan struct{} {
	a.asked++
	if a.q.mu.TryLock() {
		a.q.mu.Unlock()
	} else {
		a.locked = true
	}
	return a.lost
}

func (a *askedLease) AwaitReleaseSent() { a.Lost() }

// A lease that is given back rings the lines with its own mutex held: were it asked by lines
// that hold theirs, each would wait for the other.
func TestLinesAskNoLeaseWithTheirMutexHeld(t *testing.T) {
	for name, given := range map[string]bool{"a wait that ends": false, "a wait whose turn comes": true} {
		synctest.Test(t, func(t *testing.T) {
			var q Lines
			leave, err := q.Enter(t.Context(), "k")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				leave, err := q.Enter(ctx, "k")
				if err == nil {
					leave(nil)
				}
				ended <- err
			}()
			synctest.Wait()
			lease := &askedLease{q: &q, lost: make(chan struct{})}
			leave(lease)
			synctest.Wait()
			if given {
				close(lease.lost)
			} else {
				cancel()
			}
			if err := <-ended; given != (err == nil) || !given && !errors.As(err, new(*Ended)) {
				t.Errorf("%s: %v", name, err)
			}
			if lease.asked < 2 || lease.locked {
				t.Errorf("%s: asked %d times, with the mutex held: %t", name, lease.asked, lease.locked)
			}
		})
	}
}

// Who waits behind a lease of its own client, and whose context ends, is told what the nodes have
// said since then to another of the client who asked: that holds more than the lease of before.
func TestWhoWaitsBehindALeaseIsToldWhatWasSaidSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Lines
		leave, err := q.Enter(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { _, err := q.Enter(ctx, "k"); ended <- err }()
		synctest.Wait()
		leave(&askedLease{q: &q, lost: make(chan struct{})})
		synctest.Wait()
		said := errors.New("nobody answers")
		q.Note("k", said)
		cancel()
		var told *Ended
		if err := <-ended; !errors.As(err, &told) || told.Granted || told.Last != said {
			t.Errorf("%+v", err)
		}
	})
}

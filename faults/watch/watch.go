// Package watch follows a history as it is recorded: who holds what, who waits,
// and which life-cycle events of the lock have just happened.
package watch

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// An Observer follows a history as it is recorded: who holds what, who waits, and
// which life-cycle events of the lock have just happened. It is a
// history.Sink and never blocks the recorder.
type Observer struct {
	mu      sync.Mutex
	now     time.Duration // of the last event
	leases  *fold.Holdings
	done    map[string]int // operations that have ended, by owner
	refused map[string]refusal
	busy    map[string]bool // keys of which the last answer was not that they were given back
	subs    map[*subscription]struct{}
	changed chan struct{} // closed and replaced whenever a holding begins, moves or ends
}

// A Holding is one lease as its owner was told of it. Times are history times.
type Holding = fold.Holding

// A Waiter is an acquire under way.
type Waiter struct {
	Key     string
	Owner   string
	Process int
	Mode    history.Mode
	Since   time.Duration
}

// A refusal is the latest answer of no to somebody who had asked for a key.
type refusal struct {
	owner string
	at    time.Duration
}

// asksAgain is how soon whoever was refused a key asks again, mostly.
const asksAgain = 100 * time.Millisecond

type subscription struct {
	match func(Occasion) bool
	hit   chan Occasion
}

// New returns an Observer of an empty history.
func New() *Observer {
	return &Observer{
		leases:  fold.NewHoldings(history.Header{}),
		done:    map[string]int{},
		refused: map[string]refusal{},
		busy:    map[string]bool{},
		subs:    map[*subscription]struct{}{},
		changed: make(chan struct{}),
	}
}

// Subscribe returns a channel that gets the first occasion that matches, and a
// function to end the subscription. match runs inside the recorder: it must
// be quick and must not call the Observer.
func (w *Observer) Subscribe(match func(Occasion) bool) (<-chan Occasion, func()) {
	s := &subscription{match: match, hit: make(chan Occasion, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.subs[s] = struct{}{}
	return s.hit, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.subs, s)
	}
}

func (w *Observer) signal() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// Changed returns a channel that is closed when any holding next begins, moves
// or ends.
func (w *Observer) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// Holders returns every holding in the order of their grants: leases whose
// owner has neither sent a release nor been told of a loss. Its validity may
// be over.
func (w *Observer) Holders() []Holding { return w.Holder() }

// Holder returns the holdings of the given keys, or of all keys when none is
// given, in the order of their grants.
func (w *Observer) Holder(keys ...string) []Holding {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []Holding
	for _, h := range w.leases.All() {
		if len(keys) == 0 || slices.Contains(keys, h.Key) {
			all = append(all, *h)
		}
	}
	return all
}

// Waiters returns the acquires under way, the longest waiting first.
func (w *Observer) Waiters() []Waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []Waiter
	for op := range w.leases.Open {
		if op.Op == history.Acquire {
			all = append(all, Waiter{Key: op.Key, Owner: op.Owner, Process: op.Process, Mode: op.Mode, Since: op.Began})
		}
	}
	slices.SortFunc(all, func(a, b Waiter) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Process, b.Process))
	})
	return all
}

// Asked reports whether one of those whom by names asks for key: an acquire is under way, or was
// refused just now.
func (w *Observer) Asked(key string, by func(owner string) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for op := range w.leases.Open {
		if op.Op == history.Acquire && op.Key == key && by(op.Owner) {
			return true
		}
	}
	r, was := w.refused[key]
	return was && w.now-r.at <= asksAgain && by(r.owner)
}

// Underway reports whether one of those whom by names has such an operation under way, of which key, and when that
// began; of acquires, one of a key that nobody is known to hold. Of several it is the first.
func (w *Observer) Underway(op history.Op, by func(owner string) bool) (key string, began time.Duration, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	process := 0
	for o := range w.leases.Open {
		isFirst := !is || o.Began < began || o.Began == began && o.Process < process
		if o.Op == op && isFirst && (op != history.Acquire || w.isFree(o.Key)) && by(o.Owner) {
			key, began, process, is = o.Key, o.Began, o.Process, true
		}
	}
	return key, began, is
}

// isFree reports whether a key is free as far as is known: where its last holder was not heard of any
// more, a server may keep the lease.
func (w *Observer) isFree(key string) bool { return !w.busy[key] && len(w.leases.Of(key)) == 0 }

// Track returns a function that tells how the holding with the given grant
// stands, also after it has ended.
func (w *Observer) Track(h Holding) func() Holding {
	w.mu.Lock()
	defer w.mu.Unlock()
	live := w.leases.Find(h.Key, h.Owner)
	if live == nil || live.Grant != h.Grant {
		return func() Holding { return h }
	}
	return func() Holding {
		w.mu.Lock()
		defer w.mu.Unlock()
		return *live
	}
}

// Forget ends the holdings of owners that are no more.
func (w *Observer) Forget(gone func(owner string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases.Crash(gone, w.now)
	w.signal()
}

// CountEnded counts the completed operations of the owners for which of is true.
func (w *Observer) CountEnded(of func(owner string) bool) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for owner, count := range w.done {
		if of(owner) {
			n += count
		}
	}
	return n
}

// AtWork reports whether one of some owners has an operation under way, or
// holds a lease.
func (w *Observer) AtWork(of func(owner string) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for op := range w.leases.Open {
		if of(op.Owner) {
			return true
		}
	}
	return slices.ContainsFunc(w.leases.All(), func(h *Holding) bool { return of(h.Owner) })
}

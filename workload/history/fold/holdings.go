package fold

import (
	"cmp"
	"slices"
	"time"

	"locktorture/workload/history"
)

// maxHolders bounds how many leases of one key are remembered; what a broken lock
// gives away beyond that ends the oldest.
const maxHolders = 64

// A Holding is one lease as its owner was told of it. Times are history times.
type Holding struct {
	Grant      int // index of the acquire's ok
	Key        string
	Owner      string
	Process    int // that acquired it
	Mode       history.Mode
	Fence      uint64
	Began      time.Duration // when the acquire began
	Since      time.Duration // when its owner was told
	Renewed    time.Duration // of the grant or its last extension, as told
	ValidUntil time.Duration // as the lock promised; 0 where it promised nothing
	Deadline   time.Duration // ValidUntil, or else what the header's TTL and drift say
	Depth      int           // how often it is held by one owner: 1, more after re-entries
	Writes     int           // confirmed
	LastWrite  time.Duration // 0 without any

	// EndedBy is what ended it: Release (sent), Lost (told, or an extension
	// refused), Acquire (a later grant, after the deadline or to the same owner),
	// Fault (its client crashed), or zero while it lasts.
	EndedBy  history.Op
	Ended    time.Duration
	Released time.Duration // when its release was answered; 0 while it was not
}

// A Change says which operation an event begins or completes, and what that did to
// a lease: nothing where Step is zero.
type Change struct {
	Operation
	Step    Step
	Holding *Holding   // whose; the fold's own, valid and kept up to date for as long as it lasts
	Over    []*Holding // of a grant: those of the key that it found over
}

// A Step is what happened to a lease.
type Step int

// The steps.
const (
	Granted Step = iota + 1
	Reentered
	Extended
	Wrote    // a confirmed write
	Left     // an inner release of a re-entrant lease
	Over     // released or lost
	Answered // the release of one that is over
)

// Holdings follows who holds what.
type Holdings struct {
	header   history.Header
	ops      Operations
	keys     map[string][]*Holding // in the order of their grants
	released map[int]*Holding      // whose release is not answered, by process
}

// NewHoldings follows the history that h opens. Only its TTL and drift matter, for
// grants that promise no deadline.
func NewHoldings(h history.Header) *Holdings {
	return &Holdings{header: h, keys: map[string][]*Holding{}, released: map[int]*Holding{}}
}

// Event takes the next event.
func (h *Holdings) Event(e *history.Event) Change {
	op, ok := h.ops.Event(e)
	if !ok {
		return Change{}
	}
	c := h.change(e, op)
	c.Operation = op
	return c
}

func (h *Holdings) change(e *history.Event, op Operation) Change {
	one := h.Find(e.Key, e.Owner)
	switch {
	case e.Op == history.Acquire && e.Kind == history.OK:
		return h.grant(e, op, one)
	case e.Op == history.Release:
		return h.release(e, one)
	case one == nil:
	case e.Op == history.Lost, e.Op == history.Extend && e.Kind == history.Fail:
		return h.close(one, history.Lost, e.Time)
	case e.Op == history.Extend && e.Kind == history.OK:
		one.Renewed = e.Time
		one.ValidUntil, one.Deadline = h.promise(e, op)
		return Change{Step: Extended, Holding: one}
	case e.Op == history.Write && e.Kind == history.OK:
		one.Writes++
		one.LastWrite = e.Time
		return Change{Step: Wrote, Holding: one}
	}
	return Change{}
}

// promise is until when a grant or an extension lasts: as told, and as far as is
// known.
func (h *Holdings) promise(e *history.Event, op Operation) (told, deadline time.Duration) {
	if e.HasAll(history.HasValidUntil) {
		return e.ValidUntil, e.ValidUntil
	}
	return 0, op.Began + h.header.TTL - h.header.Drift
}

// grant begins a lease, or deepens the one that its owner re-enters. Those that
// are over by then end with it.
func (h *Holdings) grant(e *history.Event, op Operation, own *Holding) Change {
	told, deadline := h.promise(e, op)
	if own != nil && own.Fence == e.Fence && (own.Deadline > e.Time || e.Fence != 0) {
		own.Depth++
		own.Deadline = max(own.Deadline, deadline)
		own.ValidUntil = max(own.ValidUntil, told)
		return Change{Step: Reentered, Holding: own}
	}
	c := Change{Step: Granted, Holding: &Holding{
		Grant: e.Index, Key: e.Key, Owner: e.Owner, Process: e.Process, Mode: e.Mode, Fence: e.Fence,
		Began: op.Began, Since: e.Time, Renewed: e.Time, ValidUntil: told, Deadline: deadline, Depth: 1,
	}}
	rest := h.keys[e.Key][:0]
	for i, x := range h.keys[e.Key] {
		expired := x.Deadline < e.Time && (x.ValidUntil != 0 || !shared(x, e))
		if x == own || expired || i < len(h.keys[e.Key])-maxHolders+1 {
			x.EndedBy, x.Ended = history.Acquire, e.Time
			c.Over = append(c.Over, x)
			continue
		}
		rest = append(rest, x)
	}
	h.keys[e.Key] = append(rest, c.Holding)
	return c
}

// shared says whether a lease and the grant that e tells of may be held together.
func shared(x *Holding, e *history.Event) bool {
	return x.Mode == history.Shared && e.Mode == history.Shared
}

// release ends a lease, or one level of it, when its release is sent.
func (h *Holdings) release(e *history.Event, one *Holding) Change {
	if e.Kind != history.Invoke {
		was := h.released[e.Process]
		if was == nil {
			return Change{}
		}
		delete(h.released, e.Process)
		was.Released = e.Time
		return Change{Step: Answered, Holding: was}
	}
	switch {
	case one == nil:
		return Change{}
	case one.Depth > 1:
		one.Depth--
		return Change{Step: Left, Holding: one}
	}
	h.released[e.Process] = one
	return h.close(one, history.Release, e.Time)
}

func (h *Holdings) close(one *Holding, by history.Op, at time.Duration) Change {
	one.EndedBy, one.Ended = by, at
	h.keys[one.Key] = slices.DeleteFunc(h.keys[one.Key], func(x *Holding) bool { return x == one })
	return Change{Step: Over, Holding: one}
}

// Crash ends the leases of owners that are no more, at a time.
func (h *Holdings) Crash(gone func(owner string) bool, at time.Duration) {
	for _, one := range h.All() {
		if gone(one.Owner) {
			h.close(one, history.Fault, at)
		}
	}
}

// Find returns the lease that an owner holds on a key; nil without one.
func (h *Holdings) Find(key, owner string) *Holding {
	for _, x := range h.keys[key] {
		if x.Owner == owner {
			return x
		}
	}
	return nil
}

// Of returns the leases of a key in the order of their grants: those whose owner
// has neither sent a release nor been told of a loss. Their deadline may be over.
func (h *Holdings) Of(key string) []*Holding { return h.keys[key] }

// All returns the leases of all keys in the order of their grants.
func (h *Holdings) All() (all []*Holding) {
	for _, of := range h.keys {
		all = append(all, of...)
	}
	slices.SortFunc(all, func(a, b *Holding) int { return cmp.Compare(a.Grant, b.Grant) })
	return all
}

// Keys counts the keys that were granted so far.
func (h *Holdings) Keys() int { return len(h.keys) }

// Held counts the keys that somebody holds at a time, by its deadline.
func (h *Holdings) Held(at time.Duration) (n int) {
	for _, of := range h.keys {
		if slices.ContainsFunc(of, func(x *Holding) bool { return x.Deadline > at }) {
			n++
		}
	}
	return n
}

// Open goes through the operations under way, in no order.
func (h *Holdings) Open(yield func(Operation) bool) { h.ops.Open(yield) }

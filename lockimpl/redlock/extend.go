package redlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/redlock/internal/node"
	"locktorture/lockimpl/redlock/internal/script"
)

// Extend renews the lease for ttl from now. It never shortens a lease, never creates a key that
// has gone, and counts only while the old validity has not run out: a late
// success cannot revive a lease. After an error other than ErrLost the old
// deadline still stands.
func (e *lease) Extend(ctx context.Context, ttl time.Duration) error {
	if ctx == nil {
		return fmt.Errorf("extend %s: %w: nil context", shown(e.a.k.Name), ErrMisconfigured)
	}
	if err := e.l.checkTTL(ttl); err != nil {
		return fmt.Errorf("extend %s: %w", shown(e.a.k.Name), err)
	}
	if e.l.closed.Load() {
		return fmt.Errorf("extend %s: %w", shown(e.a.k.Name), e.closedOrLost())
	}
	if err := e.beginRound(ctx); err != nil {
		return fmt.Errorf("extend %s: %w", shown(e.a.k.Name), err)
	}
	defer e.endRound()
	r := e.newRound(ttl)
	if r == nil {
		return fmt.Errorf("extend %s: %w", shown(e.a.k.Name), e.over())
	}
	e.l.flush(e.l.everyNode())
	return e.conclude(r, r.wait(ctx))
}

// over is what is told of a lease that is asked for more when it has ended.
func (e *lease) over() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.overBy()
}

// overBy is over for those who hold mu.
func (e *lease) overBy() error {
	if errors.Is(e.cause, ErrReleased) {
		return errGivenBack
	}
	return e.cause
}

// closedOrLost is what is told of the lease once the lock is closed, and nodes cannot be asked.
func (e *lease) closedOrLost() error {
	if errors.Is(e.why(), lockimpl.ErrLost) {
		return lockimpl.ErrLost
	}
	return ErrClosed
}

// beginRound waits until no round is under way, or until ctx ends.
func (e *lease) beginRound(ctx context.Context) error {
	for {
		other := e.claimRound()
		if other == nil {
			return nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// claimRound begins a round, or returns what ends when the present one does.
func (e *lease) claimRound() (other chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.rounding != nil {
		return e.rounding
	}
	e.rounding = make(chan struct{})
	return nil
}

// tryRound begins a round unless one is under way.
func (e *lease) tryRound() bool { return e.claimRound() == nil }

func (e *lease) endRound() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.rounding)
	e.rounding = nil
}

// A round asks every node to extend the lease.
type round struct {
	e     *lease
	ttl   time.Duration
	start time.Time
	limit time.Time // no answer after it counts: the old deadline

	counted uint64 // nodes whose answers count, as bits

	mu       sync.Mutex
	extended int
	gone     int // nodes on which the lease is not ours any more
	open     int
	ended    bool
	done     chan struct{}
	over     bool
	repairs  bool // it succeeded: nodes that turn out to lack the lease get it again
	calls    []renewCall
}

// A renewCall asks one node. It counts when the node had granted the lease
// before the round: what it grants in the round itself says nothing about the
// time before, in which others may have held the key. Neither does it in the next
// one, unless the round succeeded without it.
type renewCall struct {
	*round
	i        int
	counts   bool
	absent   bool // the node has no such key
	answered bool
	err      error // of the node, on which the lease is as it was
}

// newRound puts a round to the nodes, unless the lease is over; a Flush sends it.
func (e *lease) newRound(ttl time.Duration) *round {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.alive() {
		e.end()
		e.sendRelease()
		return nil
	}
	r := &round{
		e: e, ttl: ttl, start: time.Now(), limit: e.until,
		open: len(e.l.nodes), done: make(chan struct{}),
		calls: make([]renewCall, len(e.l.nodes)),
	}
	if t := r.start.Add(ttl + e.l.cfg.NodeTimeout); t.After(e.expires) {
		e.expires = t
	}
	r.counted = e.a.mine() & e.mayCount
	e.a.sendRest()
	e.l.work.Add(len(r.calls))
	for i := range r.calls {
		r.calls[i] = renewCall{round: r, i: i, counts: r.counted>>i&1 == 1}
		e.l.nodes[i].Put(&r.calls[i])
	}
	return r
}

// wait returns when a quorum extended, when none is possible any more, or
// when the time is over.
func (r *round) wait(ctx context.Context) error {
	return r.e.l.within(ctx, min(r.e.l.cfg.NodeTimeout, time.Until(r.limit)), r.done)
}

// within waits for done: no longer than d, and not beyond ctx.
func (l *Lock) within(ctx context.Context, d time.Duration, done <-chan struct{}) error {
	select {
	case <-done:
		return nil // without a timer
	default:
	}
	limit, _ := l.timers.Get().(*time.Timer)
	if limit == nil {
		limit = time.NewTimer(d)
	} else {
		limit.Reset(d)
	}
	defer func() {
		limit.Stop()
		l.timers.Put(limit)
	}()
	select {
	case <-done:
		return nil
	case <-limit.C:
		return errTimeout
	case <-ctx.Done():
		return ctx.Err()
	}
}

// conclude turns the answers of a round into what it means for the lease.
func (e *lease) conclude(r *round, cause error) error {
	r.mu.Lock()
	r.over = true
	extended, gone := r.extended, r.gone
	r.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	quorum := e.l.quorum
	switch {
	case gone > len(e.l.nodes)-quorum && extended < quorum:
		// What is left of it stays until its release or its end: nobody else is
		// let in before the deadline that the holder was told.
		e.endBy("too many nodes have it no more")
		return fmt.Errorf("extend %s: %w", shown(e.a.k.Name), e.overBy())
	case !e.alive():
		e.end()
		e.sendRelease()
		return fmt.Errorf("extend %s: %w", shown(e.a.k.Name), e.overBy())
	case extended >= quorum:
		e.moveTo(r)
		for _, c := range r.lacking() {
			e.repair(c)
		}
		return nil
	default:
		e.mayCount = r.counted
		return fmt.Errorf("extend %s: %d of %d nodes confirmed: %w",
			shown(e.a.k.Name), extended, quorum, joined(ErrUnknown, append(r.reasons(), cause)...))
	}
}

// reasons returns what kept the nodes from extending.
func (r *round) reasons() (all []error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.calls {
		c := &r.calls[i]
		if !c.answered {
			c.err = c.e.l.of(i, c.e.l.nodes[i].Trouble())
		}
		all = append(all, c.err)
	}
	return all
}

// moveTo moves the deadline to that of a successful round. mu is held.
func (e *lease) moveTo(r *round) {
	e.mayCount = e.l.everyNode()
	if until := r.start.Add(validity(r.ttl)); until.After(e.until) {
		e.ttl = r.ttl
		e.began, e.wall, e.until = r.start, r.start.Round(0), until
	}
}

// Encode implements node.Call.
func (c *renewCall) Encode(w *node.Writer) {
	a, k := c.e.a, c.e.a.k
	gossip := int64(c.e.fence)
	if a.l.cfg.NoGossip {
		gossip = 0
	}
	if a.r.shared {
		w.Script(script.RenewShared, 4)
		w.Refs(&k.Node, &k.Lock, &k.Fence, &k.Readers)
	} else {
		w.Script(script.Renew, 3)
		w.Refs(&k.Node, &k.Lock, &k.Fence)
	}
	w.Ref(&a.owner)
	w.Run()
	w.Int(c.ttl.Milliseconds())
	w.Int(gossip)
}

// Wanted implements node.Call: a renewal that nobody waits for would only
// lengthen the life of keys.
func (c *renewCall) Wanted(bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.over || c.ended
}

// Answer implements node.Call.
func (c *renewCall) Answer(r node.Reply) {
	defer c.e.l.work.Add(-1)
	said := r.Int()
	if r.Outcome == node.Executed {
		c.e.a.noteRenewal(c.i, said)
	}
	if c.note(r, said) { // the round has succeeded without this answer
		c.e.mu.Lock()
		defer c.e.mu.Unlock()
		if c.e.alive() {
			c.e.repair(c)
		}
	}
}

// note counts the answer, and reports whether the node is to be repaired by whoever notes it.
func (c *renewCall) note(r node.Reply, said int64) (repair bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	c.answered = true
	switch {
	case r.Outcome != node.Executed:
		c.err = c.e.l.of(c.i, r.Err)
	case said == 1 && c.counts:
		c.extended++
	case said == 1:
	case said == -3:
		c.err = c.e.l.tooLong(c.i, r.At(1))
	default:
		c.gone++
		c.absent = said == 0
		if said == -2 {
			c.e.l.admit(c.i)
		}
	}
	n, quorum := len(c.calls), c.e.l.quorum
	if !c.ended && (c.extended >= quorum || c.gone > n-quorum || c.open == 0) {
		c.ended = true
		close(c.done)
	}
	return c.absent && c.repairs
}

// mine returns the nodes that have the lease, as far as they have said.
func (a *attempt) mine() (set uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.byNode {
		if a.byNode[i].mine {
			set |= 1 << i
		}
	}
	return set
}

// noteRenewal notes what node i said to a renewal; see renew.lua.
func (a *attempt) noteRenewal(i int, said int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch said {
	case 1:
		a.byNode[i].mine = true
	case 0, 3, -2:
		a.byNode[i].mine = false
	}
}

// lacking returns the calls to nodes that have come back without the lease, after a round
// that succeeded without them, and has those repaired that will answer so.
func (r *round) lacking() (calls []*renewCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.repairs = true
	for i := range r.calls {
		if r.calls[i].absent {
			calls = append(calls, &r.calls[i])
		}
	}
	return calls
}

// repair takes the lock again on a node: else a lease that is renewed for long would end when
// as many nodes as it can spare have restarted, one by one. The node counts from the next
// round. mu is held.
func (e *lease) repair(c *renewCall) {
	ttl := max(c.ttl, time.Until(e.until)) // it may have been extended for longer before
	if t := time.Now().Add(ttl + e.l.cfg.NodeTimeout); t.After(e.expires) {
		e.expires = t
	}
	e.l.work.Add(1)
	e.l.nodes[c.i].Send(&repair{nodeAttempt: &e.a.byNode[c.i], ttlMS: ttl.Milliseconds()})
}

// A repair is the acquire for as long as the lease lasts. Nobody who queues has a claim
// before its holder.
type repair struct {
	*nodeAttempt
	ttlMS int64
}

// Encode implements node.Call.
func (r *repair) Encode(w *node.Writer) { r.encode(w, &r.ttlMS, false, nil) }

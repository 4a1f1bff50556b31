// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/mutants/internal/planted/keys"
	"locktorture/lockimpl/mutants/internal/planted/node"
	"locktorture/lockimpl/mutants/internal/planted/script"
	"locktorture/lockimpl/mutants/internal/planted/waiting"
)

// A listener is this client's ear on one node: one subscription to one channel
// of its own, begun at the first wait and kept until Close.
type listener struct {
	once  sync.Once
	heard atomic.Bool
}

// subscribeTimeout bounds the wait for subscriptions, from the first on: a waiter that misses a
// wake-up asks again soon enough, and one that may not subscribe would wait in vain each time.
const subscribeTimeout = 50 * time.Millisecond

// listen makes sure that this client hears the nodes, and returns when a
// quorum of them can be heard. A wake-up that came before that, or while a subscription was
// broken, costs a waiter no longer than until it is there.
func (l *Lock) listen(ctx context.Context) {
	for i := range l.nodes {
		l.listeners[i].once.Do(func() { l.subscribe(i) })
	}
	l.listening.Do(func() { l.subscribedBy = time.Now().Add(subscribeTimeout) })
	_ = l.within(ctx, time.Until(l.subscribedBy), l.quorumSubscribed)
}

func (l *Lock) subscribe(i int) {
	subscriber := node.Subscriber{
		Ready: func() {
			heard := l.quorum
			first := !l.listeners[i].heard.Swap(true)
			if first {
				heard = int(l.subscribed.Add(1))
			}
			if heard < l.quorum {
				return
			}
			l.lines.Recall() // what was said before, nobody heard
			if first && heard == l.quorum {
				close(l.quorumSubscribed)
			}
		},
		Hear: func(member string) { l.lines.Wake(member, i) },
		Draw: l.draw,
	}
	l.spawn(func() { l.nodes[i].Subscribe(l.ctx, l.channels+l.id, subscriber) })
}

// member names a waiter: what it waits for, whom to wake, and which one.
func (l *Lock) member(shared bool) string {
	kind := "x:"
	if shared {
		kind = "s:"
	}
	return l.memberNamed(kind, strconv.FormatUint(l.serial.Add(1), 36), l.patience)
}

// memberNamed adds for how long the waiter counts as alive between two tries, in ms.
func (l *Lock) memberNamed(kind, name string, patience int64) string {
	return kind + l.id + ":" + name + "~" + strconv.FormatInt(patience, 10)
}

// mostBetweenTries is how long the place of a writer that only tries is kept at most: nobody
// says that it will try again.
const mostBetweenTries = 500 * time.Millisecond

// tryExclusive makes one attempt to write.
func (l *Lock) tryExclusive(ctx context.Context, k *keys.Set, r request) (*lease, error) {
	queued := l.intents.Alive(k.Name)
	if queued {
		if !l.work.Begin(1) {
			return nil, ErrClosed
		}
		defer l.work.Add(-1)
		r.member, r.ticket, r.intent = l.memberNamed("x:", "try", l.betweenTries), time.Now().UnixMicro(), true
	}
	a := l.newAttempt(k, r)
	got, err := a.run(ctx)
	switch {
	case errors.Is(err, lockimpl.ErrHeld) && a.byReaders():
		between := time.Duration(l.betweenTries) * time.Millisecond
		l.intents.Set(k.Name, time.Now().Add(between))
		if queued {
			time.AfterFunc(between+time.Millisecond, func() { l.endIntent(a) })
		}
	case queued:
		l.intents.Clear(k.Name)
		l.quitQueue(a, a.mayQueue())
	}
	return got, err
}

// endIntent takes the place of a try out of the queue where no other has followed it: a
// release has woken nobody if it found that place first, and a place that ends by itself
// wakes nobody either.
func (l *Lock) endIntent(a *attempt) {
	if l.intents.Alive(a.k.Name) || !l.work.Begin(1) {
		return
	}
	defer l.work.Add(-1)
	l.quitQueue(a, a.mayQueue())
}

// byReaders reports whether readers stood in the way.
func (a *attempt) byReaders() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count(func(s *nodeAttempt) bool { return s.kind == heldByReaders }) > 0
}

// mayQueue are the nodes, as bits, on which the attempt may have a place in the queue.
func (a *attempt) mayQueue() (nodes uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.byNode {
		if a.mayQueueOn(i) {
			nodes |= 1 << i
		}
	}
	return nodes
}

// mayQueueOn is mayQueue of one node. mu is held.
func (a *attempt) mayQueueOn(i int) bool {
	s := &a.byNode[i]
	return s.held || !a.absent(s)
}

// quitQueue takes the waiter of an attempt out of the queue of every node that
// did not grant it. On those of placed, which are bits, it may have a place.
func (l *Lock) quitQueue(a *attempt, placed uint64) {
	if a.r.waiter != nil {
		a.r.waiter.Leave()
	}
	for i := range l.nodes {
		a.leave(i, placed>>i&1 == 1)
	}
}

// leave takes the attempt's waiter out of the queue of one node.
func (a *attempt) leave(i int, placed bool) {
	now := time.Now()
	dead := now.Add(time.Duration(*a.patience())*time.Millisecond + a.l.cfg.NodeTimeout)
	a.l.work.Add(1)
	a.l.nodes[i].Send(&leaveCall{a: a, i: i, placed: placed, since: now, dead: dead})
}

// leaveBehind takes a waiter that waits no more out of the queue of a node that may have
// executed the attempt, one of its earlier ones perhaps, after it was asked to do so.
func (a *attempt) leaveBehind(i int) {
	if a.r.waiter != nil && a.r.waiter.Left() {
		a.leave(i, true)
	}
}

// A leaveCall takes a waiter out of the queue of one node. Where it may have a place it is
// sent until the node answers: who is still in the queue keeps others from the key.
type leaveCall struct {
	a      *attempt
	i      int
	placed bool
	since  time.Time // it is asked for
	dead   time.Time // by then the waiter counts as dead by itself
}

// Encode implements node.Call.
func (c *leaveCall) Encode(w *node.Writer) {
	l, k := c.a.l, c.a.k
	w.Script(script.Leave, 3)
	w.Refs(&k.Lock, &k.Tickets, &k.Beats, &c.a.r.member, &l.channels)
	w.IntRef(&l.patience)
}

// Wanted implements node.Call: the grant took the waiter out of the queue, unless it was in
// vain, so that its place may have been kept since; and the place of a client's tries is that
// of its next one, when there is to be one.
func (c *leaveCall) Wanted(bool) bool {
	if c.a.r.intent && c.a.l.intents.Alive(c.a.k.Name) {
		return false
	}
	c.a.mu.Lock()
	defer c.a.mu.Unlock()
	return c.a.byNode[c.i].state != granted || c.a.err != nil || c.a.r.kept
}

// Answer implements node.Call.
func (c *leaveCall) Answer(r node.Reply) {
	switch wanted := c.Wanted(false); {
	case wanted && r.Outcome == node.Executed && c.isAhead():
		c.a.l.nodes[c.i].Send(c)
		return
	case wanted && r.Outcome != node.Executed && c.mayBePlaced() && c.a.again(c.i, c, c.since, c.dead):
		return
	}
	c.a.l.work.Add(-1)
}

// isAhead reports whether the acquire, which was sent before, has yet to be executed: the
// server had forgotten its script, so that it is sent again, behind this.
func (c *leaveCall) isAhead() bool {
	c.a.mu.Lock()
	defer c.a.mu.Unlock()
	s := &c.a.byNode[c.i]
	return s.state == pending && s.sent.Load()
}

// mayBePlaced reports whether the waiter may have a place on the node: one that it was known
// to have, or that the last attempt took after it had been granted by others.
func (c *leaveCall) mayBePlaced() bool {
	c.a.mu.Lock()
	defer c.a.mu.Unlock()
	return c.placed || c.a.mayQueueOn(c.i)
}

// keptTogether is how many places one script keeps: others wait for it.
const keptTogether = 256

// keepPlaces keeps the places of a line of waiters for k, who all rest, on every node.
func (l *Lock) keepPlaces(k *keys.Set, line []*waiting.Waker) {
	for i := range l.nodes {
		ahead := int64(0)
		for some := range slices.Chunk(line, keptTogether) {
			l.work.Add(1)
			l.nodes[i].Put(&keepCall{l: l, k: k, i: i, ahead: ahead, line: some})
			ahead += int64(len(some))
		}
	}
	l.flush(l.everyNode())
}

// A keepCall keeps places on one node.
type keepCall struct {
	l     *Lock
	k     *keys.Set
	i     int
	ahead int64
	line  []*waiting.Waker
}

// Encode implements node.Call. An attempt that a waiter has made since comes behind this
// call, as a rule: its place is kept, before those behind it. Who has left by now has no
// place, since its leaving may have come before this. A call that is sent again may come behind
// both, and then keeps only the places of those who rest: of one that was granted the lock, or
// has left, the place would be taken again behind that.
func (c *keepCall) Encode(w *node.Writer) {
	w.Script(script.Keep, 5)
	w.Refs(&c.k.Node, &c.k.Lock, &c.k.Flag, &c.k.Tickets, &c.k.Beats)
	w.Run()
	w.IntRef(&c.l.patience)
	w.IntRef(&c.ahead)
	for _, o := range c.line {
		if o.Resting() || !w.Again() && !o.Left() {
			w.Ref(&o.Place.Member)
			w.IntRef(&o.Place.Ticket)
			w.IntRef(&o.Place.TTL)
		}
	}
}

// Wanted implements node.Call.
func (c *keepCall) Wanted(bool) bool { return slices.ContainsFunc(c.line, (*waiting.Waker).Resting) }

// Answer implements node.Call.
func (c *keepCall) Answer(r node.Reply) {
	defer c.l.work.Add(-1)
	switch {
	case r.Outcome != node.Executed:
	case r.Int() == -2:
		c.l.admit(c.i)
	default:
		c.l.lines.Wake(r.Str(1), c.i)
	}
}

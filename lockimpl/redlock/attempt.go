package redlock

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/redlock/internal/keys"
	"locktorture/lockimpl/redlock/internal/node"
	"locktorture/lockimpl/redlock/internal/script"
)

// A request is what one attempt asks for.
type request struct {
	ttl    time.Duration
	shared bool
	member string // place in the queue; "" does not queue
	ticket int64  // orders the queue: earlier comes first
}

// An attempt is one try to take one key, with an owner id of its own. Its
// state changes on the nodes' goroutines, under mu.
type attempt struct {
	l     *Lock
	k     *keys.Set
	r     request
	owner string
	start time.Time // before the first byte was sent
	until time.Time // end of validity
	hint  int64
	over  atomic.Bool

	mu      sync.Mutex
	asked   uint64 // nodes that the attempt has been sent to, as bits
	slots   []slot
	token   int64 // T: 0 until a quorum granted
	seen    int64 // highest value seen
	decided bool
	err     error
	done    chan struct{}
	wait    time.Duration // longest useful wait before another attempt
}

// The states of an attempt on one node.
type slotState int8

const (
	pending  slotState = iota
	granted            // the lock is this attempt's here
	refused            // a definite no: nothing of this attempt's is here
	doubtful           // it may have been granted, or may be yet
)

// A slot is an attempt on one node, and the acquire call that it sends there.
type slot struct {
	a     *attempt
	i     int
	state slotState
	sent  atomic.Bool // the acquire left the queue towards the server
	doubt bool        // a copy of the acquire may still be under way
	mine  bool        // the node said so: it granted or extended the lease, and has not lost it since
	again bool        // the acquire repairs a lease: nobody who queues has a claim before it
	holds bool        // owned, issued a value <= T, stores >= T
	value int64       // issued here
	top   int64       // highest value stored here, as far as is known
	held  bool        // refused because another owner holds it
	kind  int64       // who that is
	pttl  time.Duration
	err   error
}

// attempt runs one attempt to its decision.
func (l *Lock) attempt(ctx context.Context, k *keys.Set, r request) (*lease, error) {
	return l.newAttempt(k, r).run(ctx)
}

// run sends the attempt and waits for its decision.
func (a *attempt) run(ctx context.Context) (*lease, error) {
	l := a.l
	l.active.Add(1)
	a.send(ctx)
	a.await(ctx)
	l.active.Add(-1)
	if a.err != nil {
		a.undo()
		return nil, a.err
	}
	if !time.Now().Before(a.until) {
		a.undo()
		return nil, fmt.Errorf("acquire %s: decided too late: %w", a.k.Name, lockimpl.ErrNoQuorum)
	}
	return newLease(a), nil
}

// await waits for the decision.
func (a *attempt) await(ctx context.Context) {
	if err := within(ctx, a.limit(), a.done); err != nil {
		a.giveUp(err)
	}
}

// limit bounds an attempt: a later grant would be of no use.
func (a *attempt) limit() time.Duration {
	return min(a.l.cfg.NodeTimeout, time.Until(a.until))
}

var errTimeout = errors.New("too few nodes answered in time")

func (l *Lock) newAttempt(k *keys.Set, r request) *attempt {
	var id [16]byte
	_, _ = rand.Read(id[:])
	a := &attempt{
		l: l, k: k, r: r, owner: base64.RawURLEncoding.EncodeToString(id[:]) + l.label,
		slots: make([]slot, len(l.nodes)), done: make(chan struct{}),
	}
	a.hint = l.hint()
	for i := range a.slots {
		a.slots[i].a, a.slots[i].i = a, i
	}
	l.work.Add(len(a.slots))
	a.start = time.Now()
	a.until = a.start.Add(validity(r.ttl))
	return a
}

// Encode implements node.Call.
func (s *slot) Encode(w *node.Writer) {
	s.sent.Store(true)
	a, k := s.a, s.a.k
	if w.Resent {
		a.mu.Lock()
		s.doubt = true
		a.mu.Unlock()
	}
	ttl, script := a.r.ttl.Milliseconds(), a.script(s)
	switch {
	case a.r.shared:
		w.Script(script, 8, 7)
		w.Strs(k.Node, k.Lock, k.Fence, k.Tombstone+a.owner, k.Flag, k.Tickets, k.Beats, k.Readers)
	case a.queues(s):
		w.Script(script, 7, 7)
		w.Strs(k.Node, k.Lock, k.Fence, k.Tombstone+a.owner, k.Flag, k.Tickets, k.Beats)
	default:
		w.Script(script, 7, 5)
		w.Strs(k.Node, k.Lock, k.Fence, k.Tombstone+a.owner, k.Flag, k.Tickets, k.Beats)
		w.Str(a.owner)
		w.Int(ttl)
		w.Record(a.hint+1, ttl)
		w.Int(a.hint + 1)
		s.patience(w)
		return
	}
	w.Str(a.owner)
	w.Int(ttl)
	w.Run()
	w.Int(a.hint)
	if a.queues(s) {
		w.Str(a.r.member)
	} else {
		w.Str("")
	}
	w.Int(a.r.ticket)
	s.patience(w)
}

// patience writes how old a waiter's sign of life may be, or nothing when the
// acquire need not heed the queue.
func (s *slot) patience(w *node.Writer) {
	if s.again {
		w.Str("")
	} else {
		w.Int(s.a.l.cfg.Patience.Milliseconds())
	}
}

// queues reports whether the acquire takes a place in the queue.
func (a *attempt) queues(s *slot) bool { return a.r.member != "" && !s.again }

// script returns the acquire that fits the request.
func (a *attempt) script(s *slot) *script.Script {
	switch {
	case a.r.shared:
		return script.AcquireShared
	case a.queues(s):
		return script.Wait
	}
	return script.Acquire
}

// Wanted implements node.Call: an acquire of an attempt that has ended is not
// sent any more, so that a node that does not answer collects none.
func (s *slot) Wanted(resent bool) bool {
	if resent { // the release, which may go out with this batch, has to know
		s.a.mu.Lock()
		s.doubt = true
		s.a.mu.Unlock()
	}
	return !s.a.over.Load()
}

// Answer implements node.Call.
func (s *slot) Answer(r node.Reply) {
	a := s.a
	defer a.l.work.Add(-1)
	a.mu.Lock()
	s.take(r)
	raise := a.advance(s)
	hedge := a.needsMore(s)
	a.mu.Unlock()
	for _, call := range raise {
		a.l.nodes[call.i].Send(call)
	}
	if hedge {
		a.sendRest()
	}
}

// take notes what the reply says about this node.
func (s *slot) take(r node.Reply) {
	s.doubt = s.doubt || r.Doubt
	s.err = s.a.l.of(s.i, r.Err)
	switch v := r.Int(); {
	case r.Fate == node.FateUnknown:
		s.state, s.doubt = doubtful, true
	case r.Fate == node.FateNone:
		s.state = refused
	case v > 0:
		s.state, s.mine, s.value, s.top = granted, true, v, v
		if s.a.r.shared {
			s.top = r.At(1)
		} else if record := r.Str(1); record != "" {
			s.a.l.nodes[s.i].Learn(record)
		}
		s.a.seen = max(s.a.seen, s.top)
		s.a.l.learn(s.top)
	default:
		s.state = refused
		s.refusedBy(v, r)
	}
}

// heldByReaders is one of the reasons of a refusal.
const heldByReaders = 1

// refusedBy reads the reason of a refusal; see acquire.lua.
func (s *slot) refusedBy(code int64, r node.Reply) {
	switch code {
	case 0:
		s.held, s.kind = true, r.At(2)
		s.pttl = time.Duration(r.At(1)) * time.Millisecond
	case -1:
		s.err = s.a.l.of(s.i, errors.New("released here before"))
	case -2:
		s.err = s.a.l.of(s.i, ErrNotAdmitted)
		s.a.l.admit(s.i)
	case -3:
		s.err = s.a.l.tooLong(s.i, r.At(1))
	}
}

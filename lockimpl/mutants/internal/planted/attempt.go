// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

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
	"locktorture/lockimpl/mutants/internal/planted/keys"
	"locktorture/lockimpl/mutants/internal/planted/node"
	"locktorture/lockimpl/mutants/internal/planted/script"
	"locktorture/lockimpl/mutants/internal/planted/waiting"
)

// A request is what one attempt asks for.
type request struct {
	ttl    time.Duration
	shared bool
	member string // place in the queue; "" does not queue
	ticket int64  // orders the queue: earlier comes first
	intent bool   // the place is the client's, of one try after the other

	waiter *waiting.Waker // who waits for it; nil where nobody does
	kept   bool           // the waiter's place may be kept behind the attempt
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
	ttlMS int64     // of the request, as it is sent
	hint  int64     // what is proposed for the token is above it
	above int64     // hint + 1
	over  atomic.Bool

	mu      sync.Mutex
	asked   uint64 // nodes that the attempt has been sent to, as bits
	byNode  []nodeAttempt
	one     [1]nodeAttempt // of a single node
	token   int64          // T: 0 until a quorum granted
	seen    int64          // highest value seen
	decided bool
	err     error
	done    chan struct{} // closed by the decision, when somebody waits for it
	wait    time.Duration // longest useful wait before another attempt
}

// The states of an attempt on one node.
type grantState int8

const (
	pending  grantState = iota
	granted             // the lock is this attempt's here
	refused             // a definite no: nothing of this attempt's is here
	doubtful            // it may have been granted, or may be yet
)

// A nodeAttempt is an attempt on one node, and the acquire call that it sends there.
type nodeAttempt struct {
	a     *attempt
	i     int
	state grantState
	sent  atomic.Bool // the acquire leaves the queue towards the server
	doubt bool        // a copy of the acquire may still be under way
	mine  bool        // the node said so: it granted or extended the lease, and has not lost it since
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
	if !l.work.Begin(1 + len(a.byNode)) {
		return nil, ErrClosed
	}
	defer l.work.Add(-1) // Close waits until the attempt has been undone, or is a lease
	l.active.Add(1)
	a.send(ctx)
	a.await(ctx)
	l.active.Add(-1)
	if a.err != nil {
		return a.failed()
	}
	if l.bugs.FreshValidity {
		a.until = time.Now().Add(validity(a.r.ttl))
	}
	if !time.Now().Before(a.until) {
		a.undo()
		return nil, fmt.Errorf("acquire %s: decided too late: %w", shown(a.k.Name), lockimpl.ErrNoQuorum)
	}
	if l.closed.Load() { // who closes a lock has no more use for it
		a.undo()
		return nil, ErrClosed
	}
	return newLease(a), nil
}

// await waits for the decision.
func (a *attempt) await(ctx context.Context) {
	a.mu.Lock()
	if !a.decided {
		a.done = make(chan struct{})
	}
	done := a.done
	a.mu.Unlock()
	if done == nil {
		return
	}
	if err := a.l.within(ctx, a.limit(), done); err != nil {
		a.giveUp(err)
	}
}

// limit bounds what is left of an attempt: a later grant would be of no use.
func (a *attempt) limit() time.Duration {
	if a.l.bugs.FreshValidity {
		return a.l.cfg.NodeTimeout
	}
	return min(time.Until(a.start.Add(a.l.cfg.NodeTimeout)), time.Until(a.until))
}

var errTimeout = errors.New("too few nodes answered in time")

func (l *Lock) newAttempt(k *keys.Set, r request) *attempt {
	a := &attempt{l: l, k: k, r: r, owner: l.owners.next() + l.label, ttlMS: r.ttl.Milliseconds()}
	if a.byNode = a.one[:]; len(l.nodes) > 1 {
		a.byNode = make([]nodeAttempt, len(l.nodes))
	}
	a.hint = l.hint()
	a.above = a.hint + 1
	for i := range a.byNode {
		a.byNode[i].a, a.byNode[i].i = a, i
	}
	a.start = time.Now()
	a.until = a.start.Add(validity(r.ttl))
	return a
}

// Encode implements node.Call.
func (s *nodeAttempt) Encode(w *node.Writer) {
	s.encode(w, &s.a.ttlMS, s.a.r.member != "", s.a.patience())
}

// patience is for how long a node keeps the place of who makes the attempt, in ms.
func (a *attempt) patience() *int64 {
	if a.r.intent {
		return &a.l.betweenTries
	}
	return &a.l.patience
}

// encode writes the acquire, which takes a place in the queue or does not, and heeds it
// unless patience is nil: how old a waiter's sign of life may be.
func (s *nodeAttempt) encode(w *node.Writer, ttlMS *int64, queues bool, patience *int64) {
	a, k := s.a, s.a.k
	switch {
	case a.r.shared:
		w.Script(script.AcquireShared, 8)
	case queues:
		w.Script(script.Wait, 7)
	default:
		w.Script(script.Acquire, 7)
	}
	w.Refs(&k.Node, &k.Lock, &k.Fence)
	w.Str(k.Tombstone + a.owner)
	w.Refs(&k.Flag, &k.Tickets, &k.Beats)
	if a.r.shared {
		w.Ref(&k.Readers)
	}
	w.Ref(&a.owner)
	w.IntRef(ttlMS)
	switch {
	case !a.r.shared && !queues:
		w.Record(a.above, *ttlMS)
		w.IntRef(&a.above)
	case queues:
		w.Run()
		w.IntRef(&a.hint)
		w.Ref(&a.r.member)
		w.IntRef(&a.r.ticket)
	default:
		w.Run()
		w.IntRef(&a.hint)
		w.Str("")
		w.IntRef(&a.r.ticket)
	}
	if patience == nil {
		w.Str("")
	} else {
		w.IntRef(patience)
	}
}

// Wanted implements node.Call: an acquire of an attempt that has ended is not
// sent any more, so that a node that does not answer collects none. It is noted as sent
// before that is looked at, and whoever ends the attempt does it the other way round:
// no acquire goes out that the end of the attempt takes for one that did not.
func (s *nodeAttempt) Wanted(resent bool) bool {
	if resent { // the release, which may go out with this batch, has to know
		s.a.mu.Lock()
		s.doubt = true
		s.a.mu.Unlock()
	}
	was := s.sent.Swap(true)
	if s.a.over.Load() {
		s.sent.Store(was)
		return false
	}
	return true
}

// Answer implements node.Call.
func (s *nodeAttempt) Answer(r node.Reply) {
	a := s.a
	defer a.l.work.Add(-1)
	a.mu.Lock()
	s.apply(r)
	writeBacks := a.advance(s)
	hedge := a.needsMore(s)
	a.mu.Unlock()
	for _, call := range writeBacks {
		a.l.nodes[call.i].Send(call)
	}
	if hedge {
		a.sendRest()
	}
}

// apply notes what the reply says about this node.
func (s *nodeAttempt) apply(r node.Reply) {
	s.doubt = s.doubt || r.Doubt
	s.err = s.a.l.of(s.i, r.Err)
	switch v := r.Int(); {
	case r.Outcome == node.ExecutionUnknown:
		s.state, s.doubt = doubtful, true
	case r.Outcome == node.NotExecuted:
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
func (s *nodeAttempt) refusedBy(code int64, r node.Reply) {
	switch code {
	case 0:
		s.held, s.kind = true, r.At(2)
		s.pttl = time.Duration(r.At(1)) * time.Millisecond
	case -1:
		s.err = s.a.l.of(s.i, errors.New("released here before"))
	case -2:
		s.err = s.a.l.of(s.i, s.a.l.notAdmitted(s.i))
		s.a.l.admit(s.i)
	case -3:
		s.err = s.a.l.tooLong(s.i, r.At(1))
	}
}

// owners makes ids for attempts: 128 random bits each. The system is asked for many
// at a time.
type owners struct {
	mu   sync.Mutex
	bits [64 * 16]byte
	left []byte // of bits
}

func (o *owners) next() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.left) == 0 {
		_, _ = rand.Read(o.bits[:]) // it never fails
		o.left = o.bits[:]
	}
	id := base64.RawURLEncoding.EncodeToString(o.left[:16])
	o.left = o.left[16:]
	return id
}

// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/mutants/internal/planted/node"
	"locktorture/lockimpl/mutants/internal/planted/script"
)

// advance moves the attempt on after s has changed and returns the write-backs
// to send. The rule: with a quorum of grants, the token is their maximum; it
// counts on a node that was issued it, or that accepted it while this attempt
// owned the lock there and had been issued no more.
func (a *attempt) advance(s *nodeAttempt) []*writeBack {
	if a.over.Load() {
		return nil
	}
	var out []*writeBack
	switch {
	case s.state != granted || s.holds:
	case a.token == 0 || s.value > a.token && !a.decided:
		if a.count(isGranted) >= a.l.quorum {
			out = a.fixToken()
		}
	default:
		out = a.join(s, out)
	}
	a.decide()
	return out
}

// fixToken fixes the token, now that a quorum granted.
func (a *attempt) fixToken() []*writeBack {
	for i := range a.byNode {
		if s := &a.byNode[i]; s.state == granted {
			a.token = max(a.token, s.value)
		}
	}
	var out []*writeBack
	for i := range a.byNode {
		s := &a.byNode[i]
		s.holds = false
		if s.state == granted {
			out = a.join(s, out)
		}
	}
	return out
}

// join counts a grant towards the token, or asks the node to store it.
func (a *attempt) join(s *nodeAttempt, out []*writeBack) []*writeBack {
	switch {
	case a.l.bugs.NoWriteBack:
		s.holds = true
		return out
	case s.value > a.token: // too late: the token is out
		return out
	case s.top >= a.token:
		s.holds = true
		return out
	}
	a.l.work.Add(1)
	return append(out, &writeBack{nodeAttempt: s, token: a.token})
}

func isGranted(s *nodeAttempt) bool { return s.state == granted }
func holds(s *nodeAttempt) bool     { return s.holds }
func isOut(s *nodeAttempt) bool     { return s.state == refused || s.state == doubtful }

func (a *attempt) count(is func(*nodeAttempt) bool) int {
	n := 0
	for i := range a.byNode {
		if is(&a.byNode[i]) {
			n++
		}
	}
	return n
}

// decide ends the attempt once it has a quorum or can have none.
func (a *attempt) decide() {
	if a.decided {
		return
	}
	switch {
	case a.token > 0 && a.count(holds) >= a.l.quorum:
		a.end(nil)
	case a.count(isOut) > a.spare() && !a.restDecides():
		a.fail(nil)
	}
}

// spare is how many nodes an attempt can do without.
func (a *attempt) spare() int { return len(a.byNode) - a.l.quorum }

// restDecides reports whether it depends on the nodes that have not answered why there is no
// quorum: because somebody holds the key, or because too many nodes are away. mu is held.
func (a *attempt) restDecides() bool {
	held, away, open := 0, 0, 0
	for i := range a.byNode {
		switch s := &a.byNode[i]; {
		case s.held:
			held++
		case isOut(s):
			away++
		case s.state == pending:
			open++
		}
	}
	return held > 0 && away <= a.spare() && away+open > a.spare()
}

// fail ends an attempt without a quorum. It is over at once, before anybody looks at what
// has been sent; a successful one goes on collecting stragglers until it is released.
func (a *attempt) fail(cause error) {
	a.over.Store(true)
	a.wait = a.usefulWait()
	a.end(a.failure(cause))
}

// end records the decision.
func (a *attempt) end(err error) {
	a.decided, a.err = true, err
	if a.done != nil {
		close(a.done)
	}
}

// giveUp ends an attempt that nobody waits for any longer.
func (a *attempt) giveUp(cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.decided {
		a.fail(cause)
	}
}

// failure says why there is no lock: definitely, when so many nodes refused
// that no quorum is possible; otherwise the outcome is unknown.
func (a *attempt) failure(cause error) error {
	held, out := false, 0
	for i := range a.byNode {
		held = held || a.byNode[i].held
		if s := &a.byNode[i]; s.state != granted && !s.held && (isOut(s) || cause != nil) {
			out++
		}
	}
	reasons := a.reasons()
	if a.count(a.absent) > a.spare() {
		if held && out <= a.spare() { // without the others there would have been a quorum
			return fmt.Errorf("acquire %s: %w", shown(a.k.Name), joined(lockimpl.ErrHeld, cause))
		}
		return a.outage(lockimpl.ErrNoQuorum, append(reasons, cause))
	}
	return a.outage(ErrUnknown, append(reasons, cause))
}

// outage is the error of an attempt that too few nodes granted, for these reasons. It is
// marked when so many nodes will go on saying what they say that waiting does not help.
func (a *attempt) outage(what error, reasons []error) error {
	err := fmt.Errorf("acquire %s: %w", shown(a.k.Name), joined(what, reasons...))
	if countHopeless(reasons) > a.spare() {
		return hopeless{err}
	}
	return err
}

// reasons returns what the nodes say, or what keeps them from being asked. mu is held.
func (a *attempt) reasons() []error {
	all := make([]error, len(a.byNode))
	for i := range a.byNode {
		if all[i] = a.byNode[i].err; a.byNode[i].state == pending && a.asked>>i&1 == 1 {
			all[i] = a.l.of(i, a.l.nodes[i].Trouble())
		}
	}
	return all
}

// toOthers is what err, with which the attempt failed, says to those who have not asked:
// that its own outcome is unknown is none of their business.
func (a *attempt) toOthers(err error) error {
	if !errors.Is(err, ErrUnknown) {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.outage(lockimpl.ErrNoQuorum, a.reasons())
}

// absent reports whether nothing of this attempt's can be on the node. An
// acquire that is still queued will not be sent once the attempt is over.
func (a *attempt) absent(s *nodeAttempt) bool {
	return s.state == refused && !s.doubt || s.state == pending && !s.sent.Load()
}

// usefulWait is the time until enough of the refusing nodes would have let
// their present holder go for a quorum to be free, or 0 when none told.
func (a *attempt) usefulWait() time.Duration {
	var left []time.Duration
	for i := range a.byNode {
		if a.byNode[i].held && a.byNode[i].pttl > 0 {
			left = append(left, a.byNode[i].pttl)
		}
	}
	slices.Sort(left)
	free := len(a.byNode) - len(left)
	if need := a.l.quorum - free; need > 0 && need <= len(left) {
		return left[need-1] + time.Millisecond
	}
	return 0
}

// A writeBack asks one node to store the token: the write-back.
type writeBack struct {
	*nodeAttempt
	token int64
}

// Encode implements node.Call.
func (r *writeBack) Encode(w *node.Writer) {
	k := r.a.k
	if r.a.r.shared {
		w.Script(script.WriteBackShared, 4)
		w.Refs(&k.Node, &k.Lock, &k.Fence, &k.Readers)
	} else {
		w.Script(script.WriteBack, 3)
		w.Refs(&k.Node, &k.Lock, &k.Fence)
	}
	w.Ref(&r.a.owner)
	w.Run()
	w.IntRef(&r.token)
}

// Wanted implements node.Call.
func (r *writeBack) Wanted(bool) bool { return !r.a.over.Load() }

// Answer implements node.Call.
func (r *writeBack) Answer(reply node.Reply) {
	a := r.a
	defer a.l.work.Add(-1)
	a.mu.Lock()
	out := r.apply(reply)
	if !a.over.Load() {
		a.decide()
	}
	a.mu.Unlock()
	for _, call := range out {
		a.l.nodes[call.i].Send(call)
	}
}

// apply notes the answer of a node to the write-back of r.token.
func (r *writeBack) apply(reply node.Reply) []*writeBack {
	a, s := r.a, r.nodeAttempt
	v := reply.Int()
	switch {
	case reply.Outcome == node.ExecutionUnknown:
		s.state, s.doubt = doubtful, true
	case reply.Outcome == node.NotExecuted:
		s.state = doubtful // the lock is still ours there, the token is not
	case v == 1 && r.token == a.token:
		s.holds, s.top = true, max(s.top, r.token)
	case v == 1: // an older token: the newer write-back is on its way
	case v == 2 && reply.At(1) > a.token && !a.decided:
		s.value, s.top = reply.At(1), max(s.top, reply.At(1))
		a.seen = max(a.seen, s.value)
		return a.fixToken()
	case v == 2 && reply.At(1) > a.token:
		s.state = doubtful
	case v == 2 && r.token < a.token: // the newer write-back is on its way
		s.value, s.top = reply.At(1), max(s.top, reply.At(1))
		a.seen = max(a.seen, s.value)
	default:
		s.state, s.holds = refused, false
	}
	return nil
}

// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A NodeState is whether a node serves.
type NodeState string

const (
	Admitted    NodeState = "admitted"    // it serves
	Quarantined NodeState = "quarantined" // it has lost its data, or is new
	Seedable    NodeState = "seedable"    // its quarantine is over: a client will admit it
	Unreachable NodeState = "unreachable" // it did not answer
)

// A NodeStatus is what one node says about itself.
type NodeStatus struct {
	Node   string
	State  NodeState
	Left   time.Duration // of the quarantine
	MaxTTL time.Duration // the longest lease that it grants; 0: not known
	Err    error         // why it did not answer
}

// Admission asks every node whether it serves. A node that does not is known to
// be one from then on: its quarantine begins, if it has not.
func (l *Lock) Admission(ctx context.Context) ([]NodeStatus, error) {
	if ctx == nil {
		return nil, fmt.Errorf("admission: %w: nil context", ErrMisconfigured)
	}
	if l.closed.Load() {
		return nil, ErrClosed
	}
	all, errs := l.greetEach(ctx)
	out := make([]NodeStatus, len(all))
	for i, g := range all {
		out[i] = NodeStatus{Node: l.nodes[i].Name(), State: Unreachable, Err: errs[i]}
		if g != nil {
			out[i].State, out[i].Left, out[i].MaxTTL = g.called(), g.left, g.maxTTL
		}
	}
	return out, nil
}

func (g *greeting) called() NodeState {
	switch g.state {
	case isAdmitted:
		return Admitted
	case wantsSeed:
		return Seedable
	default:
		return Quarantined
	}
}

// ErrUnknownNode reports a name that no node has.
var ErrUnknownNode = errors.New("no such node")

// ForceAdmission lets a node serve before its quarantine is over, for an operator
// who knows that nobody relies any more on a lease which that node may have
// granted: every client was stopped, or MaxTTL has passed since it last served.
// Otherwise two hold one key. The node's tokens go on above those of all nodes
// that answer, and above their clocks: a quorum of them has to.
func (l *Lock) ForceAdmission(ctx context.Context, name string) error {
	if ctx == nil {
		return fmt.Errorf("force admission: %w: nil context", ErrMisconfigured)
	}
	all, errs := l.greetEach(ctx)
	at, answered, floor := -1, 0, int64(0)
	for i, g := range all {
		if l.nodes[i].Name() == name {
			at = i
		}
		if g != nil {
			answered++
			floor = max(floor, g.hw, g.now+clockMargin.Microseconds())
		}
	}
	switch {
	case at < 0:
		return fmt.Errorf("force admission of %q: %w", name, ErrUnknownNode)
	case answered < l.quorum || all[at] == nil:
		return fmt.Errorf("force admission of %s: %w", name, joined(ErrNoQuorum, errs...))
	case all[at].state == isAdmitted:
		return nil
	}
	ok, err := l.admitWith(ctx, at, all[at].ticket, floor, true)
	if err == nil && !ok {
		err = fmt.Errorf("force admission of %s: another client was at it, ask again: %w", name, ErrNotAdmitted)
	}
	return err
}

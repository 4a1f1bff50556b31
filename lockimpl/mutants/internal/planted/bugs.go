// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"errors"
	"fmt"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/mutants/internal/planted/node"
	"locktorture/lockimpl/mutants/internal/planted/script"
)

// Bugs says what is wrong. The zero value is the lock as it is.
type Bugs struct {
	Quorum           int  // grants that are enough, whatever the majority is
	FreshValidity    bool // validity counts from the decision, not from the start
	NoUndo           bool // what a failed attempt was granted stays
	ReleaseGranted   bool // only nodes that answered yes are sent the release
	TimeoutIsGrant   bool // an attempt of unknown outcome counts as granted
	TimeoutIsRefusal bool // it counts as refused, and is not undone
	Unordered        bool // every call on a connection of its own: no FIFO, no tombstones

	NoWriteBack bool // the highest of a quorum's values is the token, stored or not
	ClockToken  bool // the token is the client's wall clock, and clocks differ

	AdmitAtOnce bool // a node that forgot everything serves again at once, from zero
	NoSeed      bool // it sits out its quarantine and starts again from zero
	EarlySeed   bool // it is seeded from marks read when the quarantine began

	ExtendQuorum   int  // nodes that are enough for an extension
	CountRecreated bool // a key that had gone is created again and counts
	NewDeadline    bool // an extension counts until the deadline that it would set
	LateLoss       bool // validity and loss are told one TTL late

	Uncounted bool // a second grant to the same owner is not counted

	// Scripts replaces scripts by faulty ones.
	Scripts map[*script.Script]*script.Script
}

// NewPlanted is NewLocker with planted bugs. A lock with bugs asks every node at once.
func NewPlanted(nodes []lockimpl.Node, cfg Config, bugs Bugs) (*Locker, error) {
	l, err := NewLocker(nodes, cfg)
	if err != nil {
		return nil, err
	}
	l.bugs, l.eager = bugs, true
	if bugs.Quorum > 0 {
		l.quorum = bugs.Quorum
	}
	for _, n := range l.nodes {
		n.Plant(node.Bugs{Unordered: bugs.Unordered, Scripts: bugs.Scripts})
	}
	return l, nil
}

// clockToken is the token of a lock that trusts the clocks of its clients,
// which differ by up to half a second.
func (l *Lock) clockToken() int64 {
	skew := int64(l.id[0]+l.id[1]+l.id[2]) % 100 * 10_000
	return time.Now().UnixMicro() + skew - 500_000
}

// failed undoes a failed attempt, or takes it for what it is not.
func (a *attempt) failed() (*lease, error) {
	bugs := &a.l.bugs
	switch unknown := errors.Is(a.err, ErrUnknown); {
	case unknown && bugs.TimeoutIsGrant:
		a.token = max(a.token, a.seen, a.l.known.Load()+1)
		return newLease(a), nil
	case unknown && bugs.TimeoutIsRefusal:
		return nil, fmt.Errorf("acquire %s: %w", a.k.Name, lockimpl.ErrHeld)
	case !bugs.NoUndo:
		a.undo()
	}
	return nil, a.err
}

func (e *lease) extendQuorum() int {
	if e.l.bugs.ExtendQuorum > 0 {
		return e.l.bugs.ExtendQuorum
	}
	return e.l.quorum
}

// Package plant lists the bugs that can be planted in the lock, so that the
// checks which should notice them can be tested.
package plant

import "locktorture/lockimpl/internal/script"

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

// Script returns what takes the place of s.
func (b *Bugs) Script(s *script.Script) *script.Script {
	if faulty := b.Scripts[s]; faulty != nil {
		return faulty
	}
	return s
}

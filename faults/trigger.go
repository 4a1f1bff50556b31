package faults

import (
	"slices"
	"time"

	"locktorture/faults/watch"
	"locktorture/workload/history"
)

// A Trigger says when a step begins: at a time, or phase-locked to the first
// life-cycle event of the lock after that time.
type Trigger struct {
	After time.Duration // since the nemesis began
	On    watch.Moment  // empty: at After itself
	By    string        // only moments of this client: its name, or a bound one; empty: anybody's

	// Then is the pause between the moment and the injection. It may be
	// negative for those moments that are known beforehand: watch.Moment.Foreseen.
	Then time.Duration

	// Within bounds the wait for the moment; 0 is the rest of the run.
	Within time.Duration

	// Else is the moment to which the step turns when the other one has not come
	// within that time; empty: to none.
	Else watch.Moment

	turned bool // On was Else
}

// turn is the trigger of a step that has turned to its other moment.
func (t Trigger) turn() Trigger { return Trigger{On: t.Else, By: t.By, turned: true} }

// The moments that a step can be locked to beside those that a Watch sees, and
// those of Command and Reply.
const (
	Bound watch.Moment = "bound" // another step has bound the name in By and is in force

	// AtTime stands for no phase lock, where a fault has one of its own.
	AtTime watch.Moment = "time"
)

// Moments lists every moment that has a name of its own.
func Moments() []watch.Moment { return append(KeyMoments(), Bound) }

// KeyMoments lists those that say which resource they are about: the moments of a lease, and those between two steps of an
// operation.
func KeyMoments() []watch.Moment {
	return append(watch.Moments(), watch.AcquireMidway, watch.RenewalMidway, watch.ReleaseMidway)
}

// midways are the operations in the middle of which a moment lies.
var midways = map[watch.Moment]history.Op{watch.AcquireMidway: history.Acquire, watch.RenewalMidway: history.Extend, watch.ReleaseMidway: history.Release}

// Tapped reports whether a moment is read off the links, at a node: Command and Reply are, and those in the middle of an
// operation.
func Tapped(m watch.Moment) bool {
	_, command := ParseTap(m)
	_, midway := midways[m]
	return command || midway
}

// HasKey reports whether a moment says which resource it is about.
func HasKey(m watch.Moment) bool { return slices.Contains(KeyMoments(), m) }

// An Occasion is the moment to which a step was locked, as it happened.
type Occasion struct {
	watch.Occasion        // of what was seen on a link the Owner is the client's name
	Node           string // … and this is the link's

	free  chan struct{} // lets the client go on that waits for the fault to be in force; nil: none does
	until time.Time     // it waits no longer
}

package checker

import (
	"slices"
	"time"

	"locktorture/workload/history"
)

// A fact is what the ledger made of an event. Rules see it before the ledger
// moves on, and keep no pointer to it.
type fact struct {
	what  what
	e     *history.Event
	op    *op
	grant *grant
	key   *key
	old   time.Duration // extended: the deadline before; postponed: the end of the hold before
	land  *landing
}

type what uint8

const (
	asked     what = iota + 1 // op is an acquire that began
	granted                   // grant is fresh, and not yet among its key's grants
	reentered                 // grant was taken once more by its owner
	refused                   // an acquire was answered with a definite no
	extended                  // op moved grant's deadline, from old
	unmoved                   // op was an extension and did not (refused, or unknown)
	releasing                 // a release of grant was invoked
	postponed                 // op, a release of grant, began later than told: the hold had seemed to end at old
	answered                  // op is a completed release of grant
	left                      // op, an inner release of grant, was answered yes
	lost                      // the library reported the loss of grant
	wrote                     // op is a write that was answered, or given up
	rejected                  // op is a write that the store rejected
	landed                    // land is an accepted write, in the store's order
	unknown                   // op, of whatever kind, is of unknown outcome
	settled                   // … and then was settled
	nemesised                 // a fault or a heal
	phased                    // a phase event
	witnessed                 // a node witness
	receipt                   // a link's receipt
	audited                   // a line of the store's log
	ticked                    // the time that a rule asked for has passed, before the event is looked at

	facts // one more than there are
)

// A landing is an accepted write at its place in the store's order.
type landing struct {
	op    *op
	idx   int       // the event that proves it
	seq   uint64    // 0 when the store tells none
	late  bool      // settled by the store's log: it landed somewhere behind
	top   uint64    // the highest token accepted before it on its key …
	high  mark      // … and the write that carried it
	below tokenMark // accepted behind it, though with a lower token; its seq is 0 when there is none
	lost  bool      // it comes so late that nobody can say what was accepted before it
}

// A rule decides one property, or a few that need the same state. The other
// rules go on when it panics.
type rule interface {
	// ids names the properties that it decides.
	ids() []string
	// wants names the facts that it sees from the first event on. It may wake to
	// more of them.
	wants() []what
	// see takes one fact.
	see(f *fact)
	// finish judges what was left open. No fact comes after it.
	finish()
}

// A limited rule may have had to leave something out, for want of memory.
type limited interface {
	// unplaced says what was not judged, and how much of it; "" when all was.
	unplaced() string
}

// dispatch shows f to every rule that wants it and still stands. Rules dispatch
// nothing themselves.
func (j *Judge) dispatch(f *fact) {
	j.turn = 0
	j.happened[f.what] = true
	j.show(f)
}

// show shows f to the rules whose turn is yet to come. One that panics is
// buried, and those after it see f all the same.
func (j *Judge) show(f *fact) {
	defer func() {
		if j.turn != noTurn {
			j.bury(j.wanted[f.what][j.turn], recover())
			j.turn++
			j.show(f)
		}
	}()
	for rules := j.wanted[f.what]; j.turn < len(rules); j.turn++ {
		rules[j.turn].see(f)
	}
	j.turn = noTurn
}

// noTurn is no rule's turn.
const noTurn = -1

// enlist adds a rule.
func (j *Judge) enlist(r rule) {
	for _, w := range r.wants() {
		j.wanted[w] = append(j.wanted[w], r)
	}
	j.rules = append(j.rules, r)
}

// wake shows a rule more kinds of facts from here on, in its place among the
// rules.
func (j *Judge) wake(r rule, more ...what) {
	place := slices.Index(j.rules, r)
	for _, w := range more {
		at := 0
		for at < len(j.wanted[w]) && slices.Index(j.rules, j.wanted[w][at]) < place {
			at++
		}
		j.wanted[w] = slices.Insert(j.wanted[w], at, r)
	}
}

// finishRules lets every rule that still stands judge what it left open.
func (j *Judge) finishRules() {
	for _, r := range j.rules {
		func() {
			defer func() {
				if cause := recover(); cause != nil {
					j.bury(r, cause)
				}
			}()
			if !slices.Contains(j.dead, r) {
				r.finish()
			}
		}()
	}
}

// bury takes a rule that panicked out of the way.
func (j *Judge) bury(r rule, cause any) {
	j.crashed = append(j.crashed, crash{r.ids(), cause, j.events})
	j.dead = append(j.dead, r)
	for w := range j.wanted {
		for i, x := range j.wanted[w] {
			if x == r {
				j.wanted[w][i] = buried{}
			}
		}
	}
}

// A crash is a rule that panicked.
type crash struct {
	ids    []string
	cause  any
	events int // seen until then
}

type buried struct{}

func (buried) ids() []string { return nil }
func (buried) wants() []what { return nil }
func (buried) see(*fact)     {}
func (buried) finish()       {}

package ledger

import (
	"time"

	"locktorture/workload/history"
)

// A Fact is what the ledger concludes from an event. Rules observe it before the ledger applies
// the next event, and keep no pointer to it.
type Fact struct {
	Kind    Kind
	Event   *history.Event
	Op      *Op
	Grant   *Grant
	Key     *Key
	Old     time.Duration // extended: the deadline before; postponed: the end of the hold before
	Landing *Landing
}

type Kind uint8

const (
	Asked     Kind = iota + 1 // op is an acquire that began
	Granted                   // grant is fresh, and not yet among its key's grants
	Reentered                 // grant was re-entered by its owner
	Refused                   // an acquire was answered with a definite no
	Extended                  // op moved grant's deadline, from old
	Unmoved                   // op was an extension and did not (refused, or unknown)
	Releasing                 // a release of grant was invoked
	Postponed                 // op, a release of grant, began later than told: the hold had seemed to end at old
	Answered                  // op is a completed release of grant
	Left                      // op, an inner release of grant, was answered yes
	Lost                      // the library reported the loss of grant
	Wrote                     // op is a write that was answered, or given up
	Rejected                  // op is a write that the store rejected
	Landed                    // land is an accepted write, in the store's order
	Unknown                   // op, of whatever kind, is of unknown outcome
	Settled                   // … and then was settled
	Nemesised                 // a fault or a heal
	Phased                    // a phase event
	Witnessed                 // a node witness
	Receipt                   // a link's receipt
	Audited                   // a line of the store's log
	Unsent                    // op, a release, never reached grant: its lease went on
	Ticked                    // the time that a rule asked for has passed, before the event is looked at

	Kinds // one more than there are
)

// A Landing is an accepted write at its place in the store's order of writes.
type Landing struct {
	Op    *Op
	Idx   int       // the event that proves it
	Seq   uint64    // 0 when the store tells none
	Late  bool      // settled by the store's log: it landed somewhere behind
	Top   uint64    // the highest token accepted before it on its key …
	High  Mark      // … and the write that carried it
	Below TokenMark // accepted behind it, though with a lower token; its seq is 0 when there is none
	Lost  bool      // it comes so late that nobody can say what was accepted before it
}

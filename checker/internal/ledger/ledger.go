// Package ledger turns the events of a history into facts, which rules judge, and keeps what is
// known of keys, owners, leases, writes and faults: in bounded memory, so what ended long ago
// is forgotten.
//
// # Words
//
// A grant is a successful acquire and the lease that it began. Its ending is the event that
// shows that the lease is gone before its deadline: a release, a reported loss or a refused
// extension. A lease goes on until its ending. Its definite hold lasts from the answer to the
// acquire until the deadline or the ending, whichever is first.
//
// A lease is re-entered when its owner acquires the key again while the lease goes on. An owner
// may have several processes; each of them may re-enter a lease of the owner's, extend it or
// release it.
//
// An operation names the leases that bear its token. One without a token may be of any lease
// that its owner has: functions whose name ends in Beside deal with the other leases that it
// may be of.
//
// An event's own stamps are its fields began_ns and ended_ns. They may say that it happened
// earlier than its line: the history then tells of it late, after events that happened later.
// What was concluded in between may have to be changed.
//
// Times are durations since the run began. Unless noted, an unknown time is Never, and no index,
// token or number is 0.
package ledger

import (
	"math"
	"time"

	"locktorture/workload/history"
)

// A Ledger is the state of a history up to the latest event. See the package comment.
type Ledger struct {
	Header history.Header // its Epsilon is that of the two clocks that may be furthest apart
	Clocks Clocks

	Names    ledgerNames
	Procs    procs
	free     *Op
	unknown  map[string]*Op // writes of unknown outcome, by value
	asked    map[int]*Op    // other operations of unknown outcome, by invocation
	receipts map[int]string // receipts for operations that are open still
	Nemesis  Nemesis
	Stalls   Stalls
	Longest  time.Duration // for which any lease was promised
	maxSeq   uint64        // highest sequence number that a client has been told
	audited  bool          // the store's log was read
	Phased   bool          // the history says which phase it is in, and so which faults are in force
	Final    bool          // … and that a final one began
	Alone    bool          // somebody asked for one key and no other
	Now      time.Duration
	Due      time.Duration // when a rule wants to be shown a tick; never when none does
	Seen     int
	Ended    bool

	EntrantsForgotten int // processes that re-entered a lease, no longer remembered, while their owner had another lease
	AheadOfKnown      int // writes told late, from before every lease of their owner's that is remembered

	Truncated bool // the history broke off
	fact      Fact // the one being dispatched
	landing   Landing

	Memory   Memory      // what is kept beside leases
	Wanted   [Kinds]bool // which kinds of facts anybody wants to see
	Observer observer
}

// A Memory is what a ledger keeps for the rules that ask for it.
type Memory uint8

const (
	Crossings   Memory = 1 << iota // which grants crossed a lease that was not released
	TokensGiven                    // the latest tokens of each key
)

// An observer is shown every fact that somebody wants to see.
type observer interface{ Dispatch(f *Fact) }

func NewLedger(h history.Header) *Ledger {
	clock := newClocks(h)
	h.TTL, h.Epsilon = min(h.TTL, history.MaxTime), clock.Widest
	return &Ledger{
		Header: h, Clocks: clock, Due: Never,
		Names:   ledgerNames{Keys: make(map[string]*Key), owners: make(map[string]int)},
		unknown: make(map[string]*Op),
		asked:   make(map[int]*Op),
	}
}

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

// Apply turns the next event of the history into facts, and shows those that are wanted to
// the observer. It keeps no pointer to e.
func (l *Ledger) Apply(e *history.Event) {
	l.Now = e.Time
	if l.Now > l.Due {
		l.Due = Never
		l.emitEvent(Ticked, e)
	}
	switch {
	case e.Op == history.Phase:
		l.phase(e.Value)
		l.emitEvent(Phased, e)
	case e.Process >= 0:
		l.client(e)
	case e.Op == history.Stall:
		l.Stalls.Observe(e)
	case e.Process == history.Nemesis:
		l.Nemesis.Observe(e)
		l.emitEvent(Nemesised, e)
	case e.Process == history.Store:
		l.audit(e)
	case e.Process == history.Witness:
		l.emitEvent(Witnessed, e)
	case e.Process == history.Link:
		l.receipt(e)
	}
}

// emitEvent dispatches a fact that consists of its event alone.
func (l *Ledger) emitEvent(w Kind, e *history.Event) {
	l.fact = Fact{Kind: w, Event: e}
	l.Dispatch()
}

// emit dispatches a fact about an operation and its lease. Fields that facts of kind w do not
// use keep the values of the fact before: clearing them would cost time for each event.
func (l *Ledger) emit(w Kind, e *history.Event, o *Op) {
	if !l.Wanted[w] {
		return
	}
	f := &l.fact
	f.Kind, f.Event, f.Op, f.Grant, f.Key = w, e, o, o.Grant, o.Holder.Key
	l.Observer.Dispatch(f)
}

// phase notes that the run enters a phase.
func (l *Ledger) phase(name string) {
	l.Ended = l.Ended || name == history.PhaseEnd
	l.Phased = l.Phased || name == history.PhaseWarmup || name == history.PhaseMain || name == history.PhaseFinal
	l.Final = l.Final || name == history.PhaseFinal
}

// Dispatch has the observer observe the fact that was made last.
func (l *Ledger) Dispatch() {
	if l.Wanted[l.fact.Kind] {
		l.Observer.Dispatch(&l.fact)
	}
}

// Later is t + d, or Never where that overflows: a lease without an end never ends.
func Later(t, d time.Duration) time.Duration {
	if d > Never-max(t, 0) {
		return Never
	}
	return t + d
}

const Never = time.Duration(math.MaxInt64)

// Bound is the bound of that name in the header, or otherwise where the header has none.
func (l *Ledger) Bound(name string, otherwise int64) int64 {
	if b, ok := l.Header.Bounds[name]; ok {
		return b
	}
	return otherwise
}

func (l *Ledger) Retry() time.Duration {
	return time.Duration(l.Bound(history.BoundRetry, int64(l.Header.TTL)))
}

// CheckedRelease says whether a successful release proves that its owner still held.
func CheckedRelease(h history.Header) bool {
	return h.OwnerCheckedRelease == nil || *h.OwnerCheckedRelease
}

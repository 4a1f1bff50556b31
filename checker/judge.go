package checker

import (
	"context"
	"hash/maphash"
	"time"

	"locktorture/workload/history"
)

// Options say how a Judge works, never what is wrong.
type Options struct {
	Limit          int  // findings kept per anomaly id; 0 means 100
	Counterfactual bool // replay the writes under other fences
	SecondOpinion  bool // let Porcupine judge windows as well
	Window         int  // grants of one key in such a window, at most MaxWindow; 0 means 16
	Views          int  // windows around anomalies of which Report.Views keeps Porcupine's view

	Patience time.Duration // how long Finish waits for the second opinion and for own checkers; 0 is as long as its context

	OurStore bool // the store is the harness's own: what its books get wrong (R1 to R3) is a harness error

	Own []Own // checkers of the user's, which see every event as well
}

// MaxWindow is the most grants that a window of the second opinion holds.
const MaxWindow = 64

// suspicions kept per anomaly id.
const suspicions = 5

// A Judge judges one history. It is a history.Sink: events go in in index
// order, from one goroutine at a time. Live may be called at any time from any
// goroutine; Finish once, after the last event.
type Judge struct {
	h     history.Header // its Epsilon is that of the two clocks that may be furthest apart
	clock bounds
	o     Options
	test  tests

	names      ledgerNames
	procs      procs
	free       *op
	cut        tie               // is not tied: a test's
	spoil      func(*op, *grant) // takes what would be used again, one of the two: a test's
	unknown    map[string]*op    // writes of unknown outcome, by value
	asked      map[int]*op       // other operations of unknown outcome, by invocation
	early      map[int]string    // receipts for operations that are open still
	unsentHits unsentHits
	unsent     map[int]bool // releases, by invocation, that a link is known late never to have carried
	nemesis    nemesis
	stalls     stalls
	longest    time.Duration // for which any lease was promised
	maxSeq     uint64        // highest sequence number that a client has been told
	audited    bool          // the store's log was read
	now        time.Duration
	shown      time.Duration // when live counters are published next, at the latest
	due        time.Duration // when a rule wants to be shown a tick; never when none does
	events     int
	ended      bool
	truncated  bool        // the history broke off
	gaveUp     bool        // the time was up before the history was
	happened   [facts]bool // which kinds of facts there were
	f          fact        // the one being dispatched
	turn       int         // whose turn it is to see it, among those who want to
	landing    landing

	rules      []rule
	wanted     [facts][]rule // which rules see which facts
	dead       []rule
	crashed    []crash
	broken     *crash // the ledger itself panicked
	violations hits
	suspicious hits
	ev         *evidence
	live       live
	phases     *phases
	mishaps    []mishap
	panics     []Finding // of the lock under test
	service    *service
	fences     *counterfactual
	second     *second
	own        []*ownState
}

var _ history.Sink = (*Judge)(nil)

// New makes the judge of a history with header h.
func New(h history.Header, o Options) *Judge {
	if o.Limit == 0 {
		o.Limit = 100
	}
	clock := clockBounds(h)
	h.TTL, h.Epsilon = min(h.TTL, history.MaxTime), clock.widest
	j := &Judge{
		h: h, clock: clock, o: o, test: contract, due: never,
		names:      ledgerNames{keys: make(map[string]*key), owners: make(map[string]int)},
		unknown:    make(map[string]*op),
		asked:      make(map[int]*op),
		unsent:     make(map[int]bool),
		violations: hits{limit: o.Limit},
		suspicious: hits{limit: suspicions},
	}
	j.ev, j.phases, j.service = &evidence{j: j}, &phases{j: j}, &service{j: j}
	books := &bookkeeping{j: j, seed: maphash.MakeSeed()}
	for _, r := range []rule{
		j.ev, j.phases, &tokens{j: j}, &staleWrites{j: j}, &zombies{j: j}, &doubleGrants{j: j},
		&ownership{j: j, checked: checkedRelease(h)}, &foreignRelease{j: j}, &stillborn{j: j}, &sections{j: j},
		&progress{j: j}, &losses{j: j}, &leftovers{j: j}, &effectless{j: j}, &witnesses{j: j}, &samples{j: j}, &auditLog{j: j, books: books}, books,
	} {
		j.enlist(r)
	}
	if len(h.Bounds) > 0 {
		j.enlist(j.service)
	}
	if o.Counterfactual {
		j.fences = newCounterfactual(j)
		j.enlist(j.fences)
	}
	for _, own := range o.Own {
		j.own = append(j.own, &ownState{Own: own})
	}
	if o.SecondOpinion {
		j.second = newSecond(j)
		j.enlist(j.second)
	}
	return j
}

// Check judges a history held in memory.
func Check(ctx context.Context, h history.History, o Options) Report {
	j := New(h.Header, o)
	j.Events(h.Events)
	return j.Finish(ctx, h.Truncated)
}

// Event takes the next event. It keeps no pointer to it.
func (j *Judge) Event(e *history.Event) {
	for _, own := range j.own {
		own.show(e)
	}
	if j.broken == nil {
		defer j.breakDown()
		j.take(e)
		if j.now > j.shown || j.events%publishEvents == 0 {
			j.publish()
		}
	}
	j.events++
}

// Events takes the next events, as Event does one by one. It keeps no pointer
// to them.
func (j *Judge) Events(events []history.Event) {
	end := j.events + len(events)
	defer func() { j.events = end }()
	for _, own := range j.own {
		for i := range events {
			own.show(&events[i])
		}
	}
	if j.broken != nil {
		return
	}
	defer j.breakDown()
	for i := range events {
		j.take(&events[i])
		j.events++
	}
	j.publish()
}

// publish shows the live counters.
func (j *Judge) publish() {
	j.live.publish(&j.ev.Evidence)
	j.shown = j.now + publishAfter
}

// breakDown is deferred: the ledger itself panicked.
func (j *Judge) breakDown() {
	if r := recover(); r != nil {
		j.broken = &crash{cause: r, events: j.events}
	}
}

func (j *Judge) take(e *history.Event) {
	j.now = e.Time
	if j.now > j.due {
		j.due = never
		j.tell(ticked, e)
	}
	switch {
	case e.Op == history.Phase:
		j.ended = j.ended || e.Value == history.PhaseEnd
		j.tell(phased, e)
	case e.Process >= 0:
		j.client(e)
	case e.Op == history.Stall:
		j.stalls.see(e)
	case e.Process == history.Nemesis:
		j.nemesis.see(e)
		j.tell(nemesised, e)
	case e.Process == history.Store:
		j.audit(e)
	case e.Process == history.Witness:
		j.tell(witnessed, e)
	case e.Process == history.Link:
		j.receipt(e)
	}
}

// tell dispatches a fact that is all in its event.
func (j *Judge) tell(w what, e *history.Event) {
	j.f = fact{what: w, e: e}
	j.dispatch(&j.f)
}

// say dispatches a fact about an operation and its lease. Of the fact before,
// what belongs to other kinds of facts is left standing: most of what judging
// costs is moving memory.
func (j *Judge) say(w what, e *history.Event, o *op) {
	if len(j.wanted[w]) == 0 {
		return
	}
	f := &j.f
	f.what, f.e, f.op, f.grant, f.key = w, e, o, o.grant, o.holder.key
	j.dispatch(f)
}

// violate records a violation.
func (j *Judge) violate(h *hit) {
	j.violations.add(h)
	if j.second != nil {
		j.second.hit(h)
	}
	j.live.violation(h)
}

// more counts n violations of id beyond those that are listed.
func (j *Judge) more(id string, n int) {
	if n > 0 {
		if j.violations.total == nil {
			j.violations.total = make(map[string]int)
		}
		j.violations.total[id] += n
		j.live.count(id, int64(n))
	}
}

// proved says whether h, a violation when it was found, is one still.
func (j *Judge) proved(h *hit) bool {
	if h.refuted != nil {
		return !h.refuted()
	}
	return h.length == nil || j.test.overlaps(h.length(), j.apart(h.pair[0], h.pair[1]))
}

// suspect records what may or may not have been wrong.
func (j *Judge) suspect(h *hit) { j.suspicious.add(h) }

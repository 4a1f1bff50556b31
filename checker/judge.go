package checker

import (
	"context"
	"time"

	"locktorture/checker/internal/opinion"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/rule/exclusion"
	"locktorture/checker/internal/rule/liveness"
	"locktorture/checker/internal/rule/writes"
	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
)

// Options say how a Judge works; they do not change what counts as wrong.
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

// A Judge judges one history. It is a history.Sink: events go in in index
// order, from one goroutine at a time. Live may be called at any time from any
// goroutine; Finish once, after the last event.
type Judge struct {
	env     *rule.Env
	o       Options
	shown   time.Duration // when live counters are published next, at the latest
	gaveUp  bool          // the time was up before the history was
	broken  *rule.Crash   // the ledger itself panicked
	ev      *evidence
	live    live
	phases  *phases
	mishaps []mishap
	panics  []Finding // of the lock under test
	service *liveness.Service
	fences  *opinion.Replay
	second  *opinion.Second
	own     []*ownState
	covered *coverage.Table // nil where no floor demands cells
}

var _ history.Sink = (*Judge)(nil)

// New makes the judge of a history with header h.
func New(h history.Header, o Options) *Judge {
	j := blank(h, o)
	for _, r := range j.all() {
		j.env.Enlist(r)
	}
	return j
}

// blank makes a judge without rules.
func blank(h history.Header, o Options) *Judge {
	if o.Limit == 0 {
		o.Limit = 100
	}
	e := rule.NewEnv(h, o.Limit)
	j := &Judge{env: e, o: o, ev: &evidence{j: e}, service: &liveness.Service{Env: e}}
	j.phases = &phases{j: j}
	e.OnViolation, e.OnMore = append(e.OnViolation, j.live.violation), j.live.count
	for _, own := range o.Own {
		j.own = append(j.own, &ownState{Own: own})
	}
	if e.Header.Floors[cellsFloor] > 0 {
		j.covered = coverage.New(e.Header)
	}
	if o.Counterfactual {
		j.fences = opinion.NewReplay(e)
	}
	if o.SecondOpinion {
		j.second = opinion.NewSecond(e, o.Window, o.Views)
		e.OnViolation = append(e.OnViolation, j.second.AddViolation)
	}
	return j
}

// all are the rules, in the order in which they see a fact.
func (j *Judge) all() []rule.Rule {
	e := j.env
	sampled, idle, apart := &exclusion.Sampled{Env: e}, new(liveness.Idle), new(liveness.Independence)
	lifetimes, samples := &rule.Lifetimes{Env: e}, &liveness.Samples{Env: e, Idle: idle}
	effectless := &liveness.Effectless{Env: e, Independence: apart, Samples: samples}
	rules := []rule.Rule{
		j.ev, j.phases, // V1, V3, V4, V6, V7
		&exclusion.Tokens{Env: e},   // S4, S4b
		&writes.StaleWrites{Env: e}, // S2
		&writes.Zombies{Env: e},     // S3z, S8
		sampled,                     // S9
		&exclusion.DoubleGrants{Env: e, Stored: sampled},  // S1, S10
		exclusion.NewOwnership(e),                         // S6
		&exclusion.ForeignRelease{Env: e},                 // S5
		&exclusion.Stillborn{Env: e},                      // S7
		&writes.Sections{Env: e},                          // S3
		&liveness.Progress{Env: e, Independence: apart},   // L1, L2, L7
		&exclusion.Losses{Env: e, Lifetimes: lifetimes},   // S11, L5
		&liveness.Refusals{Env: e},                        // L5
		&liveness.Unrenewed{Env: e, Lifetimes: lifetimes}, // L5
		&liveness.Leftovers{Env: e, Idle: idle},           // L8
		samples,                                           // L8, L2
		effectless,                                        // L9
		&exclusion.Witnesses{Env: e},                      // S9, S5
		writes.NewBookkeeping(e),                          // R1 to R5, S3
	}
	if len(e.Header.Bounds) > 0 {
		rules = append(rules, j.service)
	}
	if j.fences != nil {
		rules = append(rules, j.fences)
	}
	if j.second != nil {
		rules = append(rules, j.second)
	}
	return rules
}

// Check judges a history held in memory.
func Check(ctx context.Context, h history.History, o Options) Report {
	j := New(h.Header, o)
	j.Events(h.Events)
	return j.Finish(ctx, h.Truncated)
}

// forward passes an event on to the observers that follow the history on their own: judges of
// the caller's and the coverage table.
func (j *Judge) forward(e *history.Event) {
	for _, own := range j.own {
		own.observe(e)
	}
	if j.covered != nil {
		j.covered.Event(e)
	}
}

// Event judges the next event. It keeps no pointer to it.
func (j *Judge) Event(e *history.Event) {
	j.forward(e)
	if j.broken == nil {
		defer j.breakDown()
		j.env.Apply(e)
		if j.env.Now > j.shown || j.env.Seen%publishEvents == 0 {
			j.publish()
		}
	}
	j.env.Seen++
}

// Events judges the next events, as Event does one by one. It keeps no pointer to them.
func (j *Judge) Events(events []history.Event) {
	end := j.env.Seen + len(events)
	defer func() { j.env.Seen = end }()
	if len(j.own) > 0 || j.covered != nil {
		for i := range events {
			j.forward(&events[i])
		}
	}
	if j.broken != nil {
		return
	}
	defer j.breakDown()
	for i := range events {
		j.env.Apply(&events[i])
		j.env.Seen++
	}
	j.publish()
}

// publish updates the counters that Live returns.
func (j *Judge) publish() {
	j.live.publish(&j.ev.Evidence)
	j.shown = j.env.Now + publishAfter
}

// breakDown is deferred, and recovers from a panic of the ledger, after which nothing more is
// judged.
func (j *Judge) breakDown() {
	if r := recover(); r != nil {
		j.broken = &rule.Crash{Cause: r, Events: j.env.Seen}
	}
}

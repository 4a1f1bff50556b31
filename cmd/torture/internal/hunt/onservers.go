package hunt

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/search"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/faults/watch"
)

// A Real is the result, on real servers, of a round that shows a finding in virtual time.
type Real struct {
	Testbed string           `json:"testbed"`
	Shown   int              `json:"shown"`                // plays that showed the finding
	Plays   int              `json:"plays"`                // that say something
	Others  []string         `json:"others,omitempty"`     // ids of what they showed besides
	Absent  map[string]int   `json:"absent,omitempty"`     // plays without the finding in which a moment of a step did not come, by the moment
	Idle    map[string]int   `json:"idle,omitempty"`       // faults, in plays without the finding, that came never or changed nothing, as "fault: why"
	Suspect int              `json:"suspect,omitempty"`    // plays without the finding in which it is suspected, not proved
	Stalled time.Duration    `json:"stalled_ns,omitempty"` // the longest time for which the machine stood still in a play without the finding
	Void    []string         `json:"void,omitempty"`       // why each of the other plays says nothing
	Virtual *simulate.Sturdy `json:"virtual,omitempty"`    // the round that was played, and how often it shows the finding in virtual time; nil: it has one order of messages there
	Why     []string         `json:"why,omitempty"`        // the finding did not show in all plays, as far as is known
}

// Servers are real servers, or what is needed to start them, on which findings are played again.
type Servers struct {
	Lock  catalogue.Lock
	Nodes int
	Play  Player
	Out   string     // a folder for what is written meanwhile
	Pace  *link.Pace // of messages; nil: the network's own
}

// Show plays a round n times, each time on servers of its own, and counts in how many plays f
// shows. A play that says nothing is made up for by another, as often as twice n. A play ends
// with the finding; its record is not kept. The error says why the round cannot be played there;
// where ctx ends, what was played until then counts.
func (s Servers) Show(ctx context.Context, r search.Round, f search.Finding, n int) (*Real, error) {
	base, err := Base()
	if err != nil {
		return nil, err
	}
	kind, why, err := testbed.Choose(ctx, testbed.Config{Kind: testbed.KindAuto, Persist: true})
	switch {
	case err != nil:
		return nil, err
	case kind == testbed.KindEmbedded:
		return nil, fmt.Errorf("no real servers: %s", why)
	}
	base.Lock, base.Nodes, base.Testbed, base.Out = s.Lock.ID, s.Nodes, kind, s.Out
	e := &executor{
		lock: s.Lock, base: base, play: s.Play, pace: s.Pace, keep: func([]search.Finding) bool { return false },
		stalled: func() {}, until: func(id string) bool { return id == f.ID }, counts: ignoreCells,
	}
	if s.Pace != nil {
		r.Steps = justAfter(r.Steps)
	}
	// Made small, it may end before its sections do; there, one must end.
	r.Duration = max(r.Duration, r.Load.Hold.Mean, r.Load.Hold.Max)
	if err := e.Fits(r); err != nil {
		return nil, err
	}
	real := &Real{Testbed: kind, Absent: map[string]int{}, Idle: map[string]int{}}
	for real.Plays < n && len(real.Void) < 2*n && ctx.Err() == nil {
		real.add(e.Play(ctx, r), f)
	}
	return real, nil
}

// justAfter has a step that is locked to a request begin just after that was sent, as in virtual
// time, where no client waits at its request for a fault to be in force: there the request gets
// through, and what follows it meets the fault.
func justAfter(steps []faults.Spec) []faults.Spec {
	steps = slices.Clone(steps)
	for i, x := range steps {
		on, _ := x.On.Late()
		if x.Then == 0 && (on == watch.AcquireSent || on == watch.RenewalSent || on == watch.ReleaseSent) {
			steps[i].Then = simulate.StepsApart
		}
	}
	return steps
}

// add takes in what a play came to.
func (r *Real) add(o search.Outcome, f search.Finding) {
	if o.Void != "" {
		r.Void = append(r.Void, o.Void)
		return
	}
	r.Plays++
	for _, g := range o.Findings {
		if !f.Same(g) && !slices.Contains(r.Others, g.ID) {
			r.Others = append(r.Others, g.ID)
		}
	}
	if slices.ContainsFunc(o.Findings, f.Same) {
		r.Shown++
		return
	}
	for moment, came := range o.Fired {
		if !came {
			r.Absent[moment]++
		}
	}
	for text, n := range o.Idle {
		r.Idle[text] += n
	}
	if slices.ContainsFunc(o.Suspected, f.Same) {
		r.Suspect++
	}
	r.Stalled = max(r.Stalled, o.Stalled)
}

// noteworthy is how long a machine stands still at most where nothing need be said of it.
const noteworthy = 20 * time.Millisecond

// Explain says why the finding did not show in every play, as far as the plays tell, and how
// often the round shows it in virtual time, where v tells that.
func (r *Real) Explain(v *simulate.Sturdy) {
	r.Virtual, r.Why = v, nil
	others := r.Plays - r.Shown
	if others == 0 {
		return
	}
	for _, moment := range slices.Sorted(maps.Keys(r.Absent)) {
		r.Why = append(r.Why, fmt.Sprintf("%s, to which a step is locked, did not come in %d of the %d other plays", moment, r.Absent[moment], others))
	}
	for _, text := range slices.Sorted(maps.Keys(r.Idle)) {
		r.Why = append(r.Why, fmt.Sprintf("of the faults in the other plays, %d did nothing: %s", r.Idle[text], text))
	}
	if r.Suspect > 0 {
		r.Why = append(r.Why, fmt.Sprintf("in %d of the %d other plays it is suspected: what the machine's own delays could have done is not proved", r.Suspect, others))
	}
	if len(r.Absent)+len(r.Idle)+r.Suspect == 0 {
		r.Why = append(r.Why, "every step came to its moment in the other plays, and every fault changed something there")
	}
	if r.Stalled >= noteworthy {
		r.Why = append(r.Why, fmt.Sprintf("this machine stood still for as long as %v at a time: what is locked to a moment comes later then, and findings that compare times count only by what exceeds that", r.Stalled.Round(time.Millisecond)))
	}
	switch {
	case v == nil:
		r.Why = append(r.Why, "in virtual time it shows in one order of messages, of which servers are given the deviations alone: between them messages arrive as they will")
	case v.Shown < v.Of:
		r.Why = append(r.Why, fmt.Sprintf("it is a matter of a few messages' order, to which no step can be locked: in virtual time, with other delays at the same pace, the round shows it in %d of %d plays", v.Shown, v.Of))
	default:
		r.Why = append(r.Why, fmt.Sprintf("it is no matter of the order of messages: in virtual time the round shows it in %d of %d plays with other delays; clients or servers were too slow or too fast there", v.Shown, v.Of))
	}
}

package checker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"locktorture/checker/anomaly"
	"locktorture/checker/internal/rule"
	"locktorture/workload/history"
)

// Own is a checker of the user's own. It is shown every event of a history, in
// order, from one goroutine, and asked once, after the last one, what it found.
// Give it to a Judge by Options.Own.
type Own interface {
	history.Sink
	// Name is how the report calls it.
	Name() string
	// Findings says what it found. An error leaves what it decides undecided.
	Findings(ctx context.Context) (Opinion, error)
}

// An Opinion is what an own checker found. Of every Finding the ID and the Text
// must be set; an ID must not be one of the catalogue's (S1, L2, …), which have
// their meaning. Violations make the verdict FAIL.
type Opinion struct {
	Violations   []Finding
	Suspicious   []Finding
	Inconclusive []Finding
}

// An ownState is an own checker and its progress.
type ownState struct {
	Own
	seen int
	dead *rule.Crash
}

// observe has the judge observe an event, unless it has panicked.
func (o *ownState) observe(e *history.Event) {
	if o.dead != nil {
		return
	}
	defer o.breakDown()
	o.Event(e)
	o.seen++
}

func (o *ownState) breakDown() {
	if r := recover(); r != nil {
		o.dead = &rule.Crash{Cause: r, Events: o.seen}
	}
}

// askOwn adds the findings of the own checkers. One that fails leaves what it decides undecided
// (V5), and nothing else.
func (j *Judge) askOwn(ctx context.Context, r *Report) {
	for _, o := range j.own {
		opinion, err := o.ask(ctx, j.env.Seen)
		if err != nil {
			r.Inconclusive = append(r.Inconclusive, unjudged(fmt.Sprintf("The checker %s gave no opinion: %v. What it decides is not decided.", o.Name(), err)))
			continue
		}
		r.Violations = append(r.Violations, opinion.Violations...)
		r.Suspicious = append(r.Suspicious, opinion.Suspicious...)
		r.Inconclusive = append(r.Inconclusive, opinion.Inconclusive...)
	}
	if len(j.own) > 0 {
		slices.SortStableFunc(r.Violations, compareFindings)
		slices.SortStableFunc(r.Suspicious, compareFindings)
	}
}

// ask asks for the opinion of a checker that has observed events.
func (o *ownState) ask(ctx context.Context, events int) (opinion Opinion, err error) {
	if o.dead == nil {
		func() {
			defer o.breakDown()
			opinion, err = o.Findings(ctx)
		}()
	}
	if o.dead != nil {
		return Opinion{}, fmt.Errorf("it broke down after %d of %d events (%v)", o.dead.Events, events, o.dead.Cause)
	}
	if err != nil {
		return Opinion{}, err
	}
	for _, list := range [][]Finding{opinion.Violations, opinion.Suspicious, opinion.Inconclusive} {
		for i := range list {
			if err := o.adopt(&list[i], events); err != nil {
				return Opinion{}, err
			}
		}
	}
	return opinion, nil
}

// adopt checks a finding and fills in what it may leave out.
func (o *ownState) adopt(f *Finding, events int) error {
	switch {
	case f.ID == "" || strings.TrimSpace(f.Text) == "":
		return fmt.Errorf("a finding without id or text: %+v", *f)
	case anomaly.Name(f.ID) != "":
		return fmt.Errorf("the id %s belongs to the catalogue (%s): choose another", f.ID, anomaly.Name(f.ID))
	}
	for _, i := range f.Witness {
		if i < 0 || i >= events {
			return fmt.Errorf("the witness of %s names event %d: there are events 0 to %d", f.ID, i, events-1)
		}
	}
	slices.Sort(f.Witness)
	if f.Name == "" {
		f.Name = o.Name()
	}
	f.Expected, f.Accepted = false, false
	return nil
}

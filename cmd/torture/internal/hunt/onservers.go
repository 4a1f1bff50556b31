package hunt

import (
	"context"
	"fmt"
	"slices"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults/testbed"
)

// A Real is the result, on real servers, of a round that shows a finding in virtual time.
type Real struct {
	Testbed string         `json:"testbed"`
	Shown   int            `json:"shown"`            // plays that showed the finding
	Plays   int            `json:"plays"`            // that say something
	Others  []string       `json:"others,omitempty"` // ids of what they showed besides
	Absent  map[string]int `json:"absent,omitempty"` // plays without the finding in which a moment of a step did not come, by the moment
	Void    []string       `json:"void,omitempty"`   // why each of the other plays says nothing
}

// OnServers plays a round n times on real servers, each time on servers of its own, and
// counts in how many plays f shows. A play ends with the finding; its record is not kept.
// out is a folder for what is written meanwhile. The error says why the round cannot be
// played there; where ctx ends, what was played until then counts.
func OnServers(ctx context.Context, lock catalogue.Lock, nodes int, play Player, out string, r search.Round, f search.Finding, n int) (*Real, error) {
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
	base.Lock, base.Nodes, base.Testbed, base.Out = lock.ID, nodes, kind, out
	e := &executor{
		lock: lock, base: base, play: play, keep: func([]search.Finding) bool { return false },
		stalled: func() {}, until: func(id string) bool { return id == f.ID }, counts: ignoreCells,
	}
	// Made small, it may end before its sections do; there, one must end.
	r.Duration = max(r.Duration, r.Load.Hold.Mean, r.Load.Hold.Max)
	if err := e.Fits(r); err != nil {
		return nil, err
	}
	real := &Real{Testbed: kind, Absent: map[string]int{}}
	for len(real.Void)+real.Plays < n && ctx.Err() == nil {
		real.add(e.Play(ctx, r), f)
	}
	return real, nil
}

// add takes in what a play came to.
func (r *Real) add(o search.Outcome, f search.Finding) {
	if o.Void != "" {
		r.Void = append(r.Void, o.Void)
		return
	}
	r.Plays++
	shown := slices.ContainsFunc(o.Findings, f.Same)
	if shown {
		r.Shown++
	}
	for _, g := range o.Findings {
		if !f.Same(g) && !slices.Contains(r.Others, g.ID) {
			r.Others = append(r.Others, g.ID)
		}
	}
	for moment, came := range o.Fired {
		if !came && !shown {
			r.Absent[moment]++
		}
	}
}

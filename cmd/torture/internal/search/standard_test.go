package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"locktorture/faults"
	"locktorture/faults/catalogue"
	"locktorture/faults/plan"
	"locktorture/faults/testbed/virtual"
	"locktorture/faults/watch"
	"locktorture/workload"
)

// Rounds of the standard plan's steps have steps of all its sequences, those between two steps of an operation and those
// for renewals, readers and re-entries among them, where the round has such; each can be played.
func TestStandardRounds(t *testing.T) {
	space := newModel().space
	space.Faults = FaultNames(func(e catalogue.Entry) bool { return e.Beyond == "" })
	space.Modes = []workload.Mode{workload.ModeMixed, workload.ModeExclusive, workload.ModeRW, workload.ModeReentrant}
	space.Model = func(r Round) *faults.Target { return &faults.Target{Testbed: virtual.New(5, 0), Quorum: 3, TTL: r.TTL} }
	space = space.withDefaults()
	rng := rand.New(rand.NewPCG(1, 1))
	moments, roles, kinds := map[watch.Moment]int{}, map[string]int{}, map[string]int{}
	for range 400 {
		r, ok := space.standard(rng)
		if !ok || r.Origin != Standard || r.Clients < 3 {
			t.Fatalf("%+v, %t", r, ok)
		}
		if r.Load.Mode == workload.ModeExclusive && slices.ContainsFunc(r.Steps, func(x faults.Spec) bool { return x.Client == faults.RoleReader || x.Client == faults.RoleNested }) {
			t.Errorf("%+v: nobody reads there, or asks again", r)
		}
		if _, err := plan.Build(entries, r.Steps, r.TTL); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
		for _, x := range r.Steps {
			moments[x.On]++
			roles[x.Client]++
			kinds[x.Fault]++
			if entries[x.Fault].Beyond != "" {
				t.Errorf("%s is none of the space's faults", x.Fault)
			}
		}
	}
	for _, m := range []watch.Moment{watch.AcquireMidway, watch.RenewalMidway, watch.ReleaseMidway, watch.NextRenewalDue, watch.LateRelease} {
		if moments[m] == 0 {
			t.Errorf("no step at %s: %v", m, moments)
		}
	}
	for _, role := range []string{faults.RoleReader, faults.RoleNested, faults.RoleWanted, faults.RoleTaker} {
		if roles[role] == 0 {
			t.Errorf("no step at a %s: %v", role, roles)
		}
	}
	if len(kinds) < 12 {
		t.Errorf("kinds of faults: %v", kinds)
	}
}

// Where nothing stands for a round's target, no round is drawn so.
func TestStandardRoundsNeedATarget(t *testing.T) {
	space := newModel().space
	if r, ok := space.standard(rand.New(rand.NewPCG(1, 1))); ok {
		t.Errorf("%+v", r)
	}
}

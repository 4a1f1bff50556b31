package search

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/catalogue"
	"locktorture/faults/plan"
	"locktorture/faults/testbed/virtual"
	"locktorture/faults/watch"
	"locktorture/workload"
)

// modelled is a space over five masters, of every fault that a correct lock must survive.
func modelled() Space {
	space := newModel().space
	space.Faults = FaultNames(func(e catalogue.Entry) bool { return e.Beyond == "" })
	space.Modes = []workload.Mode{workload.ModeMixed, workload.ModeExclusive, workload.ModeRW, workload.ModeReentrant}
	space.Model = func(r Round) *faults.Target { return &faults.Target{Testbed: virtual.New(5, 0), Quorum: 3, TTL: r.TTL} }
	return space.withDefaults()
}

// Rounds of the standard plan's steps have steps of all its sequences, those between two steps of an operation and those
// for renewals, readers and re-entries among them, where the round has such; each can be played.
func TestStandardRounds(t *testing.T) {
	space := modelled()
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

// Where nothing stands for a round's target, or the space has none of the standard plan's faults, no round is drawn so; with
// few of them, each has a step, and no more clients than there may be.
func TestStandardRoundsOfLittle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	none, without := newModel().space, modelled()
	without.Faults = []string{"slicer"}
	for _, s := range []Space{none, without} {
		if r, ok := s.standard(rng); ok {
			t.Errorf("%+v", r)
		}
	}
	few := modelled()
	few.Faults, few.Clients = []string{"pause-client", "kill"}, 2
	for range 100 {
		if r, ok := few.standard(rng); !ok || len(r.Steps) == 0 || r.Clients > 2 {
			t.Fatalf("%+v, %t", r, ok)
		}
	}
}

// A search draws such rounds once the first ones are played, and so often that they matter.
func TestSearchesDrawStandardRounds(t *testing.T) {
	s := New(modelled(), 1, Log{})
	drawn := 0
	for i := range 200 {
		r := s.Next()
		if r.Origin == Standard {
			drawn++
			if i < firstPlain {
				t.Errorf("round %d has steps of the standard plan", i+1)
			}
		}
		s.Record(r, Outcome{})
	}
	if drawn < 20 {
		t.Errorf("%d of 200 rounds", drawn)
	}
}

// What is drawn anew of a step is all that its moment decides.
func TestAnotherMomentHasNoOtherOnesElse(t *testing.T) {
	space := modelled()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		x := faults.Spec{Fault: "zombie", On: watch.AcquireMidway, Within: time.Second, Else: watch.AcquireSent, For: time.Second}
		space.drawSetting(&x, 2, Round{TTL: time.Second}, space.Moments, rng)
		if _, err := plan.Build(entries, []faults.Spec{x}, time.Second); err != nil || x.Else != "" {
			t.Fatalf("%+v: %v", x, err)
		}
	}
}

// A step that may have turned to another moment does not tell whether its own came.
func TestTurnedStepsTellNothingOfTheirMoment(t *testing.T) {
	steps := []faults.Spec{{Fault: "zombie", On: watch.AcquireMidway, Within: time.Second, Else: watch.AcquireSent}, {Fault: "cut", On: watch.InSection}}
	came := Started{"zombie": true, "cut": true}.Moments(steps)
	if _, told := came[string(watch.AcquireMidway)]; told || !came[string(watch.InSection)] {
		t.Errorf("%v", came)
	}
}

// Searches with seeds of their own begin with patterns of their own, and one that goes on with the next one.
func TestPatternsBeginWhereTheSeedSays(t *testing.T) {
	first := map[int]bool{}
	for seed := range uint64(8) {
		first[New(modelled(), seed, Log{}).patterned%len(patterns)] = true
	}
	again := New(modelled(), 1, Log{Rounds: []Played{{Number: 1, Round: Round{Origin: Patterned}}, {Number: 2, Round: Round{Origin: Swarm}}}})
	if fresh := New(modelled(), 1, Log{}); len(first) < 3 || again.patterned != fresh.patterned+1 {
		t.Errorf("8 searches begin with %d patterns; one that goes on is at %d, and began at %d", len(first), again.patterned, fresh.patterned)
	}
}

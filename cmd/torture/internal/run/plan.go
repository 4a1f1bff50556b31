package run

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/faults"
	faultcatalogue "locktorture/faults/catalogue"
	"locktorture/faults/link"
	"locktorture/faults/plan"
	"locktorture/faults/testbed"
	"locktorture/faults/watch"
	"locktorture/workload"
)

// Streams of the run's seed: one per actor, so that none shifts another's.
const (
	streamPlan    = 1
	streamNemesis = 2
)

func stream(seed, which uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, which)) }

// drawPlan draws the fault schedule that the scenario names, spells out, or lists. A
// plan that has no room for a single one of its faults is refused.
func drawPlan(c config.Config, l catalogue.Lock, t *faults.Target) (plan.Plan, error) {
	p, err := draw(c, l, t)
	if err == nil && len(p.Steps) == 0 && c.Faults.Any() {
		err = fmt.Errorf("faults %s: none of them can take place within a duration of %v%s", c.Faults.Plan, c.Duration, strings.Join(append([]string{""}, p.Omissions()...), "; "))
	}
	return p, err
}

func draw(c config.Config, l catalogue.Lock, t *faults.Target) (plan.Plan, error) {
	rng := stream(c.Seed, streamPlan)
	known := faultcatalogue.All()
	if steps := c.Faults.Steps; len(steps) > 0 {
		built, err := plan.Build(known, steps, c.TTL)
		if err != nil {
			return plan.Plan{}, err
		}
		return plan.Plan{Steps: built, Asked: len(built)}, errors.Join(built.Check(t), plan.Fit(built, c.Duration, t))
	}
	switch name := c.Faults.Plan; name {
	case "", "none":
		return plan.Plan{}, nil
	case "standard":
		return plan.Standard(plan.StandardConfig{Main: c.Duration, AtOnce: l.Quarantine != nil}, t, rng)
	case "amnesia":
		return plan.Forgetful(c.Duration, false, t)
	case "amnesia-late":
		return plan.Forgetful(c.Duration, true, t)
	case "restarts":
		return plan.Restarts(c.Duration, t, rng)
	case "random", "random-beyond":
		return plan.Random(plan.Budget{Main: c.Duration, Beyond: name == "random-beyond"}, t, rng)
	case "pause":
		return plan.Named(known, []faults.Spec{{Fault: "pause-client"}}, c.Duration, t, rng)
	default:
		specs, err := plan.Parse(name)
		if err != nil {
			return plan.Plan{}, err
		}
		return plan.Named(known, specs, c.Duration, t, rng)
	}
}

// needs reports whether a fault that the scenario may inject needs nodes that
// are started for it.
func needs(f config.Faults, a testbed.Ability) bool {
	for name, entry := range faultcatalogue.All() {
		if entry.Needs == a && asks(f, name, entry) {
			return true
		}
	}
	return false
}

// asks reports whether a fault is in the scenario's plan, or may be.
func asks(f config.Faults, name string, entry faultcatalogue.Entry) bool {
	specs := f.Steps
	switch {
	case len(specs) > 0:
	case f.Plan == "random", f.Plan == "random-beyond":
		return entry.Beyond == "" || f.Plan == "random-beyond"
	default:
		specs, _ = plan.Parse(f.Plan) // what cannot be read is refused when the plan is drawn
	}
	return slices.ContainsFunc(specs, func(s faults.Spec) bool { return s.Fault == name })
}

// fsync has nodes lose a second's writes with their power, where the scenario
// wants that, and nothing otherwise.
func fsync(c config.Config) testbed.Fsync {
	if needs(c.Faults, testbed.AbilityPowerLoss) {
		return testbed.FsyncSecond
	}
	return testbed.FsyncAlways
}

// target is the run as the nemesis knows it.
func (e *environment) target(observer *watch.Observer) *faults.Target {
	t := &faults.Target{Testbed: e.bed, Link: e.link, Watch: observer, Quorum: e.quorum(), TTL: e.cfg.TTL, Load: e.cfg.Duration, LeaseKeys: e.leaseKeys, Fabric: e.fabric, Notifies: notifies(e.cfg, e.lock)}
	_, t.OwnWrites = e.probe.(childLocker)
	mode := e.cfg.Load.Mode
	t.Reads, t.Reenters = workload.Includes(mode, workload.ModeRW, e.probe), workload.Includes(mode, workload.ModeReentrant, e.probe)
	t.Extends = workload.Extends(e.probe)
	if e.lock.Quarantine != nil {
		t.Quarantine = e.lock.Quarantine(e.cfg)
	}
	t.Clients = e.drive.clients()
	for _, c := range e.clients { // none where they are at workers, as their links are
		_, t.Taps = e.link(c.Name(), e.bed.Nodes()[0].Name()).(link.Tapper)
	}
	return t
}

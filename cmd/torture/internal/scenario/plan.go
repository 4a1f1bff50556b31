package scenario

import (
	"math/rand/v2"

	"locktorture/faults"
)

// Streams of the run's seed: one per actor, so that none shifts another's.
const (
	streamPlan    = 1
	streamNemesis = 2
)

func stream(seed, which uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, which)) }

// plan draws the fault schedule that the scenario names, spells out, or lists.
func (r *rig) plan(t *faults.Target) (faults.Plan, error) {
	rng := stream(r.cfg.Seed, streamPlan)
	catalogue := faults.Catalogue()
	if steps := r.cfg.Faults.Steps; len(steps) > 0 {
		built, err := faults.Build(catalogue, steps, r.cfg.TTL)
		if err != nil {
			return faults.Plan{}, err
		}
		return faults.Plan{Steps: built}, built.Check(t)
	}
	switch name := r.cfg.Faults.Plan; name {
	case "", "none":
		return faults.Plan{}, nil
	case "standard":
		return faults.Standard(faults.StandardConfig{Main: r.cfg.Duration, AtOnce: r.lock.Quarantine != nil}, t, rng)
	case "amnesia":
		return faults.Forgetful(r.cfg.Duration, false, t)
	case "amnesia-late":
		return faults.Forgetful(r.cfg.Duration, true, t)
	case "random", "random-beyond":
		return faults.Random(faults.Budget{Main: r.cfg.Duration, Beyond: name == "random-beyond"}, t, rng)
	case "pause":
		return faults.Named(catalogue, []faults.Spec{{Fault: "pause-client"}}, r.cfg.Duration, t, rng)
	default:
		specs, err := faults.Parse(name)
		if err != nil {
			return faults.Plan{}, err
		}
		return faults.Named(catalogue, specs, r.cfg.Duration, t, rng)
	}
}

// target is the run as the nemesis sees it.
func (r *rig) target(watch *faults.Watch) *faults.Target {
	t := &faults.Target{Testbed: r.bed, Link: r.link, Watch: watch, Quorum: r.quorum(), TTL: r.cfg.TTL, LeaseKeys: r.leaseKeys, Fabric: r.fabric, Notifies: r.notifies()}
	if r.lock.Quarantine != nil {
		t.Quarantine = r.lock.Quarantine(r.cfg)
	}
	for _, c := range r.clients {
		t.Clients = append(t.Clients, c)
	}
	return t
}

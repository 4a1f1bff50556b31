package plan

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/faults"
	"locktorture/faults/catalogue"
)

// A Budget bounds what a random plan may do at a time.
type Budget struct {
	Main   time.Duration // length of the main phase
	Lanes  int           // faults side by side that leave every quorum alone; 0 is 3
	Beyond bool          // also faults that break an assumption of correct locks
	Faults []string      // only these; empty: the whole catalogue
}

// Random draws a plan from the whole entries, as far as t can suffer it.
// Faults that take nodes away come one after another, so that no more nodes
// are gone at a time than the quorum can spare; the others come in sequences
// beside them.
func Random(b Budget, t *faults.Target, rng *rand.Rand) (Plan, error) {
	entries := catalogue.All()
	lead, tail := min(t.TTL/2, b.Main/10), min(t.TTL, b.Main/5)
	window := b.Main - tail - lead
	var takes, leaves []faults.Spec
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		switch {
		case len(b.Faults) > 0 && !slices.Contains(b.Faults, name), e.Beyond != "" && !b.Beyond:
		case e.Takes || e.Beyond != "":
			takes = append(takes, faults.Spec{Fault: name})
		default:
			leaves = append(leaves, faults.Spec{Fault: name})
		}
	}
	var plan Plan
	gap := afterNodes(entries, t, t.TTL)
	sequences := []sequence{{specs: fill(plan.supported(entries, takes, t), window, gap, rng), gap: gap}}
	leaves = plan.supported(entries, leaves, t)
	if b.Lanes == 0 {
		b.Lanes = 3
	}
	for range b.Lanes {
		gap := steady(t.TTL / 4)
		sequences = append(sequences, sequence{specs: fill(leaves, window, gap, rng), gap: gap})
	}
	drawn, err := draw(entries, sequences, span{lead, lead + window}, t, rng)
	return Plan{Steps: drawn.Steps, LeftOut: plan.LeftOut, Asked: drawn.Asked}, err
}

// fill draws from specs, each as often as the others, until the window is full.
func fill(specs []faults.Spec, window time.Duration, gap func(faults.Spec) time.Duration, rng *rand.Rand) []faults.Spec {
	var all []faults.Spec
	var used time.Duration
	for len(specs) > 0 {
		for _, i := range rng.Perm(len(specs)) {
			if used += specs[i].For + gap(specs[i]); used > window {
				return all
			}
			all = append(all, specs[i])
		}
	}
	return all
}

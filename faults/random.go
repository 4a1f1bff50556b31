package faults

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// A Budget bounds what a random plan may do at a time.
type Budget struct {
	Main   time.Duration // length of the main phase
	Lanes  int           // faults side by side that leave every quorum alone; 0 is 3
	Beyond bool          // also faults that break an assumption of correct locks
	Faults []string      // only these; empty: the whole catalogue
}

// Random draws a plan from the whole catalogue, as far as t can suffer it.
// Faults that take nodes away come one after another, so that no more nodes
// are gone at a time than the quorum can spare; the others come in lanes
// beside them.
func Random(b Budget, t *Target, rng *rand.Rand) (Plan, error) {
	catalogue := Catalogue()
	lead, tail := min(t.TTL/2, b.Main/10), min(t.TTL, b.Main/5)
	window := b.Main - tail - lead
	var takes, leaves []Spec
	for _, name := range slices.Sorted(maps.Keys(catalogue)) {
		e := catalogue[name]
		switch {
		case len(b.Faults) > 0 && !slices.Contains(b.Faults, name), e.Beyond != "" && !b.Beyond:
		case e.Takes || e.Beyond != "":
			takes = append(takes, Spec{Fault: name})
		default:
			leaves = append(leaves, Spec{Fault: name})
		}
	}
	var plan Plan
	gap := afterNodes(t, t.TTL)
	lanes := []lane{{specs: fill(plan.keep(catalogue, takes, t), window, gap, rng), gap: gap}}
	leaves = plan.keep(catalogue, leaves, t)
	if b.Lanes == 0 {
		b.Lanes = 3
	}
	for range b.Lanes {
		gap := steady(t.TTL / 4)
		lanes = append(lanes, lane{specs: fill(leaves, window, gap, rng), gap: gap})
	}
	drawn, err := draw(catalogue, lanes, span{lead, lead + window}, t, rng)
	return Plan{Steps: drawn.Steps, LeftOut: plan.LeftOut, Asked: drawn.Asked}, err
}

// fill draws from specs, each as often as the others, until the window is full.
func fill(specs []Spec, window time.Duration, gap func(Spec) time.Duration, rng *rand.Rand) []Spec {
	var all []Spec
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

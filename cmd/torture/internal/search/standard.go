package search

import (
	"math/rand/v2"
	"slices"

	"locktorture/faults"
	"locktorture/faults/plan"
	"locktorture/workload"
)

// standard draws a round of steps that the standard plan has for a minute: one to three kinds of
// them, each again and again, since a round has room for few. Any sequence of the plan is as likely as
// another, and within one each step as often as it comes in a minute. It reports false where nothing stands for a
// round's target, and where the space has none of those faults.
func (s *Space) standard(rng *rand.Rand) (r Round, ok bool) {
	if s.Model == nil {
		return r, false
	}
	r = Round{Seed: drawSeed(rng), Origin: Standard}
	s.drawShape(&r, rng)
	l := &r.Load
	if slices.Contains(s.Modes, workload.ModeMixed) && rng.IntN(2) == 0 {
		l.Mode, l.Readers = workload.ModeMixed, 0
	}
	r.Clients, l.Keys = min(s.Clients, max(3, r.Clients)), min(l.Keys, 4)
	t := s.Model(r)
	t.Taps, t.Extends = true, l.Extend > 0 || l.Renew || l.LongHold > 0 || l.Mode == workload.ModeMixed
	t.Reads, t.Reenters = s.has(r, workload.ModeRW), s.has(r, workload.ModeReentrant)
	var sequences [][]faults.Spec
	for _, steps := range plan.StandardSteps(t.Quarantine > 0, t) {
		steps = slices.DeleteFunc(steps, func(x faults.Spec) bool { return !slices.Contains(s.Faults, x.Fault) })
		if len(steps) > 0 {
			sequences = append(sequences, steps)
		}
	}
	if len(sequences) == 0 {
		return r, false
	}
	for range 1 + rng.IntN(3) {
		x := pick(rng, pick(rng, sequences))
		x.At = share(r.Duration, 0.03+0.2*rng.Float64())
		x.Times, x.Every = 4, length(x, r.TTL)+share(r.TTL, pick(rng, []float64{0.4, 0.8}))
		r.Steps = append(r.Steps, x)
	}
	r = s.fitted(r)
	return r, len(r.Steps) > 0
}

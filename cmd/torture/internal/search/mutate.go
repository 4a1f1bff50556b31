package search

import (
	"math/rand/v2"
	"slices"

	"locktorture/faults/watch"
)

// mutant is r with one to three things about it changed.
func (s *Space) mutant(r Round, rng *rand.Rand, weights weights) Round {
	m := r.clone()
	m.Origin = Mutated
	for range 1 + rng.IntN(3) {
		s.mutate(&m, rng, weights)
	}
	s.lengthen(&m)
	return s.fitted(m)
}

func (s *Space) mutate(m *Round, rng *rand.Rand, weights weights) {
	if len(m.Steps) == 0 || rng.IntN(3) == 0 {
		s.mutateLoad(m, rng, weights)
		return
	}
	at := rng.IntN(len(m.Steps))
	switch rng.IntN(5) {
	case 0: // one step fewer
		m.Steps = slices.Delete(m.Steps, at, at+1)
	case 1: // the same again, later
		again := m.Steps[at]
		s.drawSetting(&again, 0, *m, nil, rng)
		m.Steps = append(m.Steps, again)
	case 2: // another one beside it
		m.Steps = append(m.Steps, s.steps(*m, s.profile(rng, weights), rng)...)
	default: // one of its settings
		moments := []watch.Moment{weights.moment(rng, s.Moments)}
		s.drawSetting(&m.Steps[at], rng.IntN(settings), *m, moments, rng)
	}
}

// mutateLoad changes the load, the seed, or the vocabulary.
func (s *Space) mutateLoad(m *Round, rng *rand.Rand, weights weights) {
	switch rng.IntN(4) {
	case 0:
		m.Seed = drawSeed(rng)
	case 1:
		m.Steps = append(m.Steps, s.steps(*m, s.profile(rng, weights), rng)...)
	default:
		s.drawDimension(m, rng.IntN(dimensions), rng)
	}
}

// cross gives one round's load steps of both.
func (s *Space) cross(a, b Round, rng *rand.Rand) Round {
	c := a.clone()
	c.Origin, c.Steps = Crossed, nil
	for _, x := range slices.Concat(a.Steps, b.Steps) {
		if rng.IntN(2) == 0 {
			c.Steps = append(c.Steps, x)
		}
	}
	s.lengthen(&c)
	return s.fitted(c)
}

// weights say how often steps that were locked to a moment met it.
type weights map[watch.Moment]*tally

type tally struct{ tried, came int }

// note counts what became of a round's moments.
func (w weights) note(fired map[string]bool) {
	for moment, came := range fired {
		t := w[watch.Moment(moment)]
		if t == nil {
			t = &tally{}
			w[watch.Moment(moment)] = t
		}
		t.tried++
		if came {
			t.came++
		}
	}
}

// moment draws one of all: each as likely as it is to come, by what was seen of it
// (Laplace's rule of succession), so that one that has not been tried is.
func (w weights) moment(rng *rand.Rand, all []watch.Moment) watch.Moment {
	of := make([]float64, len(all))
	for i, m := range all {
		t := w[m]
		if t == nil {
			t = &tally{}
		}
		of[i] = float64(t.came+1) / float64(t.tried+2)
	}
	return all[draw(rng, of)]
}

// draw returns an index, each as likely as its weight.
func draw(rng *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	at := rng.Float64() * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}

package plan

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/faults"
	"locktorture/faults/catalogue"
)

// A StandardConfig shapes the standard plan.
type StandardConfig struct {
	Main   time.Duration // length of the main phase
	AtOnce bool          // nodes may come back empty at once: the lock keeps them out itself
}

// standardMain is the main phase for which the standard plan's numbers stand;
// they grow and shrink with it.
const standardMain = time.Minute

// Standard draws the plan of the standard scenario: bad weather on the links,
// nodes that die, holders that stand still beyond their lease or crash, and
// replies that get lost. It never takes away more nodes at a time than the
// quorum can spare. What t cannot suffer, and what does not fit, is left out
// and said.
func Standard(c StandardConfig, t *faults.Target, rng *rand.Rand) (Plan, error) {
	entries := catalogue.All()
	empty := "kill-late"
	if c.AtOnce {
		empty = "kill-empty"
	}
	lanes := []lane{
		{specs: interleave(c, []int{3}, "latency"), gap: steady(t.TTL / 2)},
		{specs: interleave(c, []int{1, 1, 2}, "kill", empty, "one-way"), gap: afterNodes(t, t.TTL)},
		{specs: interleave(c, []int{7}, "pause-client"), gap: steady(t.TTL / 4)},
		{specs: interleave(c, []int{5}, "crash-client"), gap: steady(t.TTL / 4)},
		{specs: interleave(c, []int{2, 2, 1}, "store-reply-lost", "response-lost", "fast-lost-reply"), gap: steady(t.TTL / 4)},
	}
	lead, tail := min(t.TTL/2, c.Main/10), min(t.TTL, c.Main/5)
	return draw(entries, lanes, span{lead, c.Main - tail}, t, rng)
}

// interleave lists each of names as often as its count says for the main
// phase of c, at least once, by turns.
func interleave(c StandardConfig, counts []int, names ...string) []faults.Spec {
	left := make([]int, len(names))
	for i := range names {
		left[i] = max(1, int(float64(counts[i])*float64(c.Main)/float64(standardMain)+0.5))
	}
	var specs []faults.Spec
	for again := true; again; {
		again = false
		for i, name := range names {
			if left[i] > 0 {
				specs = append(specs, faults.Spec{Fault: name})
				left[i]--
				again = true
			}
		}
	}
	return specs
}

// span is a stretch of the main phase.
type span struct{ from, to time.Duration }

// draw lays the lanes into a window side by side and builds the schedule.
func draw(entries map[string]catalogue.Entry, lanes []lane, window span, t *faults.Target, rng *rand.Rand) (Plan, error) {
	var plan Plan
	var all []faults.Spec
	for _, l := range lanes {
		plan.Asked += len(l.specs)
		l.specs = plan.keep(entries, l.specs, t)
		laid, dropped := l.lay(window.to-window.from, rng)
		for i := range laid {
			laid[i].At += window.from
		}
		all = append(all, laid...)
		for _, name := range slices.Sorted(maps.Keys(tally(dropped))) {
			why := fmt.Sprintf("%d more did not fit into %v", tally(dropped)[name], window.to-window.from)
			plan.LeftOut = append(plan.LeftOut, LeftOut{name, why})
		}
	}
	var err error
	plan.Steps, err = Build(entries, roundAt(all), t.TTL)
	return plan, err
}

// keep returns the specs that t can suffer, with their length filled in, and
// notes the others.
func (p *Plan) keep(entries map[string]catalogue.Entry, specs []faults.Spec, t *faults.Target) []faults.Spec {
	var kept []faults.Spec
	noted := map[string]bool{}
	for _, s := range specs {
		entry := entries[s.Fault]
		params := s.Params.Or(entry.Default)
		err := entry.New(params).Supports(t)
		if err == nil && entry.Takes && len(t.Testbed.Nodes()) <= t.Quorum {
			err = fmt.Errorf("%d nodes and a quorum of %d: none can be spared", len(t.Testbed.Nodes()), t.Quorum)
		}
		if err == nil {
			if s.For == 0 {
				s.For = entry.For(t.TTL)
			}
			kept = append(kept, s)
		} else if !noted[s.Fault] {
			noted[s.Fault] = true
			p.LeftOut = append(p.LeftOut, LeftOut{s.Fault, err.Error()})
		}
	}
	return kept
}

func tally(specs []faults.Spec) map[string]int {
	n := map[string]int{}
	for _, s := range specs {
		n[s.Fault]++
	}
	return n
}

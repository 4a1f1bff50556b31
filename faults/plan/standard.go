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

// span is a stretch of the main phase.
type span struct{ from, to time.Duration }

// draw lays the sequences into a window side by side and builds the schedule, with those specs
// beside them that have their times.
func draw(entries map[string]catalogue.Entry, sequences []sequence, window span, t *faults.Target, rng *rand.Rand, timed ...faults.Spec) (Plan, error) {
	var plan Plan
	var all []faults.Spec
	dropped := map[string]int{} // by fault
	for _, l := range sequences {
		plan.Asked += len(l.specs)
		l.specs = plan.supported(entries, l.specs, t)
		laid, rest := l.lay(window.to-window.from, rng)
		for i := range laid {
			laid[i].At += window.from
		}
		all = append(all, laid...)
		for _, s := range rest {
			dropped[s.Fault]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dropped)) {
		plan.LeftOut = append(plan.LeftOut, LeftOut{name, dropped[name], fmt.Sprintf("no room within %v", window.to-window.from)})
	}
	plan.Asked += len(timed)
	all = append(all, plan.supported(entries, timed, t)...)
	var err error
	plan.Steps, err = Build(entries, roundAt(all), t.TTL)
	return plan, err
}

// supported returns the specs that t supports, with their length filled in, and notes the
// others as left out.
func (p *Plan) supported(entries map[string]catalogue.Entry, specs []faults.Spec, t *faults.Target) []faults.Spec {
	var kept []faults.Spec
	noted := map[string]bool{}
	for _, s := range specs {
		entry := entries[s.Fault]
		params := s.Params.Or(entry.Default)
		err := entry.New(params).Supports(t)
		if err == nil {
			err = spared(t, s, entry)
		}
		if err == nil {
			if s.For == 0 {
				s.For = entry.For(t.TTL)
			}
			kept = append(kept, s)
		} else if !noted[s.Fault] {
			noted[s.Fault] = true
			p.LeftOut = append(p.LeftOut, LeftOut{Fault: s.Fault, Why: err.Error()})
		}
	}
	return kept
}

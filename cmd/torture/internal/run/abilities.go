package run

import (
	"maps"
	"slices"

	"locktorture/faults"
	"locktorture/faults/plan"
	"locktorture/faults/watch"
	"locktorture/lockimpl"
	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
)

// abilities are what the lock can do, and what may befall it under a plan: which
// cells of the table of what is covered count.
func (e *environment) abilities(p plan.Plan) *coverage.Abilities {
	a := &coverage.Abilities{
		Extend: lockimpl.Extends(e.probe), Notify: notifies(e.cfg, e.lock), Several: e.masters() > e.quorum(), Empty: e.lock.Quarantine != nil,
		Clocks: slices.ContainsFunc(p.Steps, shiftsClocks),
	}
	_, a.Wait = e.probe.(lockimpl.WaitLocker)
	_, a.Shared = e.probe.(lockimpl.SharedLocker)
	_, a.Reentrant = e.probe.(lockimpl.ReentrantLocker)
	_, a.Multi = e.probe.(lockimpl.MultiLocker)
	_, a.Fair = e.probe.(lockimpl.FairLocker)
	return a
}

func shiftsClocks(s faults.Step) bool {
	class, ok := coverage.ClassOf(s.Fault.Name(), nil, history.Header{})
	return ok && class == coverage.ClockShifted
}

// aims are the phases at which a step strikes that is locked to a moment.
var aims = map[watch.Moment]coverage.Phase{
	watch.AcquireSent: coverage.AcquireSent, watch.AcquireReplied: coverage.AcquireReplied, watch.InSection: coverage.InSection,
	watch.RenewalDue: coverage.RenewalDue, watch.NextRenewalDue: coverage.RenewalDue, watch.RenewalSent: coverage.RenewalSent, watch.ReleaseSent: coverage.ReleaseSent, watch.ReleaseReplied: coverage.ReleaseReplied, watch.Expiry: coverage.Expiry,
	watch.AcquireMidway: coverage.AcquireSent, watch.RenewalMidway: coverage.RenewalSent, watch.ReleaseMidway: coverage.ReleaseSent, watch.LateRenewal: coverage.RenewalSent, watch.LateRelease: coverage.ReleaseSent,
}

// promised counts the cells at which the steps of a plan aim. A step takes effect a moment
// later than it aims, and meets other cells on its way: a run must reach as many cells, not
// exactly these.
func promised(p plan.Plan, can coverage.Abilities) int {
	cells := map[coverage.Cell]bool{}
	for _, s := range p.Steps {
		class, ok := coverage.ClassOf(s.Fault.Name(), nil, history.Header{})
		if phase, aimed := aims[s.When.On]; ok && aimed {
			cells[coverage.Cell{Phase: phase, Class: class}] = can.Has(coverage.Cell{Phase: phase, Class: class})
		}
	}
	maps.DeleteFunc(cells, func(_ coverage.Cell, counts bool) bool { return !counts })
	return len(cells)
}

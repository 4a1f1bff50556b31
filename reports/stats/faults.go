package stats

import (
	"slices"
	"time"

	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// Never stands for a moment that did not come.
const Never = fold.Never

// A Fault is one fault as it happened, and what came after it. Moments that did
// not come are Never.
type Fault struct {
	fold.Fault
	Target string `json:"target,omitempty"` // in words

	// FirstGrant is how long after the heal (or after an instant fault) the
	// first lock was granted; Settled how long until grants and latency were
	// back at what they were while it was quiet.
	FirstGrant time.Duration `json:"first_grant_ns"`
	Settled    time.Duration `json:"settled_ns"`
}

// faultLog tells what the nemesis was doing while an operation ran.
type faultLog struct {
	fold.FaultLog
	firstGrant []time.Duration // by the fault's number
	waiting    []*fold.Fault   // over, and nothing was granted since
	active     int             // in force
	lastEnd    time.Duration   // end of the last fault's effect
	recovery   time.Duration   // how long after it an operation counts as recovering
}

func newFaultLog(ttl time.Duration) faultLog {
	return faultLog{lastEnd: Never, recovery: max(ttl, time.Second)}
}

func (l *faultLog) event(e *history.Event) {
	f := l.Event(e)
	if f == nil {
		return
	}
	if f.No == len(l.firstGrant) {
		l.firstGrant = append(l.firstGrant, Never)
	}
	switch {
	case e.Kind == history.Invoke, e.Kind == history.Fail:
	case e.Op == history.Fault && !f.Instant:
		l.active++
	default:
		if e.Op == history.Heal {
			l.active--
		}
		l.lastEnd = max(l.lastEnd, e.Time)
		l.waiting = append(l.waiting, f)
	}
}

// phase classifies an operation that began at start and ends at this event.
func (l *faultLog) phase(start time.Duration) Phase {
	switch {
	case l.active > 0, l.lastEnd != Never && l.lastEnd >= start:
		return Faulted
	case l.lastEnd != Never && start < l.lastEnd+l.recovery:
		return Recovering
	default:
		return Quiet
	}
}

// granted notes the first grant after each fault.
func (l *faultLog) granted(t time.Duration) {
	for _, f := range l.waiting {
		l.firstGrant[f.No] = t - f.End()
	}
	l.waiting = l.waiting[:0]
}

// summary lists the faults so far. It shares nothing with l.
func (l *faultLog) summary() (all []Fault) {
	for i, f := range l.All() {
		one := Fault{Fault: *f, Target: TargetText(f.Target), FirstGrant: l.firstGrant[i], Settled: Never}
		one.Receipts = slices.Clone(f.Receipts)
		all = append(all, one)
	}
	return all
}

func (l *faultLog) inEffect() (active []Active) {
	for _, f := range l.All() {
		if f.InForce() {
			active = append(active, Active{Name: f.Name, Target: TargetText(f.Target), Since: f.Started})
		}
	}
	return active
}

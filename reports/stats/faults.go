package stats

import (
	"bytes"
	"time"

	"locktorture/workload/history"
)

// Never stands for a moment that did not come.
const Never time.Duration = -1

// A Fault is one fault as it happened, read off the nemesis's events. Moments
// that did not come are Never.
type Fault struct {
	Name      string        `json:"name"`
	Target    string        `json:"target,omitempty"` // in words
	Instant   bool          `json:"instant,omitempty"`
	Invoked   time.Duration `json:"invoked_ns"`
	Started   time.Duration `json:"started_ns"`
	HealBegan time.Duration `json:"heal_began_ns"`
	Healed    time.Duration `json:"healed_ns"`
	Bit       bool          `json:"bit"` // a receipt proves that it did what it should
	Receipts  []string      `json:"receipts,omitempty"`
	Err       string        `json:"err,omitempty"`

	// FirstGrant is how long after the heal (or after an instant fault) the
	// first lock was granted; Settled how long until grants and latency were
	// back at what they were while it was quiet.
	FirstGrant time.Duration `json:"first_grant_ns"`
	Settled    time.Duration `json:"settled_ns"`

	target []byte
	done   bool // the injection was answered
}

// End is when the fault's effect ends: its heal, or its start when it is
// instant; Never while it is in force or when it never started.
func (f *Fault) End() time.Duration {
	if f.Instant {
		return f.Started
	}
	return f.Healed
}

// Mended reports whether nothing of the fault is left: healed, or in no need
// of it.
func (f *Fault) Mended() bool { return f.Instant || f.Started == Never || f.Healed != Never }

type faultLog struct {
	list     []*Fault
	waiting  []*Fault // over, and nothing was granted since
	active   int
	lastEnd  time.Duration // end of the last fault's effect
	recovery time.Duration // how long after it an operation counts as recovering
}

func newFaultLog(ttl time.Duration) faultLog {
	return faultLog{lastEnd: Never, recovery: max(ttl, time.Second)}
}

func (l *faultLog) event(e *history.Event) {
	if e.Op == history.Fault {
		l.fault(e)
		return
	}
	f := l.inForce(e)
	if f == nil {
		return
	}
	if e.Kind == history.Invoke {
		f.HealBegan = e.Time
		return
	}
	l.healed(f, e)
}

func (l *faultLog) fault(e *history.Event) {
	if e.Kind == history.Invoke {
		l.invoked(e)
		return
	}
	f := l.pending(e)
	if f == nil {
		return
	}
	f.done = true
	f.Err = e.Err
	f.Instant = f.Instant || e.Instant
	if len(e.Target) > 0 {
		f.target, f.Target = e.Target, TargetText(e.Target)
	}
	if e.Kind == history.Fail {
		return
	}
	f.Started = e.Time
	f.receipt(e)
	if f.Instant {
		l.lastEnd = max(l.lastEnd, e.Time)
		l.waiting = append(l.waiting, f)
		return
	}
	l.active++
}

func (l *faultLog) invoked(e *history.Event) {
	f := &Fault{
		Name: e.Fault, Target: TargetText(e.Target), target: e.Target, Instant: e.Instant, Invoked: e.Time,
		Started: Never, HealBegan: Never, Healed: Never, FirstGrant: Never, Settled: Never,
	}
	if e.HasAll(history.HasBegan) {
		f.Invoked = min(f.Invoked, e.Began)
	}
	l.list = append(l.list, f)
}

func (l *faultLog) healed(f *Fault, e *history.Event) {
	if e.Err != "" {
		f.Err = e.Err
	}
	if e.Kind == history.Fail {
		return
	}
	f.Healed = e.Time
	f.receipt(e)
	l.active--
	l.lastEnd = e.Time
	l.waiting = append(l.waiting, f)
}

// receipt notes what proves that the fault bit.
func (f *Fault) receipt(e *history.Event) {
	if e.Receipt != "" {
		f.Receipts = append(f.Receipts, e.Receipt)
	}
	f.Bit = f.Bit || e.Kind == history.OK && e.Receipt != ""
}

// pending finds the invoked fault that e answers: the oldest of that name and
// target that waits.
func (l *faultLog) pending(e *history.Event) *Fault {
	var loose *Fault
	for _, f := range l.list {
		switch {
		case f.done || f.Name != e.Fault:
		case bytes.Equal(f.target, e.Target):
			return f
		case loose == nil:
			loose = f
		}
	}
	return loose
}

// inForce finds the fault that a heal event speaks of.
func (l *faultLog) inForce(e *history.Event) *Fault {
	var loose *Fault
	for _, f := range l.list {
		switch {
		case f.Started == Never || f.Healed != Never || f.Instant || f.Name != e.Fault:
		case bytes.Equal(f.target, e.Target):
			return f
		case loose == nil && len(e.Target) == 0:
			loose = f
		}
	}
	return loose
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
		f.FirstGrant = t - f.End()
	}
	l.waiting = l.waiting[:0]
}

package fold

import (
	"slices"
	"time"

	"locktorture/workload/history"
)

// Never stands for a moment that did not come.
const Never time.Duration = -1

// A Fault is one fault as it happened, read off the nemesis's events. Moments
// that did not come are Never.
type Fault struct {
	No         int             `json:"-"` // from 0, in the order of their invocations
	Name       string          `json:"name"`
	Target     *history.Target `json:"-"`
	Instant    bool            `json:"instant,omitempty"` // over at once
	Invoked    time.Duration   `json:"invoked_ns"`
	Started    time.Duration   `json:"started_ns"` // in force, as far as its receipt tells
	HealBegan  time.Duration   `json:"heal_began_ns"`
	Healed     time.Duration   `json:"healed_ns"`
	TookEffect bool            `json:"bit"` // a receipt proves that it did what it should
	Receipts   []string        `json:"receipts,omitempty"`
	Err        string          `json:"err,omitempty"`
	Replaced   bool            `json:"replaced,omitempty"` // nothing proves that it took effect, and another victim was tried

	first int // index of the invocation of the fault
	stage stage
	since int // index of the invocation, of the fault or of its heal, that is open
}

// A stage is what a fault waits for.
type stage int

const (
	invoked  stage = iota // the injection's completion
	standing              // its heal
	healing               // the heal's completion
	closed                // nothing
)

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

// InForce reports whether it took effect and lasts.
func (f *Fault) InForce() bool { return f.Started != Never && !f.Mended() }

// A FaultLog follows the nemesis: it pairs each completion with its invocation,
// and each heal with its fault. The zero value is ready.
type FaultLog struct {
	all  []*Fault
	open []*Fault // those of all that wait for something
}

// All returns the faults in the order of their invocations.
func (l *FaultLog) All() []*Fault { return l.all }

// Event takes the next event, and returns the fault that it speaks of; nil for
// any other event, and for one that speaks of no fault that is known.
func (l *FaultLog) Event(e *history.Event) *Fault {
	switch {
	case e.Op == history.Fault && e.Kind == history.Invoke:
		return l.begin(e)
	case e.Op == history.Fault:
		return l.injected(l.find(e, invoked), e)
	case e.Op == history.Heal && e.Kind == history.Invoke:
		f := l.find(e, standing)
		if f != nil {
			f.stage, f.since, f.HealBegan = healing, e.Index, e.Time
		}
		return f
	case e.Op == history.Heal:
		return l.healed(l.find(e, healing), e)
	}
	return nil
}

func (l *FaultLog) begin(e *history.Event) *Fault {
	f := &Fault{
		No: len(l.all), Name: e.Fault, Target: e.Target, Instant: e.Instant, Invoked: e.Time,
		Started: Never, HealBegan: Never, Healed: Never, first: e.Index, since: e.Index,
	}
	if e.HasAll(history.HasOf) {
		for _, before := range l.all {
			before.Replaced = before.Replaced || before.first == e.Of
		}
	}
	if e.HasAll(history.HasBegan) {
		f.Invoked = min(f.Invoked, e.Began)
	}
	l.all, l.open = append(l.all, f), append(l.open, f)
	return f
}

func (l *FaultLog) injected(f *Fault, e *history.Event) *Fault {
	if f == nil {
		return nil
	}
	f.Err, f.Instant = e.Err, f.Instant || e.Instant
	if e.Target != nil {
		f.Target = e.Target // a role in the invocation may have become a name
	}
	if e.Kind == history.Fail {
		return l.close(f)
	}
	f.stage, f.Started = standing, e.Time
	f.receipt(e)
	if f.Instant {
		return l.close(f)
	}
	return f
}

func (l *FaultLog) healed(f *Fault, e *history.Event) *Fault {
	switch {
	case f == nil:
		return nil
	case e.Err != "":
		f.Err = e.Err
	}
	if e.Kind == history.Fail {
		f.stage = standing
		return f
	}
	f.Healed = e.Time
	f.receipt(e)
	return l.close(f)
}

// receipt notes what proves that the fault took effect.
func (f *Fault) receipt(e *history.Event) {
	if e.Receipt != "" {
		f.Receipts = append(f.Receipts, e.Receipt)
	}
	f.TookEffect = f.TookEffect || e.Kind == history.OK && e.Receipt != ""
}

func (l *FaultLog) close(f *Fault) *Fault {
	f.stage = closed
	l.open = slices.DeleteFunc(l.open, func(x *Fault) bool { return x == f })
	return f
}

// find returns the fault at a stage that e speaks of: the one whose invocation e
// names, else the oldest of that name and target, else the oldest of that name.
func (l *FaultLog) find(e *history.Event, at stage) *Fault {
	var found *Fault
	named := false
	for _, f := range l.open {
		switch {
		case f.stage != at || f.Name != e.Fault:
		case e.HasAll(history.HasOf) && f.since == e.Of:
			return f
		case found == nil, !named && f.Target.String() == e.Target.String():
			found, named = f, f.Target.String() == e.Target.String()
		}
	}
	return found
}

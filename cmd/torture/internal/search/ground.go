package search

import (
	"slices"
	"time"

	"locktorture/faults"
	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
)

// Cover fills in the ground that a round covered: what its table saw, of whose
// cells those in counts count.
func (o *Outcome) Cover(t *coverage.Table, counts []coverage.Count) {
	for _, c := range counts {
		if c.N > 0 {
			o.Cells = append(o.Cells, c.Cell.String())
		}
	}
	for s := range t.States() {
		o.States = append(o.States, s.String())
	}
	slices.Sort(o.States)
}

// Started is a sink that notes which faults started.
type Started map[string]bool

// Event implements history.Sink.
func (s Started) Event(e *history.Event) {
	if e.Op == history.Fault && (e.Kind == history.OK || e.Kind == history.Info) {
		s[e.Fault] = true
	}
}

// Moments tells which of the steps' moments came, as far as the faults show that
// were locked to them. A step that may have turned to another moment says nothing.
func (s Started) Moments(steps []faults.Spec) map[string]bool {
	came := map[string]bool{}
	for _, x := range steps {
		if x.On != "" && x.Else == "" {
			came[string(x.On)] = came[string(x.On)] || s[x.Fault]
		}
	}
	return came
}

// Idle is a sink that counts the faults that came never, or of which nothing proves that they
// changed anything, by "fault: why".
type Idle map[string]int

// Event implements history.Sink.
func (i Idle) Event(e *history.Event) {
	switch {
	case e.Op == history.Fault && e.Kind == history.Fail, (e.Op == history.Fault || e.Op == history.Heal) && e.Kind == history.Info && e.Err != "":
		i[e.Fault+": "+e.Err]++
	}
}

// A Stalls is a sink that notes the longest time for which the machine stood still.
type Stalls struct{ Longest time.Duration }

// Event implements history.Sink.
func (s *Stalls) Event(e *history.Event) {
	if e.Op == history.Stall {
		s.Longest = max(s.Longest, e.Stopped())
	}
}

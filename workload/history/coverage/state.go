package coverage

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"locktorture/workload/history"
)

// A State is one that the lock was seen in: what a client did, under which classes
// of faults, and how that ended. It is comparable.
type State struct {
	Phase   Phase
	Faults  ClassSet     // in force for the client
	Outcome history.Kind // zero for a lease that ran out; Fail for one whose loss was told
}

func (s State) String() string {
	outcome := "ran out"
	if s.Outcome != 0 {
		outcome = s.Outcome.String()
	}
	return fmt.Sprintf("%s under %s: %s", s.Phase, s.Faults, outcome)
}

// A ClassSet is a set of classes of faults.
type ClassSet uint16

func (s ClassSet) String() string {
	var names []string
	for c := range classes {
		if s&(1<<c) != 0 {
			names = append(names, c.String())
		}
	}
	if names == nil {
		return "no fault"
	}
	return strings.Join(names, ", ")
}

// States are the states that the lock was seen in, each with how often.
func (t *Table) States() map[State]int { return maps.Clone(t.states) }

func (t *Table) state(p Phase, client string, outcome history.Kind) {
	if outcome == history.Invoke {
		return
	}
	var faults ClassSet
	for _, f := range t.faults {
		if !f.struck && f.touches(p, client) {
			faults |= 1 << f.class
		}
	}
	t.states[State{p, faults, outcome}]++
}

// NearMisses say how closely a history passed by an anomaly.
type NearMisses struct {
	Validity *time.Duration `json:"validity_ns,omitempty"` // least left of a lease when a write under it began; below zero it came too late
	Gap      *time.Duration `json:"gap_ns,omitempty"`      // shortest time from the end of a hold to the next grant; below zero they overlapped
	Left     int            `json:"left"`                  // keys that a node kept while nobody held or asked for them, and that went
	Longest  time.Duration  `json:"left_longest_ns"`       // for how long, at most, as far as samples tell
}

// NearMisses says how closely the history has passed by an anomaly so far.
func (t *Table) NearMisses() NearMisses { return t.near }

func (n *NearMisses) validity(d time.Duration) { n.Validity = least(n.Validity, &d) }
func (n *NearMisses) gap(d time.Duration)      { n.Gap = least(n.Gap, &d) }

func (n NearMisses) merge(o NearMisses) NearMisses {
	return NearMisses{least(n.Validity, o.Validity), least(n.Gap, o.Gap), n.Left + o.Left, max(n.Longest, o.Longest)}
}

func least(a, b *time.Duration) *time.Duration {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// sampled follows what the nodes are seen to store: what one keeps of a key that
// nobody holds or asks for, and when that goes.
func (t *Table) sampled(e *history.Event) {
	if e.Value != history.Sample || e.Kind != history.OK {
		return
	}
	at := e.Node + " " + e.Note
	since, was := t.left[at]
	switch {
	case t.held(e.Key, e.Time) || t.asked(e.Key):
		delete(t.left, at)
	case e.PTTL != absent && !was:
		t.left[at] = e.Time
	case e.PTTL == absent && was:
		t.near.Left++
		t.near.Longest = max(t.near.Longest, e.Time-max(since, t.busy[e.Key]))
		delete(t.left, at)
	}
}

// absent is the time to live of a key that is not there.
const absent = -2

func (t *Table) asked(key string) bool {
	for _, a := range t.asking {
		if a.key == key {
			return true
		}
	}
	return false
}

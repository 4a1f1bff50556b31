package checker

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"locktorture/workload/history"
)

// A fault is one injection, from its invocation to the end of its heal.
type fault struct {
	name    string
	target  *history.Target
	instant bool
	from    time.Duration
	to      time.Duration // never while it is in force
	idx     int
	bit     history.Kind // the injection's completion; 0 while there is none
	healed  history.Kind // the heal's completion; 0 while there is none
	pool    *faultPool   // it is in
	since   int          // this event
}

// nemesis is the book of faults.
type nemesis struct {
	faults   []*fault
	begun    faultPool     // injection invoked, not completed
	standing faultPool     // injected, and no heal of it is under way
	healing  faultPool     // a heal of it is under way
	unhealed int           // of all those
	inForce  int           // confirmed and not healed
	ended    time.Duration // when the last one in force ended
	everOver bool          // one has ended
	marks    [kinds]spans  // when faults of each kind lasted
}

// see takes a nemesis event, and reports whether a heal was confirmed by it.
func (n *nemesis) see(e *history.Event) bool {
	switch {
	case e.Op == history.Fault && e.Kind == history.Invoke:
		f := &fault{name: strings.Clone(e.Fault), target: e.Target, from: e.Time, to: never, idx: e.Index, instant: e.Instant}
		n.faults = append(n.faults, f)
		n.unhealed++
		n.begun.add(f, e.Index)
		for kind := range n.marks {
			if f.is(faultKind(kind)) {
				n.marks[kind].begin(f)
			}
		}
	case e.Op == history.Fault:
		n.injected(e)
	case e.Op == history.Heal && e.Kind == history.Invoke:
		if f := n.standing.take(e); f != nil {
			n.healing.add(f, e.Index)
		}
	case e.Op == history.Heal:
		return n.heal(e)
	}
	return false
}

func (n *nemesis) injected(e *history.Event) {
	f := n.begun.take(e)
	if f == nil {
		return
	}
	f.bit = e.Kind
	f.instant = f.instant || e.Instant
	if e.Target != nil {
		f.target = e.Target // a role in the invocation may have become a name
	}
	switch {
	case e.Kind == history.Fail:
		n.close(f, e.Time)
	case f.instant:
		n.over(e.Time)
		n.close(f, e.Time)
	default:
		n.inForce++
		n.standing.add(f, e.Index)
	}
}

func (n *nemesis) heal(e *history.Event) bool {
	f := n.healing.take(e)
	if f == nil {
		return false
	}
	f.healed = e.Kind
	if e.Kind == history.Fail {
		n.standing.add(f, e.Index)
		return false
	}
	n.inForce--
	n.over(e.Time)
	n.close(f, e.Time)
	return true
}

func (n *nemesis) over(t time.Duration) { n.ended, n.everOver = t, true }

func (n *nemesis) close(f *fault, t time.Duration) {
	f.to = t
	n.unhealed--
	for kind := range n.marks {
		if f.bit != history.Fail && f.is(faultKind(kind)) {
			n.marks[kind].end(f)
		}
	}
}

// since says whether a fault was in force at any time from t on.
func (n *nemesis) since(t time.Duration) bool {
	return n.inForce > 0 || n.everOver && n.ended >= t
}

// touching goes through the faults in force at any time in [from, to].
func (n *nemesis) touching(from, to time.Duration) iter.Seq[*fault] {
	return func(yield func(*fault) bool) {
		for _, f := range n.faults {
			if f.from > to {
				return
			}
			if f.bit != history.Fail && f.to >= from && !yield(f) {
				return
			}
		}
	}
}

// breakers names the faults that touch [from, to], each once, in order.
func (n *nemesis) breakers(from, to time.Duration) []string {
	var out []string
	seen := make(map[string]bool)
	for f := range n.touching(from, to) {
		if !seen[f.name] && len(seen) < listedMost {
			out = append(out, f.name)
		}
		seen[f.name] = true
	}
	if more := len(seen) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

// told is how many faults a story names.
const told = 3

// story tells of the faults that touch [from, to] in plain words.
func (n *nemesis) story(from, to time.Duration) string {
	var s []string
	all := 0
	for f := range n.touching(from, to) {
		if all++; all <= told {
			s = append(s, f.String())
		}
	}
	switch {
	case all == 0:
		return ""
	case all > told:
		s = append(s, fmt.Sprintf("%d more", all-told))
	}
	return "Faults meanwhile: " + strings.Join(s, "; ") + "."
}

func (f *fault) String() string {
	on := ""
	if whom := targetWords(f.target); whom != "" {
		on = " on " + whom
	}
	switch {
	case f.instant:
		return fmt.Sprintf("%s%s at %s", f.name, on, at(f.from))
	case f.to == never:
		return fmt.Sprintf("%s%s from %s on", f.name, on, at(f.from))
	}
	return fmt.Sprintf("%s%s from %s to %s", f.name, on, at(f.from), at(f.to))
}

// forgot says whether a fault that touches [from, to] can have made a node
// forget a lease.
func (n *nemesis) forgot(from, to time.Duration) bool { return n.marks[nodeState].touch(from, to) }

// unproved lists the faults of which nothing proves that they bit and were
// healed (V2).
func (n *nemesis) unproved() []Finding {
	var out listing
	for _, f := range n.faults {
		why := ""
		switch {
		case f.bit == history.Fail:
			why = "did nothing"
		case f.bit == 0:
			why = "has no completion: whether it bit is not known"
		case f.bit == history.Info && f.healed != history.OK:
			why = "has no receipt that it bit"
		case !f.instant && (f.healed == 0 || f.healed == history.Fail):
			why = "was not healed"
		default:
			continue
		}
		out.add("V2", f.idx, "The fault %s %s, so what this run says about it is not known.", f, why)
	}
	return out.findings()
}

package ledger

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// A Fault is one injection, from its invocation to the end of its heal.
type Fault struct {
	name    string
	target  *history.Target
	Instant bool
	From    time.Duration
	To      time.Duration // never while it is in force
	Idx     int
	Outcome history.Kind // the injection's completion; 0 while there is none
	Healed  history.Kind // the heal's completion; 0 while there is none
	pool    *faultPool   // it is in
	since   int          // this event

	Replaced bool // another victim was tried in its place
}

// Nemesis follows the faults of a history.
type Nemesis struct {
	Faults   []*Fault
	begun    faultPool     // injection invoked, not completed
	standing faultPool     // injected, and no heal of it is under way
	healing  faultPool     // a heal of it is under way
	Unhealed int           // of all those
	InForce  int           // confirmed and not healed
	Ended    time.Duration // when the last one in force ended
	EverOver bool          // one has ended
	Marks    [kinds]Spans  // when faults of each kind lasted
}

// Observe applies an event of the nemesis, and reports whether it confirms a heal.
func (n *Nemesis) Observe(e *history.Event) bool {
	switch {
	case e.Op == history.Fault && e.Kind == history.Invoke:
		f := &Fault{name: strings.Clone(e.Fault), target: e.Target, From: e.Time, To: Never, Idx: e.Index, Instant: e.Instant}
		if e.HasAll(history.HasOf) {
			n.replace(e.Of)
		}
		n.Faults = append(n.Faults, f)
		n.Unhealed++
		n.begun.add(f, e.Index)
		for kind := range n.Marks {
			if f.Is(faultKind(kind)) {
				n.Marks[kind].Begin(f)
			}
		}
	case e.Op == history.Fault:
		n.injected(e)
	case e.Op == history.Heal && e.Kind == history.Invoke:
		if f := n.standing.remove(e); f != nil {
			n.healing.add(f, e.Index)
		}
	case e.Op == history.Heal:
		return n.heal(e)
	}
	return false
}

// replace notes that another victim was tried in place of the fault that was invoked at idx,
// which took no effect.
func (n *Nemesis) replace(idx int) {
	for _, f := range n.Faults {
		f.Replaced = f.Replaced || f.Idx == idx
	}
}

func (n *Nemesis) injected(e *history.Event) {
	f := n.begun.remove(e)
	if f == nil {
		return
	}
	f.Outcome = e.Kind
	f.Instant = f.Instant || e.Instant
	if e.Target != nil {
		f.target = e.Target // a role in the invocation may have become a name
	}
	switch {
	case e.Kind == history.Fail:
		n.close(f, e.Time)
	case f.Instant:
		n.over(e.Time)
		n.close(f, e.Time)
	default:
		n.InForce++
		n.standing.add(f, e.Index)
	}
}

func (n *Nemesis) heal(e *history.Event) bool {
	f := n.healing.remove(e)
	if f == nil {
		return false
	}
	f.Healed = e.Kind
	// Without a receipt nobody knows that what was in force has ended; of a fault that
	// nobody saw in force there is nothing to prove.
	if e.Kind == history.Fail || e.Kind == history.Info && f.Outcome == history.OK {
		n.standing.add(f, e.Index)
		return false
	}
	n.InForce--
	n.over(e.Time)
	n.close(f, e.Time)
	return true
}

func (n *Nemesis) over(t time.Duration) { n.Ended, n.EverOver = t, true }

func (n *Nemesis) close(f *Fault, t time.Duration) {
	f.To = t
	n.Unhealed--
	for kind := range n.Marks {
		if f.Outcome != history.Fail && f.Is(faultKind(kind)) {
			n.Marks[kind].End(f)
		}
	}
}

// Since says whether a fault was in force at any time from t on.
func (n *Nemesis) Since(t time.Duration) bool {
	return n.InForce > 0 || n.EverOver && n.Ended >= t
}

// MayBeSince says whether a fault may have been in force at any time from t on: one that is
// being injected may have taken effect already.
func (n *Nemesis) MayBeSince(t time.Duration) bool { return n.Unhealed > 0 || n.Since(t) }

// touching yields the faults in force at any time in [from, to].
func (n *Nemesis) touching(from, to time.Duration) iter.Seq[*Fault] {
	return func(yield func(*Fault) bool) {
		for _, f := range n.Faults {
			if f.From > to {
				return
			}
			if f.Outcome != history.Fail && f.To >= from && !yield(f) {
				return
			}
		}
	}
}

// Breakers names the faults that touch [from, to], each once, in order.
func (n *Nemesis) Breakers(from, to time.Duration) []string {
	var out []string
	seen := make(map[string]bool)
	for f := range n.touching(from, to) {
		if !seen[f.name] && len(seen) < MostListed {
			out = append(out, f.name)
		}
		seen[f.name] = true
	}
	if more := len(seen) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

// storyFaults is how many faults a story names.
const storyFaults = 3

// Story names the faults in force in [from, to], in a sentence.
func (n *Nemesis) Story(from, to time.Duration) string {
	var s []string
	all := 0
	for f := range n.touching(from, to) {
		if all++; all <= storyFaults {
			s = append(s, f.String())
		}
	}
	switch {
	case all == 0:
		return ""
	case all > storyFaults:
		s = append(s, fmt.Sprintf("%d more", all-storyFaults))
	}
	return "Faults meanwhile: " + strings.Join(s, "; ") + "."
}

func (f *Fault) String() string {
	on := ""
	if whom := targetWords(f.target); whom != "" {
		on = " on " + whom
	}
	switch {
	case f.Instant:
		return fmt.Sprintf("%s%s at %s", f.name, on, words.At(f.From))
	case f.To == Never:
		return fmt.Sprintf("%s%s from %s on", f.name, on, words.At(f.From))
	}
	return fmt.Sprintf("%s%s from %s to %s", f.name, on, words.At(f.From), words.At(f.To))
}

// Forgot says whether a fault in force in [from, to] can have made a node forget a lease.
func (n *Nemesis) Forgot(from, to time.Duration) bool { return n.Marks[NodeState].Touch(from, to) }

// MostListed is how many findings of one id are listed of those that the user's limit does not
// count.
const MostListed = 50

package checker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
)

// A fault is one injection, from its invocation to the end of its heal.
type fault struct {
	name    string
	target  string
	instant bool
	from    time.Duration
	to      time.Duration // never while it is in force
	idx     int
	bit     history.Kind // the injection's completion; 0 while there is none
	healed  history.Kind // the heal's completion; 0 while there is none
}

// nemesis is the book of faults.
type nemesis struct {
	faults   []*fault
	open     []*fault // injected, not healed
	healing  []*fault
	inForce  int           // confirmed and not healed
	ended    time.Duration // when the last one in force ended
	everOver bool          // one has ended
}

// see takes a nemesis event, and reports whether a heal was confirmed by it.
func (n *nemesis) see(e *history.Event) bool {
	switch {
	case e.Op == history.Fault && e.Kind == history.Invoke:
		f := &fault{name: strings.Clone(e.Fault), target: string(e.Target), from: e.Time, to: never, idx: e.Index, instant: e.Instant}
		n.faults = append(n.faults, f)
		n.open = append(n.open, f)
	case e.Op == history.Fault:
		n.injected(e)
	case e.Op == history.Heal && e.Kind == history.Invoke:
		if f := find(n.open, e, func(f *fault) bool { return f.bit != 0 }); f != nil {
			n.healing = append(n.healing, f)
		}
	case e.Op == history.Heal:
		return n.heal(e)
	}
	return false
}

func (n *nemesis) injected(e *history.Event) {
	f := find(n.open, e, func(f *fault) bool { return f.bit == 0 })
	if f == nil {
		return
	}
	f.bit = e.Kind
	f.instant = f.instant || e.Instant
	if len(e.Target) > 0 {
		f.target = string(e.Target) // a role in the invocation may have become a name
	}
	switch {
	case e.Kind == history.Fail:
		n.close(f, e.Time)
	case f.instant:
		n.over(e.Time)
		n.close(f, e.Time)
	default:
		n.inForce++
	}
}

func (n *nemesis) heal(e *history.Event) bool {
	f := find(n.healing, e, func(*fault) bool { return true })
	if f == nil {
		return false
	}
	n.healing = slices.DeleteFunc(n.healing, func(x *fault) bool { return x == f })
	f.healed = e.Kind
	if e.Kind == history.Fail {
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
	n.open = slices.DeleteFunc(n.open, func(x *fault) bool { return x == f })
}

// find returns the fault that e speaks of: same name and target, else same
// name, the earliest first.
func find(in []*fault, e *history.Event, fits func(*fault) bool) *fault {
	var byName *fault
	for _, f := range in {
		if f.name != e.Fault || !fits(f) {
			continue
		}
		if f.target == string(e.Target) {
			return f
		}
		if byName == nil {
			byName = f
		}
	}
	return byName
}

// since says whether a fault was in force at any time from t on.
func (n *nemesis) since(t time.Duration) bool {
	return n.inForce > 0 || n.everOver && n.ended >= t
}

// touching lists the faults in force at any time in [from, to].
func (n *nemesis) touching(from, to time.Duration) []*fault {
	var out []*fault
	for _, f := range n.faults {
		if f.bit != history.Fail && f.from <= to && f.to >= from {
			out = append(out, f)
		}
	}
	return out
}

// breakers names the faults that touch [from, to], each once, in order.
func (n *nemesis) breakers(from, to time.Duration) []string {
	var out []string
	for _, f := range n.touching(from, to) {
		if !slices.Contains(out, f.name) {
			out = append(out, f.name)
		}
	}
	return out
}

// told is how many faults a story names.
const told = 3

// story tells of the faults that touch [from, to] in plain words.
func (n *nemesis) story(from, to time.Duration) string {
	all := n.touching(from, to)
	var s []string
	for _, f := range all[:min(told, len(all))] {
		s = append(s, f.String())
	}
	if len(all) > told {
		s = append(s, fmt.Sprintf("%d more", len(all)-told))
	}
	if len(s) == 0 {
		return ""
	}
	return "Faults meanwhile: " + strings.Join(s, "; ") + "."
}

func (f *fault) String() string {
	on := ""
	if f.target != "" {
		on = " on " + targetWords(f.target)
	}
	switch {
	case f.instant:
		return fmt.Sprintf("%s%s at %s", f.name, on, at(f.from))
	case f.to == never:
		return fmt.Sprintf("%s%s from %s on", f.name, on, at(f.from))
	}
	return fmt.Sprintf("%s%s from %s to %s", f.name, on, at(f.from), at(f.to))
}

// nodeState are the marks of faults that make a node forget a lease or run its
// time out early: what can cause an early takeover (S10).
var nodeState = []string{
	"clock", "kill", "restart", "flush", "evict", "failover", "promote", "expire", "swapdb", "rename",
	"amnesia", "empty", "delete", "ttl", "power", "crash-node", "wipe", "forget", "demote",
}

// clocks are the marks of faults that move a node's time, or its leases'.
var clocks = []string{"clock", "ttl", "expire"}

// stopped are the marks of faults that keep a client from being told anything.
var stopped = []string{"pause-client", "stop-client", "starve", "crash-client"}

// forgot says whether a fault that touches [from, to] can have made a node
// forget a lease.
func (n *nemesis) forgot(from, to time.Duration) bool { return n.marked(from, to, nodeState) }

// marked says whether a fault with one of marks in its name touches [from, to].
func (n *nemesis) marked(from, to time.Duration, marks []string) bool {
	return slices.ContainsFunc(n.touching(from, to), func(f *fault) bool {
		return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(f.name, mark) })
	})
}

// unproved lists the faults of which nothing proves that they bit and were
// healed (V2).
func (n *nemesis) unproved() []Finding {
	var out []Finding
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
		out = append(out, Finding{
			ID: "V2", Name: names["V2"], Witness: []int{f.idx},
			Text: fmt.Sprintf("The fault %s %s, so what this run says about it is not known.", f, why),
		})
	}
	return out
}

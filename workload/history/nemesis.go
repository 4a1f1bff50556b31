package history

import (
	"fmt"
	"time"
)

// A nemesis pairs the invocations and completions of faults and heals. These overlap, also
// those of one fault: a completion belongs to the invocation that its field of names, or else
// to any that fits.
type nemesis struct {
	open    map[act]*invoked
	invoked map[int]act // those that an of may name
}

// An act is the kind of an invocation of the nemesis.
type act struct {
	op    Op
	fault string
}

// invoked are the open invocations of an act. Which of them are open is known
// while completions name theirs; how many is always known.
type invoked struct {
	count int
	at    []int
}

// check returns what is wrong with e, an event of the nemesis, or "".
func (n *nemesis) check(e *Event) string {
	switch e.Op {
	case Phase:
		return ""
	case Stall:
		return stalled(e)
	case Fault, Heal:
		if e.Kind == Invoke {
			n.begin(e)
			return ""
		}
		return n.complete(e)
	}
	return fmt.Sprintf("op %s of process -1: want fault, heal, stall or phase from the nemesis", e.Op)
}

func (n *nemesis) begin(e *Event) {
	if n.open == nil {
		n.open, n.invoked = make(map[act]*invoked), make(map[int]act)
	}
	a := act{e.Op, e.Fault}
	if n.open[a] == nil {
		n.open[a] = new(invoked)
	}
	n.open[a].count++
	n.open[a].at = append(n.open[a].at, e.Index)
	n.invoked[e.Index] = a
}

func (n *nemesis) complete(e *Event) string {
	a := act{e.Op, e.Fault}
	open := n.open[a]
	if open == nil {
		return fmt.Sprintf("the nemesis completes %s %s without having invoked it: want an invoke first", e.Op, e.Fault)
	}
	if e.HasAll(HasOf) {
		if n.invoked[e.Of] != a {
			return fmt.Sprintf("the nemesis completes %s %s of event %d, which is no open invocation of it: want the index of one, or no of", e.Op, e.Fault, e.Of)
		}
		delete(n.invoked, e.Of)
	}
	if open.count--; open.count == 0 {
		for _, i := range open.at {
			delete(n.invoked, i)
		}
		delete(n.open, a)
	}
	return ""
}

// stalled returns what is wrong with e, an interval in which the harness was stopped, or "".
func stalled(e *Event) string {
	switch {
	case e.Kind != OK:
		return fmt.Sprintf("stall with kind %s: want ok, it is a report and no operation", e.Kind)
	case !e.HasAll(HasBegan | HasEnded):
		return "stall without began_ns and ended_ns: want both, it is an interval"
	case e.Began > e.Ended:
		return fmt.Sprintf("stall from began_ns %d to ended_ns %d: want an end that is not before the beginning", e.Began, e.Ended)
	case e.HasAll(HasLag) && (e.Lag < 0 || e.Lag > e.Ended-e.Began):
		return fmt.Sprintf("stall of lag_ns %d from began_ns %d to ended_ns %d: want how much of that interval the harness was stopped for", e.Lag, e.Began, e.Ended)
	}
	return ""
}

// Stopped is for how long the harness was stopped in the interval of a Stall.
func (e *Event) Stopped() time.Duration {
	if e.HasAll(HasLag) {
		return e.Lag
	}
	return e.Ended - e.Began
}

// Notes of phase events that begin so say what befell the run from outside, and
// how the lock under test broke down; the rest of the note says what happened.
const (
	HarnessNote = "harness: "
	LockNote    = "lock: "
)

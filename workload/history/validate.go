package history

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// A validator holds the rules that bind the events of a history together. Its
// memory is four bytes per process.
type validator struct {
	next   int
	last   time.Duration
	procs  processes
	faults nemesis
}

// Validate checks the rules of the format over events held in memory, as a
// Reader does over a file. The error names the event by its index.
func Validate(events []Event) error {
	var v validator
	for i := range events {
		e := &events[i]
		msg := v.check(e)
		if msg == "" {
			msg = illegible(e)
		}
		if msg != "" {
			return fmt.Errorf("event %d: %s", i, msg)
		}
	}
	return nil
}

// illegible says what of e cannot be written to a file unchanged, or "".
func illegible(e *Event) string {
	switch {
	case !utf8.ValidString(e.Key):
		return fmt.Sprintf("key %q: want UTF-8", e.Key)
	case !utf8.ValidString(e.Owner):
		return fmt.Sprintf("owner %q: want UTF-8", e.Owner)
	case e.HasAll(HasSeq) && e.Seq == 0:
		return "seq 0: want 1 or more, or none"
	}
	return ""
}

// check returns what is wrong with e after the events before it, or "".
func (v *validator) check(e *Event) string {
	if e.Index != v.next {
		return fmt.Sprintf("index %d: want %d, indices count up from 0 without gaps", e.Index, v.next)
	}
	if e.Time < v.last {
		return fmt.Sprintf("time_ns %d is before %d: want times that never decrease", e.Time, v.last)
	}
	v.next, v.last = v.next+1, e.Time
	if e.Time > MaxTime || e.Has&(HasBegan|HasEnded|HasIntended|HasPTTL) != 0 {
		if msg := outOfRange(e); msg != "" {
			return msg
		}
	}
	switch {
	case e.Process >= 0:
		return v.client(e)
	case e.Process == Nemesis:
		return v.faults.check(e)
	}
	return observer(e)
}

// outOfRange says which number of e is one that sums would overflow with, or
// that means nothing, or "".
func outOfRange(e *Event) string {
	for _, t := range []struct {
		has  Field
		name string
		at   time.Duration
	}{{0, "time_ns", e.Time}, {HasBegan, "began_ns", e.Began}, {HasEnded, "ended_ns", e.Ended}, {HasIntended, "intended_ns", e.Intended}} {
		if e.HasAll(t.has) && (t.at > MaxTime || t.at < -MaxTime) {
			return fmt.Sprintf("%s %d: want nanoseconds since the run began, at most %d (36 years)", t.name, t.at, int64(MaxTime))
		}
	}
	if e.HasAll(HasPTTL) && e.PTTL < -2 {
		return fmt.Sprintf("pttl_ms %d: want 0 or more, -1 for a key without expiry, -2 for one that is not there", e.PTTL)
	}
	return ""
}

func (v *validator) client(e *Event) string {
	switch e.Op {
	case Acquire, Extend, Release, Write, Read:
		return v.operation(e)
	case Phase:
		return ""
	case Lost:
		if e.Kind != OK {
			return fmt.Sprintf("lost with kind %s: want ok, it is a report and no operation", e.Kind)
		}
		return ""
	}
	return fmt.Sprintf("op %s of process %d: want acquire, extend, release, write, read or lost from processes ≥ 0", e.Op, e.Process)
}

// operation pairs the invocations and completions of one process.
func (v *validator) operation(e *Event) string {
	p := v.procs.at(e.Process)
	open := Op(*p & openOp)
	switch {
	case open != Extend && isRenewal(e):
		return nameless(e)
	case *p&retired != 0:
		return fmt.Sprintf("process %d was retired by its info: want a new process", e.Process)
	case e.Kind == Invoke && open != 0:
		return fmt.Sprintf("process %d invokes %s while its %s is open: want the completion first", e.Process, e.Op, open)
	case e.Kind == Invoke:
		*p = opened(e)
		return nameless(e)
	case open == 0:
		return fmt.Sprintf("process %d completes %s without having invoked it: want an invoke first", e.Process, e.Op)
	case open != e.Op:
		return fmt.Sprintf("process %d completes %s while its %s is open: want a completion of %s", e.Process, e.Op, open, open)
	case !p.names(e.Key, keyMark):
		return fmt.Sprintf("process %d completes %s of key %q, which is not the key that it invoked it with: want the same, or none", e.Process, e.Op, e.Key)
	case !p.names(e.Owner, ownerMark):
		return fmt.Sprintf("process %d completes %s for owner %q, who is not the owner that it invoked it for: want the same, or none", e.Process, e.Op, e.Owner)
	case e.Kind == Info:
		*p = retired
	default:
		*p = 0
	}
	return ""
}

// nameless rejects an operation on a lock that lacks its key or its owner: two holders without
// a name could not be told apart, and two resources without a name would be taken for one. It
// returns "" for any other.
func nameless(e *Event) string {
	switch {
	case e.Op == Read:
		return ""
	case e.Owner == "":
		return fmt.Sprintf("%s of process %d has no owner: want the one who acts, as in \"owner\":\"a\"", e.Op, e.Process)
	case e.Key == "":
		return fmt.Sprintf("%s of process %d has no key: want the resource, as in \"key\":\"k\"", e.Op, e.Process)
	}
	return ""
}

// isRenewal reports whether e tells of a whole automatic renewal at once. It
// belongs to its owner and key, and says nothing about its process.
func isRenewal(e *Event) bool {
	return e.Op == Extend && e.Kind != Invoke && e.HasAll(HasBegan) && (e.Kind != OK || e.HasAll(HasValidUntil))
}

// observer checks an event of the store, a witness or a link.
func observer(e *Event) string {
	if e.Process < Link {
		return fmt.Sprintf("process %d: want ≥ 0, or -1 (nemesis), -2 (store), -3 (witness), -4 (link)", e.Process)
	}
	want := [...]Op{Audit, Key, Receipt}[Store-e.Process]
	switch {
	case e.Op == Phase:
		return ""
	case e.Op != want:
		return fmt.Sprintf("op %s of process %d: want %s", e.Op, e.Process, want)
	case e.Kind == Invoke, e.Op == Audit && e.Kind == Info:
		return fmt.Sprintf("%s with kind %s: want ok or fail, it is seen and not invoked", e.Op, e.Kind)
	case e.Op == Receipt && (!e.HasAll(HasOf) || e.Of < 0 || e.Of >= e.Index):
		return "receipt of no earlier event: want of to be the index of an invocation before it"
	case e.Op == Receipt && e.Value != NeverForwarded && e.Value != Executed:
		return fmt.Sprintf("receipt with value %.40q: want %s or %s", e.Value, NeverForwarded, Executed)
	}
	return ""
}

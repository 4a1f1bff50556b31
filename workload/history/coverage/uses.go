package coverage

import (
	"time"

	"locktorture/workload/history"
)

// Abilities are what a lock can do, and what may befall it: what a table of it
// can have in it.
type Abilities struct {
	Renew     bool `json:"renew"`  // renews leases by itself
	Extend    bool `json:"extend"` // extends them by hand
	Wait      bool `json:"wait"`
	Notify    bool `json:"notify"` // its waiters hear of releases
	Shared    bool `json:"shared"`
	Reentrant bool `json:"reentrant"`
	Multi     bool `json:"multi"`
	Fair      bool `json:"fair"`

	Several bool `json:"several"` // nodes: a minority can be missed
	Empty   bool `json:"empty"`   // keeps a node out by itself that came back empty at once
	Clocks  bool `json:"clocks"`  // clocks may move, which locks that rely on a TTL are not made for
}

// Has reports whether a cell counts for such a lock.
func (a Abilities) Has(c Cell) bool {
	switch c.Phase {
	case RenewalDue, RenewalSent, RenewalReplied:
		if !a.Renew && !a.Extend {
			return false
		}
	case Waiting, Woken:
		if !a.Wait {
			return false
		}
	}
	switch c.Class {
	case MinorityCut, SplitVote:
		return a.Several && Matters(c)
	case NodeEmpty:
		return a.Empty && Matters(c)
	case ClockShifted:
		return a.Clocks && Matters(c)
	case NotificationLost:
		return a.Notify && Matters(c)
	}
	return Matters(c)
}

// Uses counts how often each ability of the lock was used with success.
type Uses struct {
	Exclusive int `json:"exclusive"` // granted to one that does not wait
	Waited    int `json:"waited"`    // granted to one that waits inside the lock
	Shared    int `json:"shared"`
	Reentrant int `json:"reentrant"` // granted in an owner's name, which may hold the key already
	Multi     int `json:"multi"`     // keys granted together with others
	Fair      int `json:"fair"`
	Renewed   int `json:"renewed"`  // by the lock itself
	Extended  int `json:"extended"` // by hand
}

// Plus adds two counts.
func (u Uses) Plus(o Uses) Uses {
	return Uses{
		u.Exclusive + o.Exclusive, u.Waited + o.Waited, u.Shared + o.Shared, u.Reentrant + o.Reentrant,
		u.Multi + o.Multi, u.Fair + o.Fair, u.Renewed + o.Renewed, u.Extended + o.Extended,
	}
}

// A Used is one ability by its name, and how often it was used.
type Used struct {
	Name  string
	Count int
}

// List names the abilities in the order of a report, each with its count.
func (u Uses) List() []Used {
	return []Used{
		{"exclusive", u.Exclusive}, {"wait", u.Waited}, {"renew", u.Renewed}, {"extend", u.Extended},
		{"shared", u.Shared}, {"re-entry", u.Reentrant}, {"multi", u.Multi}, {"fair", u.Fair},
	}
}

// Lacks reports whether a lock of such abilities can do nothing under one of the
// names of List. Whether it renews leases by itself only its leases tell.
func (a Abilities) Lacks(name string) bool {
	can, known := map[string]bool{
		"wait": a.Wait, "extend": a.Extend, "shared": a.Shared, "re-entry": a.Reentrant, "multi": a.Multi, "fair": a.Fair,
	}[name]
	return known && !can
}

// A Tally follows a history and counts uses. The zero value is ready.
type Tally struct {
	uses Uses
	open map[int]asking // what is under way, by process
}

// An asking is what was asked for, and when that was recorded.
type asking struct {
	note string
	at   time.Duration
}

// Event takes the next event. An extension that completes without having been
// invoked, or that began before it was, is a round of the lock's own renewal, which
// is told of when it is over.
func (t *Tally) Event(e *history.Event) {
	switch {
	case e.Op != history.Acquire && e.Op != history.Extend:
		return
	case e.Kind == history.Invoke:
		if t.open == nil {
			t.open = map[int]asking{}
		}
		t.open[e.Process] = asking{e.Note, e.Time}
		return
	}
	asked, invoked := t.open[e.Process]
	delete(t.open, e.Process)
	switch {
	case e.Kind != history.OK:
	case e.Op == history.Extend && invoked && !(e.HasAll(history.HasBegan) && e.Began < asked.at):
		t.uses.Extended++
	case e.Op == history.Extend:
		t.uses.Renewed++
	default:
		t.uses.granted(e.Mode, asked.note)
	}
}

// Uses says how often each ability was used so far.
func (t *Tally) Uses() Uses { return t.uses }

func (u *Uses) granted(mode history.Mode, note string) {
	switch {
	case mode == history.Shared:
		u.Shared++
	case note == history.AskWait:
		u.Waited++
	case note == history.AskReentry:
		u.Reentrant++
	case note == history.AskMulti:
		u.Multi++
	case note == history.AskFair:
		u.Fair++
	default:
		u.Exclusive++
	}
}

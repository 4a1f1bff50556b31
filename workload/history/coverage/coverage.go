// Package coverage says which faults a run has had in force at which phase of a
// lock's life: a table of phases by classes of faults, filled in from a history.
// Beside it stand the states that the lock was seen in, how closely it passed by
// an anomaly, and how often each of its abilities was used.
//
// A history tells what clients were told and whom a fault hit; what passed on the
// wire it does not tell. So a cell counts operations and leases which were in that
// phase while a fault of that class was in force for their client: see Phase for
// when a phase lasts, and Class for whom a fault touches. A fault of which nothing
// proves that it took effect counts nowhere.
package coverage

import (
	"strings"
	"time"

	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// A Cell is a class of faults at a phase of the lock's life.
type Cell struct {
	Phase Phase `json:"phase"`
	Class Class `json:"class"`
}

func (c Cell) String() string { return c.Class.String() + " × " + c.Phase.String() }

// A Count is a cell and how often it was met: by operations and leases, each once
// for a fault.
type Count struct {
	Cell
	N int `json:"count"`
}

// A Table follows a history. It is a history.Sink; its other methods may be
// called between events, from the same goroutine.
type Table struct {
	header history.Header
	who    *fold.Holdings
	log    fold.FaultLog

	cells  [phases][classes]int
	states map[State]int
	near   NearMisses
	tally  Tally

	faults []*inForce       // that have begun and are not over
	asking map[int]*request // acquires under way, by process
	acting map[int]pending  // extensions and releases under way, by process
	leases map[*fold.Holding]*lease
	next   time.Duration // when the next foreseen moment of a lease is due; Never without any

	ends map[string]time.Duration // when the last hold of a key ended
	busy map[string]time.Duration // when a key was last held or asked for
	left map[string]time.Duration // since when a node keeps a key that nobody holds or asks for
}

// New returns the empty table of a history with header h.
func New(h history.Header) *Table {
	return &Table{
		header: h, who: fold.NewHoldings(h), states: map[State]int{}, asking: map[int]*request{}, acting: map[int]pending{},
		leases: map[*fold.Holding]*lease{}, next: fold.Never,
		ends: map[string]time.Duration{}, busy: map[string]time.Duration{}, left: map[string]time.Duration{},
	}
}

// Event takes the next event.
func (t *Table) Event(e *history.Event) {
	if t.next != fold.Never && e.Time >= t.next {
		t.foreseen(e.Time)
	}
	switch e.Op {
	case history.Fault, history.Heal:
		t.nemesis(e)
		return
	case history.Key:
		t.sampled(e)
		return
	}
	t.tally.Event(e)
	c := t.who.Event(e)
	if c.Op == 0 {
		return
	}
	t.steps(e, c)
	switch e.Op {
	case history.Acquire:
		t.acquire(e)
	case history.Extend:
		t.extend(e, c)
	case history.Release:
		t.release(e)
	case history.Write, history.Read:
		t.access(e)
	case history.Lost:
		t.state(Expiry, clientOf(e.Owner), history.Fail)
	}
}

// Cells lists every cell that can matter, in order, with what was met so far.
func (t *Table) Cells() (all []Count) {
	open := t.proved()
	for class := range classes {
		for _, phase := range matter[class] {
			all = append(all, Count{Cell{phase, class}, t.cells[phase][class] + open[phase][class]})
		}
	}
	return all
}

// proved counts what faults that are still in force, and have been proved to
// take effect, met so far.
func (t *Table) proved() (cells [phases][classes]int) {
	for _, f := range t.faults {
		if f.TookEffect {
			f.addTo(&cells)
		}
	}
	return cells
}

// Of lists the cells that count for a lock of such abilities under such faults,
// with what was met so far.
func (t *Table) Of(a Abilities) (all []Count) {
	for _, c := range t.Cells() {
		if a.Has(c.Cell) {
			all = append(all, c)
		}
	}
	return all
}

// Uses says how often each ability was used so far.
func (t *Table) Uses() Uses { return t.tally.uses }

// A Summary is what a report says of a table.
type Summary struct {
	Met       int        `json:"met"` // cells, of those that count for the lock
	Of        int        `json:"of"`
	Cells     []Count    `json:"cells"`
	Exercised Uses       `json:"exercised"`
	States    int        `json:"states"` // different ones
	Near      NearMisses `json:"near_misses"`
	Can       *Abilities `json:"abilities,omitempty"` // nil: nobody says what the lock can do
}

// Summary sums up what was seen so far of a lock of such abilities. Of one of
// which nobody says what it can do, what it was seen to do counts.
func (t *Table) Summary(can *Abilities) *Summary {
	seen := can
	if can == nil {
		seen = t.observedAbilities()
	}
	s := &Summary{Cells: t.Of(*seen), Exercised: t.Uses(), States: len(t.states), Near: t.near, Can: can}
	s.Met, s.Of = Met(s.Cells), len(s.Cells)
	return s
}

// observedAbilities are the abilities that the lock has used in the history.
func (t *Table) observedAbilities() *Abilities {
	u := t.Uses()
	return &Abilities{
		Renew: u.Renewed > 0, Extend: u.Extended > 0, Wait: u.Waited+u.Fair > 0, Shared: u.Shared > 0, Reentrant: u.Reentrant > 0,
		Multi: u.Multi > 0, Fair: u.Fair > 0, Several: t.header.Nodes > t.header.Quorum,
	}
}

// Met counts the cells that were met at all.
func Met(all []Count) (n int) {
	for _, c := range all {
		if c.N > 0 {
			n++
		}
	}
	return n
}

// Merge adds what another history's table has seen.
func (t *Table) Merge(o *Table) {
	open := o.proved()
	for p := range t.cells {
		for c := range t.cells[p] {
			t.cells[p][c] += o.cells[p][c] + open[p][c]
		}
	}
	for s, n := range o.states {
		t.states[s] += n
	}
	t.near = t.near.merge(o.near)
	t.tally.uses = t.tally.uses.Plus(o.tally.uses)
}

// count counts a phase that begins for a client, or a moment, under every fault in force there.
func (t *Table) count(p Phase, client string) {
	for _, f := range t.faults {
		if !f.struck {
			f.count(p, client)
		}
	}
}

// clientOf is the client that acts under an owner's name: incarnations after the
// first bear a number.
func clientOf(owner string) string {
	name, _, _ := strings.Cut(owner, ".")
	return name
}

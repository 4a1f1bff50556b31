package coverage

import (
	"slices"

	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// storeNode is what the links to the guarded store are called in targets.
const storeNode = "store"

// An inForce is a fault that has begun and is not over.
type inForce struct {
	*fold.Fault
	class  Class
	struck bool // what it does is done: what begins now it does not touch

	cells map[Cell]int
}

// count counts a phase of a client's under the fault.
func (f *inForce) count(p Phase, client string) {
	if f.touches(p, client) {
		f.cells[Cell{p, f.class}]++
	}
}

// touches reports whether the fault touches a client in a phase. The store has
// nothing to do with phases in which nothing is written.
func (f *inForce) touches(p Phase, client string) bool {
	if !Matters(Cell{p, f.class}) {
		return false
	}
	target := f.Target
	if target == nil {
		return true
	}
	store := len(target.Nodes) == 1 && target.Nodes[0] == storeNode
	return (!store || p == InSection) && (len(target.Clients) == 0 || slices.Contains(target.Clients, client))
}

func (f *inForce) addTo(cells *[phases][classes]int) {
	for c, n := range f.cells {
		cells[c.Phase][c.Class] += n
	}
}

// nemesis takes an event of a fault's.
func (t *Table) nemesis(e *history.Event) {
	f := t.log.Event(e)
	if f == nil {
		return
	}
	i := slices.IndexFunc(t.faults, func(x *inForce) bool { return x.Fault == f })
	switch {
	case e.Op == history.Fault && e.Kind == history.Invoke:
		t.begin(f)
	case i < 0:
	case e.Op == history.Fault && e.Kind == history.Fail, f.Mended():
		if f.TookEffect {
			t.faults[i].addTo(&t.cells)
		}
		t.faults = slices.Delete(t.faults, i, i+1)
	case e.Op == history.Fault && t.faults[i].class == ClientCrashed:
		t.faults[i].struck = true
		t.bury(f.Target)
	}
}

// begin takes in a fault, and counts what was under way when it began.
func (t *Table) begin(f *fold.Fault) {
	class, ok := ClassOf(f.Name, f.Target, t.header)
	if !ok {
		return
	}
	one := &inForce{Fault: f, class: class, cells: map[Cell]int{}}
	t.faults = append(t.faults, one)
	for _, a := range t.asking {
		one.count(a.phase, a.client)
	}
	for _, s := range t.acting {
		one.count(s.phase, s.client)
	}
	for _, l := range t.leases {
		for _, p := range l.phases() {
			one.count(p, l.client)
		}
	}
}

// bury ends what clients that have crashed had under way. Their leases last on
// the servers, and go with the next grant.
func (t *Table) bury(target *history.Target) {
	if target == nil {
		return
	}
	gone := func(client string) bool { return slices.Contains(target.Clients, client) }
	for process, a := range t.asking {
		if gone(a.client) {
			delete(t.asking, process)
		}
	}
	for process, s := range t.acting {
		if gone(s.client) {
			delete(t.acting, process)
		}
	}
	for _, l := range t.leases {
		l.dead = l.dead || gone(l.client)
	}
}

package reference

import "locktorture/workload/history"

// Evidence is what a verdict rests on, as far as it is a matter of counting.
type Evidence struct {
	Grants    int
	Handovers int // where there is re-entry, as few as that leaves sure
	Most      int // hand-overs, if every re-entry counts as a grant
	Unknown   int
}

// Count counts the acquires that were answered with yes, those of them that went
// to another owner than the key's grant before, and the operations of unknown
// outcome.
func Count(h history.History) Evidence {
	var n Evidence
	j := read(h)
	j.sweep()
	for i, g := range j.grants {
		n.Grants++
		for _, before := range j.grants[:i] {
			if before.Key == g.Key && j.last(before, i) && before.Owner != g.Owner {
				n.Most++
				if g.nested == No {
					n.Handovers++
				}
			}
		}
	}
	for _, o := range j.ops {
		if o.Kind == history.Info {
			n.Unknown++
		}
	}
	return n
}

// last reports whether no grant of g's key lies between g and the one at i.
func (j *judge) last(g *grant, i int) bool {
	for _, x := range j.grants[:i] {
		if x.Key == g.Key && x.to.index > g.to.index {
			return false
		}
	}
	return true
}

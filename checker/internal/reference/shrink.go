package reference

import (
	"slices"

	"locktorture/workload/history"
)

// Shrink removes operations and events from h for as long as what is left is
// valid and still shows what is sought.
func Shrink(h history.History, shows func(history.History) bool) history.History {
	for again := true; again; {
		again = false
		for i := 0; i < len(h.Events); i++ {
			if h.Events[i].Op == history.Phase { // without its end a history proves less
				continue
			}
			for _, gone := range [][]int{with(h, i), {i}} {
				smaller := without(h, gone)
				if len(smaller.Events) < len(h.Events) && history.Validate(smaller.Events) == nil && shows(smaller) {
					h, again = smaller, true
					break
				}
			}
		}
	}
	return h
}

// with returns the indices of an event, of its completion, and of what speaks of it.
func with(h history.History, i int) []int {
	e, gone := h.Events[i], []int{i}
	if e.Kind != history.Invoke {
		return gone
	}
	for k := i + 1; k < len(h.Events); k++ {
		if h.Events[k].Process == e.Process && h.Events[k].Op == e.Op {
			gone = append(gone, k)
			break
		}
	}
	for k, r := range h.Events {
		if r.Op == history.Receipt && r.Of == i {
			gone = append(gone, k)
		}
	}
	return gone
}

// without returns h without some events, numbered anew.
func without(h history.History, gone []int) history.History {
	left, index := history.History{Header: h.Header, Truncated: h.Truncated}, map[int]int{}
	for i, e := range h.Events {
		if slices.Contains(gone, i) {
			continue
		}
		index[i] = len(left.Events)
		e.Index = len(left.Events)
		if e.Op == history.Receipt {
			e.Of = index[e.Of]
		}
		left.Events = append(left.Events, e)
	}
	return left
}

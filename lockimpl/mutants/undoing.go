package mutants

import (
	"locktorture/lockimpl/mutants/internal/planted"
)

// undoing are bugs in what is left behind.
func undoing() []Mutant {
	return []Mutant{
		{
			ID:     "no-undo",
			Bug:    "the grants of a failed attempt are not given back",
			Fault:  "contention for one key over five masters",
			Expect: []string{"L7", "L8", "L2", "L1"}, Nodes: 3,
			bugs: planted.Bugs{NoUndo: true},
		},
		{
			ID:     "release-answered",
			Bug:    "the release goes only to nodes that said yes; one whose answer was lost keeps the key",
			Fault:  "lose the reply of an acquire",
			Expect: []string{"L8", "L1"},
			bugs:   planted.Bugs{ReleaseGranted: true},
		},
		{
			ID:     "timeout-is-grant",
			Bug:    "an acquire without an answer counts as granted",
			Fault:  "black-hole a client's links before its acquire",
			Expect: []string{"S1", "S9", "S4", "S4b"},
			bugs:   planted.Bugs{TimeoutIsGrant: true},
		},
		{
			ID:     "timeout-is-refusal",
			Bug:    "an acquire without an answer counts as refused, and the key stays",
			Fault:  "lose the reply of an acquire",
			Expect: []string{"L8", "L1"},
			bugs:   planted.Bugs{TimeoutIsRefusal: true, ReleaseGranted: true},
		},
		{
			ID:     "pooled",
			Bug:    "calls travel on pooled connections: a release overtakes the straggling acquire of its attempt",
			Fault:  "contention for one key over five masters, one of them slow",
			Expect: []string{"L8", "L7"}, Nodes: 3,
			bugs: planted.Bugs{Unordered: true},
		},
	}
}

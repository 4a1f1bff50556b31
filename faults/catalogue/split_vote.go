package catalogue

import (
	"locktorture/faults"
)

var splitVoteEntry = Entry{
	Name:     "split-vote",
	Wire:     "Every client sees a minority of nodes, each client another one: all of them up, no quorum anywhere.",
	Survives: "Nobody is granted anything; partial grants are undone or expire; work resumes after the heal.",
	Beyond:   "a majority of nodes is reachable",
	Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}, For: ttlTimes(0.5),
	New: newPartition("split-vote", splitVote),
}

// splitVote lets every client reach a minority, each a different one.
func splitVote(i, _, n, q int) []int { return circle(i+n-q, q, n) }

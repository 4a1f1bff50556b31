package catalogue

import (
	"locktorture/faults"
)

var ringEntry = Entry{
	Name:     "ring",
	Wire:     "Every client sees a quorum of nodes, each client another one.",
	Survives: "Quorums intersect: exclusion holds by the nodes that two clients share.",
	Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}, Takes: true, For: ttlTimes(1),
	New: newPartition("ring", ring),
}

// ring lets every client reach a quorum, each a different one.
func ring(i, _, n, q int) []int { return circle(i+q, n-q, n) }

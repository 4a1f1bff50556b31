package catalogue

import (
	"locktorture/faults"
)

var halvesEntry = Entry{
	Name:     "halves",
	Wire:     "Half of the clients see a quorum of nodes, the other half sees the rest.",
	Survives: "Those with the quorum go on; the others are refused, are told of their losses, and grant nothing.",
	Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}, Takes: true, For: ttlTimes(1),
	New: newPartition("halves", halves),
}

// halves splits clients and nodes in two: one half of the clients reaches a quorum, the others
// the remaining nodes.
func halves(i, clients, n, q int) []int {
	if i < clients/2 {
		return circle(q, n-q, n)
	}
	return circle(0, q, n)
}

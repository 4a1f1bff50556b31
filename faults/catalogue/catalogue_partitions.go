package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

// partitions are the faults that part clients from nodes.
func partitions() map[string]Entry {
	return map[string]Entry{
		"partition-client": {
			Wire:     "One client and every node drop each other's packets; connections stay open, and nobody answers a new one.",
			Survives: "The client is told of its loss before its lease ends; others take over; leftovers expire.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(0.75),
			New: on("partition-client", link.BlackHole),
		},
		"partition-node": {
			Wire:     "One node and every client drop each other's packets, those of new connections too; the other nodes are reachable.",
			Survives: "A minority may be unreachable: acquisitions go on with the rest, within per-node time-outs.",
			Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAny}, Takes: true, For: ttlTimes(0.75),
			New: on("partition-node", link.BlackHole),
		},
		"one-way": {
			Wire:     "One client's requests reach a minority of nodes and are applied; the replies are dropped.",
			Survives: "A majority answers still. What was applied unseen must be undone or expire.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleMinority}, Takes: true, For: ttlTimes(0.5),
			New: on("one-way", link.ResponseLost),
		},
		"cut": {
			Wire:     "Connections are closed and new ones refused.",
			Survives: "A refused dial is a definite no from that node, and a fast one.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleMinority}, Takes: true, For: ttlTimes(0.5),
			New: on("cut", link.Cut),
		},
		"flapping": {
			Wire:     "Connections are closed and new ones refused, on and off, dozens of times in a TTL.",
			Survives: "Each reconnection is cheap and bounded; half an operation is never mistaken for a whole one.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleMinority}, Takes: true, For: ttlTimes(0.75),
			New: newFlapping,
		},
		"reset": {
			Wire:     "Every connection between the client and the nodes is closed once; new ones are welcome.",
			Survives: "What was under way is unknown; the next attempt finds a fresh connection at once.",
			Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, On: watch.AcquireSent, For: ttlTimes(0),
			New: on("reset", link.Reset),
		},
		"halves": {
			Wire:     "Half of the clients see a quorum of nodes, the other half sees the rest.",
			Survives: "Those with the quorum go on; the others are refused, are told of their losses, and grant nothing.",
			Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}, Takes: true, For: ttlTimes(1),
			New: newShape("halves", halves),
		},
		"ring": {
			Wire:     "Every client sees a quorum of nodes, each client another one.",
			Survives: "Quorums intersect: exclusion holds by the nodes that two clients share.",
			Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}, Takes: true, For: ttlTimes(1),
			New: newShape("ring", ring),
		},
		"split-vote": {
			Wire:     "Every client sees a minority of nodes, each client another one: all of them up, no quorum anywhere.",
			Survives: "Nobody is granted anything; partial grants are undone or expire; work resumes after the heal.",
			Beyond:   "a majority of nodes is reachable",
			Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}, For: ttlTimes(0.5),
			New: newShape("split-vote", splitVote),
		},
	}
}

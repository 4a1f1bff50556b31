package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
)

var partitionClientEntry = Entry{
	Name:     "partition-client",
	Wire:     "One client and every node drop each other's packets; connections stay open, and nobody answers a new one.",
	Survives: "The client is told of its loss before its lease ends; others take over; leftovers expire.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(0.75),
	New: on("partition-client", link.BlackHole),
}

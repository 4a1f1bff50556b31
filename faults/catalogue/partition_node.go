package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
)

var partitionNodeEntry = Entry{
	Name:     "partition-node",
	Wire:     "One node and every client drop each other's packets, those of new connections too; the other nodes are reachable.",
	Survives: "A minority may be unreachable: acquisitions go on with the rest, within per-node time-outs.",
	Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAny}, Takes: true, For: ttlTimes(0.75),
	New: on("partition-node", link.BlackHole),
}

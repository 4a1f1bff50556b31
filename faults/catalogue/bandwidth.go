package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
)

var bandwidthEntry = Entry{
	Name:     "bandwidth",
	Wire:     "Few bytes per second pass between the clients and the node, both ways.",
	Survives: "As latency: a request that is late by more than its time-out has an unknown outcome.",
	Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAny, Rate: 2000}, Takes: true, For: ttlTimes(1),
	New: on("bandwidth", link.Bandwidth),
}

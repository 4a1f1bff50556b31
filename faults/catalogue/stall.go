package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
)

var stallEntry = Entry{
	Name:     "stall",
	Wire:     "Packets are held in both directions and delivered in order at the heal, as TCP does after a short partition.",
	Survives: "Requests of ended attempts arrive late: they must not take what nobody will release.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleMinority}, Takes: true, For: ttlTimes(0.75),
	New: on("stall", link.Stall),
}

package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
)

var cutEntry = Entry{
	Name:     "cut",
	Wire:     "Connections are closed and new ones refused.",
	Survives: "A refused dial is a definite no from that node, and a fast one.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleMinority}, Takes: true, For: ttlTimes(0.5),
	New: on("cut", link.Cut),
}

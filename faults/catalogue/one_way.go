package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
)

var oneWayEntry = Entry{
	Name:     "one-way",
	Wire:     "One client's requests reach a minority of nodes and are applied; the replies are dropped.",
	Survives: "A majority answers still. What was applied unseen must be undone or expire.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleMinority}, Takes: true, For: ttlTimes(0.5),
	New: on("one-way", link.ResponseLost),
}

package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

var resetEntry = Entry{
	Name:     "reset",
	Wire:     "Every connection between the client and the nodes is closed once; new ones are welcome.",
	Survives: "What was under way is unknown; the next attempt finds a fresh connection at once.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, On: watch.AcquireSent, For: ttlTimes(0),
	New: on("reset", link.Reset),
}

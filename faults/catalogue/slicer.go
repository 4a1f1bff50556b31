package catalogue

import (
	"time"

	"locktorture/faults"
	"locktorture/faults/link"
)

var slicerEntry = Entry{
	Name:     "slicer",
	Wire:     "Replies come in pieces of a few bytes, with a pause after each, as over a path with tiny packets.",
	Survives: "Nothing breaks: a reply is what the protocol says, not what one read returns. It costs time.",
	Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAny, Bytes: 2, Delay: time.Millisecond}, For: ttlTimes(1),
	New: on("slicer", link.Slicer),
}

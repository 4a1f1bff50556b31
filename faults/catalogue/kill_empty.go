package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/testbed"
)

var killEmptyEntry = Entry{
	Name:     "kill-empty",
	Wire:     "The node is killed and comes back at once without its keys: it grants again what it had granted.",
	Survives: "Exclusion needs the node kept out for a TTL, or data on disk; plain Redlock breaks when it was the swing node.",
	Beyond:   "nodes do not forget, unless the lock itself keeps such a node out",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, KeptOut: true, For: ttlTimes(0),
	New: restart("kill-empty", testbed.Empty, false),
}

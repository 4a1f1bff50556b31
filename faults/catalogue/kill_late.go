package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/testbed"
)

var killLateEntry = Entry{
	Name:     "kill-late",
	Wire:     "The node is killed and comes back without its keys, but later than every lease that it had granted.",
	Survives: "The classic remedy: exclusion holds. A fence that was kept on the node must not go back.",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, KeptOut: true, For: ttlTimes(1.25),
	New: restart("kill-late", testbed.Empty, true),
}

package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/testbed"
	"locktorture/faults/watch"
)

var powerLossEntry = Entry{
	Name:     "power-loss",
	Wire:     "The node is killed right after a grant and comes back without what it had not synced yet: appendfsync everysec.",
	Survives: "As kill-empty for leases of the last second: they are forgotten, older ones are not.",
	Beyond:   "nodes do not forget, unless the lock itself keeps such a node out",
	Default:  faults.Params{Node: faults.RoleAny}, Needs: testbed.AbilityPowerLoss, Takes: true, KeptOut: true, On: watch.AcquireReplied, For: ttlTimes(0),
	New: restart("power-loss", testbed.PowerLoss, false),
}

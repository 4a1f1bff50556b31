package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
)

var notifyLostEntry = Entry{
	Name:     "notify-lost",
	Wire:     "The connections on which clients hear of releases stay open, and nothing passes; all others are left alone.",
	Survives: "As notify-cut, without anything to notice: silence must not be taken for a lock that is held.",
	Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}, For: ttlTimes(1),
	New: newNotify("notify-lost", link.NotifyLost),
}

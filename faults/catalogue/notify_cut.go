package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
)

var notifyCutEntry = Entry{
	Name:     "notify-cut",
	Wire:     "The connections on which clients hear of releases are closed, however often they dial; all others are left alone.",
	Survives: "A missed notification costs time only: waiters ask again by themselves, and subscribe anew.",
	Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAll}, For: ttlTimes(1),
	New: newNotify("notify-cut", link.NotifyCut),
}

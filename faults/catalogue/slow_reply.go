package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

var slowReplyEntry = Entry{
	Name:     "slow-reply",
	Wire:     "Requests are applied at once, replies held until the heal.",
	Survives: "Validity counts from before the request: a grant that is known too late is no grant.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(1.25), On: watch.AcquireSent,
	New: on("slow-reply", link.SlowReply),
}

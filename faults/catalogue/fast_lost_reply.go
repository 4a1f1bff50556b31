package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

var fastLostReplyEntry = Entry{
	Name:     "fast-lost-reply",
	Wire:     "Requests are applied, and the connection is closed before the reply.",
	Survives: "As response-lost, without the time-out: a client library that retries by itself shows here.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(0.25), On: watch.AcquireSent,
	New: on("fast-lost-reply", link.FastLostReply),
}

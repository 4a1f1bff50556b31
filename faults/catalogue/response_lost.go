package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

var responseLostEntry = Entry{
	Name:     "response-lost",
	Wire:     "Requests are applied, their replies dropped; the connection stays open.",
	Survives: "What was taken unseen is given back or expires; a release that was applied is not repeated on another's lease.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(0.25), On: watch.AcquireSent,
	New: on("response-lost", link.ResponseLost),
}

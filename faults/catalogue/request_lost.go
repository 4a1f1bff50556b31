package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

var requestLostEntry = Entry{
	Name:     "request-lost",
	Wire:     "Requests are dropped before they reach the node: never applied, never answered.",
	Survives: "The outcome is unknown to the client, who must not count it as granted, nor as refused.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleAll}, For: ttlTimes(0.25), On: watch.AcquireSent,
	New: on("request-lost", link.RequestLost),
}

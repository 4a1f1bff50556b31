package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

var storeReplyLostEntry = Entry{
	Name:     "store-reply-lost",
	Wire:     "The holder's writes reach the guarded store, the replies do not: it cannot know whether they took effect.",
	Survives: "Unknown writes stay unknown until the audit; the fence judges each of them all the same.",
	Default:  faults.Params{Client: faults.RoleHolder, Node: faults.StoreNode}, For: ttlTimes(0.25), On: watch.AcquireReplied,
	New: on("store-reply-lost", link.ResponseLost),
}

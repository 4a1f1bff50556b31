package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
)

var storeWriteDelayedEntry = Entry{
	Name:     "store-write-delayed",
	Wire:     "The holder's write is held on its way to the store and delivered after its lease has ended.",
	Survives: "No lock can stop it: the store's fence must reject it once a newer token was seen.",
	Default:  faults.Params{Client: faults.RoleHolder, Node: faults.StoreNode}, For: ttlTimes(1.5), On: watch.AcquireReplied,
	New: on("store-write-delayed", link.Zombie),
}

package catalogue

import (
	"locktorture/faults"
)

var evictVolatileEntry = Entry{
	Name:     "evict-volatile",
	Wire:     "maxmemory is reached under volatile-lru: leases vanish, then nobody can write.",
	Survives: "As evict; afterwards the node refuses acquisitions, which is a definite no.",
	Beyond:   "maxmemory-policy is noeviction",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, KeptOut: true, For: ttlTimes(0.5),
	New: server(serverFault{name: "evict-volatile", writes: true, commands: []string{"CONFIG"}, apply: full("volatile-lru")}),
}

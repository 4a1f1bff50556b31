package catalogue

import (
	"locktorture/faults"
	"locktorture/faults/testbed"
)

// serverFaults are what can befall Redis without anybody killing it.
func serverFaults() map[string]Entry {
	any, instant := faults.Params{Node: faults.RoleAny}, ttlTimes(0)
	return map[string]Entry{
		"server-pause": {
			Wire:     "CLIENT PAUSE WRITE: the server holds every write and answers reads.",
			Survives: "As a stopped node: per-node time-outs. Held commands take effect late.",
			Default:  any, Takes: true, For: ttlTimes(0.5),
			New: server(serverFault{name: "server-pause", commands: []string{"CLIENT"}, hurt: pauseWrites(pauseLength)}),
		},
		"busy-script": {
			Wire:     "A script runs for ever; the server answers BUSY to everybody until it is killed.",
			Survives: "BUSY is a definite no from that node. A minority of such nodes costs nothing else.",
			Default:  any, Takes: true, For: ttlTimes(0.5),
			New: server(serverFault{name: "busy-script", commands: []string{"CONFIG", "SCRIPT"}, hurt: busyScript}),
		},
		"slow-node": {
			Wire:     "The server is busy most of the time, with scripts of a hundredth of the TTL one after another.",
			Survives: "A quorum of the others decides; the slow node's late grants are undone.",
			Default:  any, Takes: true, For: ttlTimes(1),
			New: server(serverFault{name: "slow-node", more: []string{"delay"}, commands: []string{"DEBUG"}, hurt: slowNode}),
		},
		"script-flush": {
			Wire:     "SCRIPT FLUSH: the server forgets every cached script, and answers NOSCRIPT to EVALSHA.",
			Survives: "The lock sends the script again, within the same attempt.",
			Default:  any, For: instant,
			New: server(serverFault{name: "script-flush", commands: []string{"SCRIPT"}, instant: true, hurt: scriptFlush}),
		},
		"kick-clients": {
			Wire:     "CLIENT KILL TYPE normal: the server closes every client's connection.",
			Survives: "What was under way is unknown; leases live on; clients reconnect.",
			Default:  any, For: instant,
			New: server(serverFault{name: "kick-clients", commands: []string{"CLIENT"}, instant: true, hurt: kick}),
		},
		"demote": {
			Wire:     "REPLICAOF: the node serves reads and answers READONLY to every write, release and renewal.",
			Survives: "READONLY is a definite no from that node; leases are held by the others.",
			Default:  any, Takes: true, For: ttlTimes(0.5),
			New: server(serverFault{name: "demote", commands: []string{"REPLICAOF"}, hurt: demote}),
		},
		"flushall": {
			Wire:     "FLUSHALL: the node loses every key while it runs: leases, fences, and what marked it as admitted.",
			Survives: "As an empty restart: the lock must notice that the node has forgotten and keep it out.",
			Beyond:   "nodes do not forget, unless the lock itself keeps such a node out",
			Default:  any, Takes: true, For: instant,
			New: server(serverFault{name: "flushall", prey: keys, commands: []string{"FLUSHALL"}, instant: true, hurt: flushall}),
		},
		"ttl-shift": {
			Wire:     "Every key of the node expires one TTL earlier: what a clock that jumps forward does to relative times.",
			Survives: "One node's early expiry is no quorum by itself; with a second cause it breaks exclusion.",
			Beyond:   "clocks of nodes do not jump",
			Default:  any, For: instant,
			New: server(serverFault{name: "ttl-shift", more: []string{"jump"}, prey: expiring, instant: true, hurt: shiftTTL}),
		},
		"evict": {
			Wire:     "maxmemory is reached under allkeys-lru for a moment: every lease and fence vanishes before its time.",
			Survives: "No lock survives eviction on a quorum; one node's is an empty restart without a restart.",
			Beyond:   "maxmemory-policy is noeviction",
			Default:  any, Takes: true, For: instant,
			New: server(serverFault{name: "evict", prey: keys, commands: []string{"CONFIG"}, instant: true, hurt: evict}),
		},
		"evict-volatile": {
			Wire:     "maxmemory is reached under volatile-lru: leases vanish, then nobody can write.",
			Survives: "As evict; afterwards the node refuses acquisitions, which is a definite no.",
			Beyond:   "maxmemory-policy is noeviction",
			Default:  any, Takes: true, For: ttlTimes(0.5),
			New: server(serverFault{name: "evict-volatile", commands: []string{"CONFIG"}, hurt: full("volatile-lru")}),
		},
		"out-of-memory": {
			Wire:     "maxmemory is reached under noeviction: the node answers OOM to commands that need memory.",
			Survives: "OOM is a definite no from that node; release and renewal need no memory and go on.",
			Default:  any, Takes: true, For: ttlTimes(0.5),
			New: server(serverFault{name: "out-of-memory", commands: []string{"CONFIG"}, hurt: full("noeviction")}),
		},
	}
}

// clockFaults move the nodes' clocks.
func clockFaults() map[string]Entry {
	return map[string]Entry{
		"clock-jump": {
			Wire:     "The node's clock jumps, forward by a TTL unless told otherwise, and back at the heal; expiries follow.",
			Survives: "One node's early expiry is no quorum by itself; on the swing node it can be.",
			Beyond:   "clocks of nodes do not jump",
			Default:  faults.Params{Node: faults.RoleAny}, Needs: testbed.AbilityClockJump, For: ttlTimes(0.5),
			New: func(p faults.Params) faults.Fault { return clockJump{p} },
		},
		"clock-drift": {
			Wire:     "The node's clock runs fast by a tenth of the TTL per TTL unless told otherwise, and is put right at the heal.",
			Survives: "Drift within the allowance costs nothing; beyond it validity is overrun on that node only.",
			Beyond:   "clocks of nodes drift by less than the allowance",
			Default:  faults.Params{Node: faults.RoleAny}, Needs: testbed.AbilityClockJump, For: ttlTimes(1),
			New: func(p faults.Params) faults.Fault { return clockDrift{p} },
		},
	}
}

// Package catalogue has every fault that the harness knows.
package catalogue

import (
	"time"

	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/faults/watch"
)

// An Entry is one fault of the catalogue.
type Entry struct {
	Wire     string                                // what happens on the wire
	Survives string                                // what a lock should make of it
	Beyond   string                                // which assumption of a correct lock it breaks; empty: it must survive
	Default  faults.Params                         // what a Spec leaves open
	Needs    testbed.Ability                       // that nodes have only when they are started for it; empty: none
	Takes    bool                                  // takes nodes away from everybody, or a minority from somebody
	On       watch.Moment                          // phase lock of its own, where none is asked for
	For      func(ttl time.Duration) time.Duration // how long, where that is not said
	New      func(p faults.Params) faults.Fault
}

// shares of the TTL.
func ttlTimes(f float64) func(time.Duration) time.Duration {
	return func(ttl time.Duration) time.Duration { return time.Duration(f * float64(ttl)) }
}

// All returns every fault by its name.
func All() map[string]Entry {
	all := map[string]Entry{}
	for _, shelf := range []map[string]Entry{linkFaults(), pieceFaults(), partitions(), nodeFaults(), serverFaults(), clockFaults(), clientFaults()} {
		for name, e := range shelf {
			all[name] = e
		}
	}
	return all
}

// on makes the constructor of a fault of links.
func on(name string, kind link.Kind) func(faults.Params) faults.Fault {
	return func(p faults.Params) faults.Fault { return roadFault{Params: p, name: name, kind: kind} }
}

// restart makes the constructor of a kill.
func restart(name string, how testbed.Restart, late bool) func(faults.Params) faults.Fault {
	return func(p faults.Params) faults.Fault { return kill{Params: p, name: name, how: how, late: late} }
}

func clientFaults() map[string]Entry {
	return map[string]Entry{
		"pause-client": {
			Wire:     "The client stands still inside its critical section, renewals included, and goes on after its lease has ended.",
			Survives: "Another client takes over; a fence rejects the late write; the sleeper learns of its loss before it acts.",
			Default:  faults.Params{Client: faults.RoleHolder}, On: watch.InSection, For: ttlTimes(1.5),
			New: func(p faults.Params) faults.Fault { return pauseClient{p} },
		},
		"crash-client": {
			Wire:     "The client ends in its critical section without a release; its connections close. It comes back as a new owner.",
			Survives: "The key is free again one TTL later, and not before; nothing of the dead owner stays behind.",
			Default:  faults.Params{Client: faults.RoleHolder}, On: watch.AcquireReplied, For: ttlTimes(0.5),
			New: func(p faults.Params) faults.Fault { return crashClient{p} },
		},
		"cancel-context": {
			Wire:     "The contexts of the client's operations are cancelled at random points, between commands or in the middle of one.",
			Survives: "What was under way is unknown to the caller; what it took is given back or expires, and nothing renews it.",
			Default:  faults.Params{Client: faults.RoleAny}, For: ttlTimes(0.5), On: watch.AcquireSent,
			New: func(p faults.Params) faults.Fault { return cancelContext{p} },
		},
		"client-clock": {
			Wire:     "Nothing: the client's wall clock jumps, ahead by two TTLs and a second unless told otherwise, and back at the heal.",
			Survives: "A lock that leaves the time to the server does not notice; one that compares clients' stamps grants twice.",
			Default:  faults.Params{Client: faults.RoleAny}, For: ttlTimes(1),
			New: func(p faults.Params) faults.Fault { return clientClock{p} },
		},
		"client-clock-stuck": {
			Wire:     "Nothing: the clients' wall clocks stand still, all at one time of day, and go right again at the heal.",
			Survives: "A lock that leaves the time to the server does not notice; to one whose stamps are its owners, all are one owner.",
			Default:  faults.Params{Client: faults.RoleAll}, For: ttlTimes(1),
			New: func(p faults.Params) faults.Fault { return clientClockStuck{p} },
		},
		"starve-cpu": {
			Wire:     "Nothing: every goroutine of this process waits for a processor, clients and harness alike.",
			Survives: "Deadlines are checked against a clock, not assumed: late is late. Timing rules may be void meanwhile.",
			For:      ttlTimes(0.25),
			New:      func(p faults.Params) faults.Fault { return starveCPU{p} },
		},
	}
}

func nodeFaults() map[string]Entry {
	return map[string]Entry{
		"kill": {
			Wire:     "The node is killed (SIGKILL), refuses connections, and comes back with everything it had acknowledged.",
			Survives: "A minority may be down at any time: acquisitions go on, no lease is lost, nobody holds twice.",
			Default:  faults.Params{Node: faults.RoleAny}, Takes: true, For: ttlTimes(0.5),
			New: restart("kill", testbed.WithData, false),
		},
		"kill-empty": {
			Wire:     "The node is killed and comes back at once without its keys: it grants again what it had granted.",
			Survives: "Exclusion needs the node kept out for a TTL, or data on disk; plain Redlock breaks when it was the swing node.",
			Beyond:   "nodes do not forget, unless the lock itself keeps such a node out",
			Default:  faults.Params{Node: faults.RoleAny}, Takes: true, For: ttlTimes(0),
			New: restart("kill-empty", testbed.Empty, false),
		},
		"kill-late": {
			Wire:     "The node is killed and comes back without its keys, but later than every lease that it had granted.",
			Survives: "The classic remedy: exclusion holds. A fence that was kept on the node must not go back.",
			Default:  faults.Params{Node: faults.RoleAny}, Takes: true, For: ttlTimes(1.25),
			New: restart("kill-late", testbed.Empty, true),
		},
		"power-loss": {
			Wire:     "The node is killed right after a grant and comes back without what it had not synced yet: appendfsync everysec.",
			Survives: "As kill-empty for leases of the last second: they are forgotten, older ones are not.",
			Beyond:   "nodes do not forget, unless the lock itself keeps such a node out",
			Default:  faults.Params{Node: faults.RoleAny}, Needs: testbed.AbilityPowerLoss, Takes: true, On: watch.AcquireReplied, For: ttlTimes(0),
			New: restart("power-loss", testbed.PowerLoss, false),
		},
		"failover": {
			Wire:     "The node's asynchronous replica stops receiving; at the heal the node is killed and the replica takes its place.",
			Survives: "What was granted since is forgotten: a lock on one master breaks, a quorum of independent masters is one node short.",
			Beyond:   "nodes do not forget, unless the lock itself keeps such a node out",
			Default:  faults.Params{Node: faults.RoleAny}, Takes: true, For: ttlTimes(0.25),
			New: func(p faults.Params) faults.Fault { return failover{p} },
		},
		"pause-node": {
			Wire:     "The node is stopped (SIGSTOP): connections stay open, nothing is answered, and all of it is applied afterwards.",
			Survives: "Per-node time-outs: a stopped minority costs time only. Late commands must do no harm.",
			Default:  faults.Params{Node: faults.RoleAny}, Takes: true, For: ttlTimes(0.5),
			New: func(p faults.Params) faults.Fault { return pauseNode{p} },
		},
	}
}

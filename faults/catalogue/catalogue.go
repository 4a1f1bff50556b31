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
	Name     string
	Wire     string                                // what happens on the wire
	Survives string                                // what a lock should make of it
	Beyond   string                                // which assumption of a correct lock it breaks; empty: it must survive
	Default  faults.Params                         // what a Spec leaves open
	Needs    testbed.Ability                       // that nodes have only when they are started for it; empty: none
	Takes    bool                                  // takes nodes away from everybody, or a minority from somebody
	KeptOut  bool                                  // a node loses keys, or restarts: a lock may keep it out for a while
	On       watch.Moment                          // phase lock of its own, where none is asked for
	For      func(ttl time.Duration) time.Duration // how long, where that is not said
	New      func(p faults.Params) faults.Fault
}

// ttlTimes is a length of f TTLs.
func ttlTimes(f float64) func(time.Duration) time.Duration {
	return func(ttl time.Duration) time.Duration { return time.Duration(f * float64(ttl)) }
}

// All returns every fault by its name.
func All() map[string]Entry {
	all := make(map[string]Entry, len(entries))
	for _, e := range entries {
		all[e.Name] = e
	}
	return all
}

// entries are the faults, each in a file of its own.
var entries = []Entry{
	bandwidthEntry,
	busyScriptEntry,
	cancelContextEntry,
	clientClockEntry,
	clientClockStuckEntry,
	clockDriftEntry,
	clockJumpEntry,
	clusterFailoverEntry,
	crashClientEntry,
	cutEntry,
	demoteEntry,
	evictEntry,
	evictVolatileEntry,
	failoverEntry,
	failoverIsolatedEntry,
	fastLostReplyEntry,
	flappingEntry,
	flushallEntry,
	halvesEntry,
	kickClientsEntry,
	killEntry,
	killEmptyEntry,
	killLateEntry,
	latencyEntry,
	latencyHeavyTailEntry,
	limitDataEntry,
	migrateSlotEntry,
	notifyCutEntry,
	notifyLostEntry,
	oneWayEntry,
	outOfMemoryEntry,
	partitionClientEntry,
	partitionNodeEntry,
	pauseClientEntry,
	pauseNodeEntry,
	powerLossEntry,
	requestLostEntry,
	resetEntry,
	responseLostEntry,
	ringEntry,
	scriptFlushEntry,
	serverPauseEntry,
	slicerEntry,
	slowCloseEntry,
	slowNodeEntry,
	slowReplyEntry,
	splitVoteEntry,
	stallEntry,
	starveCpuEntry,
	storeReplyLostEntry,
	storeWriteDelayedEntry,
	stuckConnectionEntry,
	ttlShiftEntry,
	zombieEntry,
}

// on returns the constructor of a fault of links.
func on(name string, kind link.Kind) func(faults.Params) faults.Fault {
	return func(p faults.Params) faults.Fault { return linkFault{Params: p, name: name, kind: kind} }
}

// restart returns the constructor of a kill.
func restart(name string, how testbed.Restart, late bool) func(faults.Params) faults.Fault {
	return func(p faults.Params) faults.Fault { return kill{Params: p, name: name, how: how, late: late} }
}

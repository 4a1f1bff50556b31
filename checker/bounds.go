package checker

import (
	"time"

	"locktorture/workload/history"
)

// The bounds that a header may declare, by name.
const (
	boundRetry        = "retry_ns"             // a contender's pause between two attempts; the TTL unless declared
	boundLoss         = "loss_ns"              // the library's documented delay of reporting a loss (S11)
	boundWait         = "wait_ns"              // longest wait for a grant while nothing is wrong (L3)
	boundRecovery     = "recovery_ns"          // from a heal to the next grant (L4)
	boundAvailability = "availability_percent" // of acquires definitely answered, per phase (L6)
	boundUndo         = "undo_ns"              // by when what a failed attempt took, and a released lease, are gone from a node that can be reached (L8)
	boundWake         = "wake_ns"              // by when somebody who waits for a key that is free has it (L2)
	boundRounds       = "livelock_rounds"      // lost rounds that make a livelock (L7)
)

// bound is what the header declares, or else otherwise.
func (j *Judge) bound(name string, otherwise int64) int64 {
	if b, ok := j.h.Bounds[name]; ok {
		return b
	}
	return otherwise
}

func (j *Judge) retry() time.Duration { return time.Duration(j.bound(boundRetry, int64(j.h.TTL))) }

// uncertainty is how far the clocks of any two that stamped events of a history
// with header h may be apart.
func uncertainty(h history.Header) time.Duration {
	var widest, next time.Duration
	for _, host := range h.Hosts {
		next = max(next, min(widest, host.Epsilon))
		widest = max(widest, host.Epsilon)
	}
	return max(h.Epsilon, widest+next)
}

package ledger

import (
	"time"

	"locktorture/workload/history"
)

// The bounds that a header may declare, by name.
const (
	BoundRetry        = "retry_ns"             // a contender's pause between two attempts; the TTL unless declared
	BoundLoss         = "loss_ns"              // the library's documented delay of reporting a loss (S11)
	BoundWait         = "wait_ns"              // longest wait for a grant while nothing is wrong (L3)
	BoundRecovery     = "recovery_ns"          // from a heal to the next grant (L4)
	BoundAvailability = "availability_percent" // of acquires definitely answered, per phase (L6)
	BoundUndo         = "undo_ns"              // by when what a failed attempt took, and a released lease, are gone from a node that can be reached (L8)
	BoundWake         = "wake_ns"              // by when somebody who waits for a key that is free has it (L2)
	BoundRounds       = "livelock_rounds"      // lost rounds that make a livelock (L7)
)

// Bound is what the header declares, or else otherwise.
func (l *Ledger) Bound(name string, otherwise int64) int64 {
	if b, ok := l.Header.Bounds[name]; ok {
		return b
	}
	return otherwise
}

func (l *Ledger) Retry() time.Duration {
	return time.Duration(l.Bound(BoundRetry, int64(l.Header.TTL)))
}

// checked says whether a successful release proves that its owner still held.
func CheckedRelease(h history.Header) bool {
	return h.OwnerCheckedRelease == nil || *h.OwnerCheckedRelease
}

package ledger

import (
	"time"

	"locktorture/workload/history"
)

// Bound is the bound of that name in the header, or otherwise where the header has none.
func (l *Ledger) Bound(name string, otherwise int64) int64 {
	if b, ok := l.Header.Bounds[name]; ok {
		return b
	}
	return otherwise
}

func (l *Ledger) Retry() time.Duration {
	return time.Duration(l.Bound(history.BoundRetry, int64(l.Header.TTL)))
}

// CheckedRelease says whether a successful release proves that its owner still held.
func CheckedRelease(h history.Header) bool {
	return h.OwnerCheckedRelease == nil || *h.OwnerCheckedRelease
}

package redlock

import (
	"time"

	"locktorture/lockimpl"
)

// Suspend makes it as if the machine had been suspended for d since the lease
// began: the wall clock has moved on, and the monotonic clock has not.
func Suspend(l lockimpl.Lease, d time.Duration) { SuspendLease(l.(held).Lease, d) }

// SuspendLease is Suspend for a Lease.
func SuspendLease(l *Lease, d time.Duration) {
	e := l.e
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wall = e.wall.Add(-d)
}

package rule

import (
	"time"

	"locktorture/checker/internal/ledger"
)

// A stamp is the clock reading on which a violation of a timing rule rests: the harness took
// it, and the rule is broken by a margin. If the harness was stopped for that long just before
// it, the reading proves nothing. A time that the lock or a child process stamped is none of
// the harness's.
type stamp struct {
	Since  time.Duration // from when on a stall would have delayed it
	At     time.Duration
	Margin time.Duration
	By     timeSource
}

// A timeSource is who vouches for a time.
type timeSource int

const (
	Harness timeSource = iota // it stamped when it got to run
	Claimed                   // a lock or a child said so, by a clock that may have been moved
	Order                     // one process's events came in this order, whatever its clock showed
)

// Stamped makes the stamp of a reading of the harness's at time at. Where claimed is set, a lock
// or a child gave the time; where order is set, the order of one process's events proves as
// much.
func Stamped(since, at, margin time.Duration, claimed, order bool) func() stamp {
	by := Harness
	switch {
	case order:
		by = Order
	case claimed:
		by = Claimed
	}
	return func() stamp { return stamp{since, at, margin, by} }
}

// Shared makes the stamp that says when two holds stopped overlapping: when a holder was told
// of its loss. Other ends need none: a release is stamped before it is sent, and a deadline by
// who promised it.
func Shared(a, b *ledger.Grant, from, eps time.Duration) func() stamp {
	return func() stamp {
		g, by := a, Claimed
		if b.End() < a.End() {
			g = b
		}
		if g.StoppedAt < g.Deadline && g.StopIdx != g.ReleaseIdx && (g.StopIdx != g.LostIdx || g.StoppedAt == g.LostAt) {
			by = Harness
		}
		return stamp{from, g.End(), g.End() - from - eps, by}
	}
}

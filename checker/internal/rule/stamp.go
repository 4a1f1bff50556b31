package rule

import (
	"time"

	"locktorture/checker/internal/ledger"
)

// A stamp is what a violation of a timing rule rests on: an instant that the
// harness took, which the rule forbids by a margin. Had the harness stood still
// for as long before it, the instant proves nothing. What a lock or a child
// stamped itself is no stamp of the harness's.
type stamp struct {
	Since  time.Duration // from when on a stall would have delayed it
	At     time.Duration
	Margin time.Duration
}

// Stamped is a stamp of the harness's, unless another one's word was taken.
func Stamped(since, at, margin time.Duration, word bool) func() (stamp, bool) {
	return func() (stamp, bool) { return stamp{since, at, margin}, !word }
}

// Shared is the stamp that says when two holds no longer lasted together: the
// one by which a holder was told of its loss. A release is stamped before it is
// sent, and a deadline by who promised it.
func Shared(a, b *ledger.Grant, from, eps time.Duration) func() (stamp, bool) {
	return func() (stamp, bool) {
		g := a
		if b.End() < a.End() {
			g = b
		}
		told := g.StoppedAt < g.Deadline && g.StopIdx != g.ReleaseIdx && (g.StopIdx != g.LostIdx || g.StoppedAt == g.LostAt)
		return stamp{from, g.End(), g.End() - from - eps}, told
	}
}

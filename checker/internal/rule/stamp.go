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
	By     authority
}

// An authority is whose word a stamp is.
type authority int

const (
	Harness authority = iota // it stamped when it got to run
	Word                     // a lock or a child said so, by a clock that may have been moved
	Order                    // one process's events came in this order, whatever its clock showed
)

// Stamped is a stamp of the harness's, unless another one's word was taken, or the order
// of one process's events proves as much.
func Stamped(since, at, margin time.Duration, word, order bool) func() stamp {
	by := Harness
	switch {
	case order:
		by = Order
	case word:
		by = Word
	}
	return func() stamp { return stamp{since, at, margin, by} }
}

// Shared is the stamp that says when two holds no longer lasted together: the
// one by which a holder was told of its loss. A release is stamped before it is
// sent, and a deadline by who promised it.
func Shared(a, b *ledger.Grant, from, eps time.Duration) func() stamp {
	return func() stamp {
		g, by := a, Word
		if b.End() < a.End() {
			g = b
		}
		if g.StoppedAt < g.Deadline && g.StopIdx != g.ReleaseIdx && (g.StopIdx != g.LostIdx || g.StoppedAt == g.LostAt) {
			by = Harness
		}
		return stamp{from, g.End(), g.End() - from - eps, by}
	}
}

package checker

import (
	"cmp"
	"slices"
	"time"

	"locktorture/workload/history"
)

// maxStalls is how many intervals are kept apart; beyond it neighbours are
// taken for one, which only makes them longer.
const maxStalls = 1 << 16

// stalls are the intervals in which the harness itself stood still. What it
// stamped across one may have happened as much earlier as that lasted.
type stalls struct {
	all    []interval
	sorted bool
}

type interval struct{ from, to time.Duration }

func (s *stalls) see(e *history.Event) {
	if len(s.all) == maxStalls {
		s.merge()
		s.all = s.pairs()
	}
	s.all, s.sorted = append(s.all, interval{e.Began, min(e.Ended, e.Time)}), false
}

// pairs makes one interval of every two, if there are many.
func (s *stalls) pairs() []interval {
	n := len(s.all) / 2
	if n < maxStalls/4 {
		return s.all
	}
	for i := range n {
		s.all[i] = interval{s.all[2*i].from, s.all[2*i+1].to}
	}
	return append(s.all[:n], s.all[2*n:]...)
}

// merge puts the intervals in order, and makes one of those that touch.
func (s *stalls) merge() {
	if s.sorted {
		return
	}
	s.sorted = true
	slices.SortFunc(s.all, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	out := s.all[:0]
	for _, x := range s.all {
		if n := len(out); n > 0 && x.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, x.to)
			continue
		}
		out = append(out, x)
	}
	s.all = out
}

// within is for how long the harness stood still in [from, to].
func (s *stalls) within(from, to time.Duration) (sum time.Duration) {
	s.merge()
	i, _ := slices.BinarySearchFunc(s.all, from, func(x interval, t time.Duration) int { return cmp.Compare(x.to, t) })
	for ; i < len(s.all) && s.all[i].from < to; i++ {
		sum += max(0, min(to, s.all[i].to)-max(from, s.all[i].from))
	}
	return sum
}

// longest is the longest interval.
func (s *stalls) longest() (longest time.Duration) {
	for _, x := range s.all {
		longest = max(longest, x.to-x.from)
	}
	return longest
}

// A stamp is what a violation of a timing rule rests on: an instant that the
// harness took, which the rule forbids by a margin. Had the harness stood still
// for as long before it, the instant proves nothing. What a lock or a child
// stamped itself is no stamp of the harness's.
type stamp struct {
	since  time.Duration // from when on a stall would have delayed it
	at     time.Duration
	margin time.Duration
}

// stamped is a stamp of the harness's, unless another one's word was taken.
func stamped(since, at, margin time.Duration, word bool) func() (stamp, bool) {
	return func() (stamp, bool) { return stamp{since, at, margin}, !word }
}

// shared is the stamp that says when two holds no longer lasted together: the
// one by which a holder was told of its loss. A release is stamped before it is
// sent, and a deadline by who promised it.
func shared(a, b *grant, from, eps time.Duration) func() (stamp, bool) {
	return func() (stamp, bool) {
		g := a
		if b.end() < a.end() {
			g = b
		}
		told := g.stop < g.d && g.stopIdx != g.relIdx && (g.stopIdx != g.lostIdx || g.stop == g.lost)
		return stamp{from, g.end(), g.end() - from - eps}, told
	}
}

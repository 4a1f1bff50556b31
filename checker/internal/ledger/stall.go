package ledger

import (
	"cmp"
	"slices"
	"time"

	"locktorture/workload/history"
)

// MaxStalls is how many intervals are kept; beyond it, neighbours are merged, which only makes
// them longer.
const MaxStalls = 1 << 16

// Stalls are the intervals in which the harness itself was stopped. An event that it stamped
// behind such an interval may have happened earlier, by up to the interval's length.
type Stalls struct {
	All    []Interval
	sorted bool
}

type Interval struct{ From, To time.Duration }

func (s *Stalls) Observe(e *history.Event) {
	if len(s.All) == MaxStalls {
		s.merge()
		s.All = s.pairs()
	}
	s.All, s.sorted = append(s.All, Interval{e.Began, min(e.Ended, e.Time)}), false
}

// pairs merges every two neighbours, if there are many intervals.
func (s *Stalls) pairs() []Interval {
	n := len(s.All) / 2
	if n < MaxStalls/4 {
		return s.All
	}
	for i := range n {
		s.All[i] = Interval{s.All[2*i].From, s.All[2*i+1].To}
	}
	return append(s.All[:n], s.All[2*n:]...)
}

// merge sorts the intervals, and merges those that touch.
func (s *Stalls) merge() {
	if s.sorted {
		return
	}
	s.sorted = true
	slices.SortFunc(s.All, func(a, b Interval) int { return cmp.Compare(a.From, b.From) })
	out := s.All[:0]
	for _, x := range s.All {
		if n := len(out); n > 0 && x.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, x.To)
			continue
		}
		out = append(out, x)
	}
	s.All = out
}

// Within is for how long the harness was stopped in [from, to].
func (s *Stalls) Within(from, to time.Duration) (sum time.Duration) {
	s.merge()
	i, _ := slices.BinarySearchFunc(s.All, from, func(x Interval, t time.Duration) int { return cmp.Compare(x.To, t) })
	for ; i < len(s.All) && s.All[i].From < to; i++ {
		sum += max(0, min(to, s.All[i].To)-max(from, s.All[i].From))
	}
	return sum
}

// Longest is the longest interval.
func (s *Stalls) Longest() (longest time.Duration) {
	for _, x := range s.All {
		longest = max(longest, x.To-x.From)
	}
	return longest
}

// Shortest is for how long the harness must have been stopped, at least, for that to explain a
// finding for which no bound says more.
func (l *Ledger) Shortest() time.Duration { return l.Header.TTL / 10 }

// Beyond is how long a stop of the harness must be to explain that something took longer than
// it may, by over.
func (l *Ledger) Beyond(over time.Duration) time.Duration { return max(over, l.Shortest()) }

package ledger

import (
	"cmp"
	"slices"
	"time"

	"locktorture/workload/history"
)

// MaxStalls is how many intervals are kept of each kind; beyond it, neighbours are merged, which
// only makes them longer.
const MaxStalls = 1 << 16

// Stalls are the intervals in which the harness itself was stopped. An event that it stamped
// behind such an interval may have happened earlier, by up to the time for which it was stopped.
type Stalls struct {
	All    []Interval // in which it was stopped all the time
	Some   []Stopped  // in which it was stopped for some of the time
	sorted bool       // All is, and no two of it touch
}

type Interval struct{ From, To time.Duration }

// Stopped says for how long the harness was stopped within an interval, nobody knows when.
type Stopped struct {
	Interval
	For time.Duration
}

func (s *Stalls) Observe(e *history.Event) {
	x := Interval{e.Began, min(e.Ended, e.Time)}
	if e.Stopped() < x.To-x.From {
		if len(s.Some) == MaxStalls {
			s.Some = pairs(s.Some, func(a, b Stopped) Stopped {
				return Stopped{Interval{min(a.From, b.From), max(a.To, b.To)}, a.For + b.For}
			})
		}
		s.Some = append(s.Some, Stopped{x, e.Stopped()})
		return
	}
	if len(s.All) == MaxStalls {
		s.merge()
		s.All = pairs(s.All, func(a, b Interval) Interval { return Interval{a.From, b.To} })
	}
	s.All, s.sorted = append(s.All, x), false
}

// pairs merges every two neighbours, if there are many.
func pairs[T any](all []T, merge func(a, b T) T) []T {
	n := len(all) / 2
	if n < MaxStalls/4 {
		return all
	}
	for i := range n {
		all[i] = merge(all[2*i], all[2*i+1])
	}
	return append(all[:n], all[2*n:]...)
}

// merge sorts All, and merges those that touch.
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

// Within is for how long at most the harness was stopped in [from, to].
func (s *Stalls) Within(from, to time.Duration) (sum time.Duration) {
	sum = s.throughout(from, to)
	for _, x := range s.Some {
		sum += min(x.For, max(0, min(to, x.To)-max(from, x.From)))
	}
	return max(0, min(sum, to-from))
}

// throughout is how much of [from, to] lies in intervals in which the harness was stopped all
// the time.
func (s *Stalls) throughout(from, to time.Duration) (sum time.Duration) {
	s.merge()
	i, _ := slices.BinarySearchFunc(s.All, from, func(x Interval, t time.Duration) int { return cmp.Compare(x.To, t) })
	for ; i < len(s.All) && s.All[i].From < to; i++ {
		sum += max(0, min(to, s.All[i].To)-max(from, s.All[i].From))
	}
	return sum
}

// Longest is for how long at most the harness was stopped at once.
func (s *Stalls) Longest() (longest time.Duration) {
	for _, x := range s.All {
		longest = max(longest, x.To-x.From)
	}
	for _, x := range s.Some {
		longest = max(longest, x.For)
	}
	return longest
}

// Shortest is for how long the harness must have been stopped, at least, for that to explain a
// finding for which no bound says more.
func (l *Ledger) Shortest() time.Duration { return l.Header.TTL / 10 }

// Beyond is how long a stop of the harness must be to explain that something took longer than
// it may, by over.
func (l *Ledger) Beyond(over time.Duration) time.Duration { return max(over, l.Shortest()) }

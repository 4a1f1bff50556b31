package checker

import (
	"fmt"
	"slices"
	"time"

	"locktorture/workload/history"
)

// maxStalls is how many intervals are kept apart; beyond it neighbours are
// taken for one, which only makes them longer.
const maxStalls = 1 << 16

// stalls are the intervals in which the harness itself did not run: what it
// stamped in one may have been so since the beginning of it.
type stalls struct{ all []interval }

type interval struct{ from, to time.Duration }

func (s *stalls) see(e *history.Event) {
	if len(s.all) == maxStalls {
		for i := range maxStalls / 2 {
			a, b := s.all[2*i], s.all[2*i+1]
			s.all[i] = interval{min(a.from, b.from), max(a.to, b.to)}
		}
		s.all = s.all[:maxStalls/2]
	}
	s.all = append(s.all, interval{e.Began, e.Ended})
}

// late is by how much what was stamped at t may have been stamped late.
func (s *stalls) late(t time.Duration) (by time.Duration) {
	for _, x := range s.all {
		if x.from <= t && t <= x.to {
			by = max(by, t-x.from)
		}
	}
	return by
}

// touching is for how long the harness stood still within [from, to], the longest
// stall alone: shorter ones beside it are mostly the same one, seen otherwise.
func (s *stalls) touching(from, to time.Duration) (longest time.Duration) {
	for _, x := range s.all {
		longest = max(longest, min(x.to, to)-max(x.from, from))
	}
	return longest
}

// A stamp is an instant that the harness noted, and by how much less would not
// have been wrong.
type stamp struct{ at, over time.Duration }

// liveness are the ids of what a harness that stands still can bring about by
// itself: renewals that did not run, requests that went out late.
var liveness = []string{"L1", "L2", "L3", "L5", "L7", "L8"}

// undecided says why h is not proved: the harness stood still when it noted what
// proves it; "" when it is.
func (j *Judge) undecided(h *hit) string {
	if len(j.stalls.all) == 0 {
		return ""
	}
	stamps := h.stamps
	if h.id == "S1" && h.length != nil {
		for _, g := range h.pair {
			if g != nil && g.lost != never && g.end() == g.lost {
				stamps = append(slices.Clone(stamps), stamp{g.lost, h.length()})
			}
		}
	}
	for _, s := range stamps {
		if late := j.stalls.late(s.at); late > 0 && late >= s.over {
			return fmt.Sprintf(" The harness itself had stood still for %s when it noted that, at %s: whether it was so is not decided.", span(late), at(s.at))
		}
	}
	if slices.Contains(liveness, h.id) {
		if stood := j.stalls.touching(h.from, h.to); stood > 0 && stood >= j.h.TTL/10 {
			return fmt.Sprintf(" The harness itself stood still for %s meanwhile, which can bring it about: whether the lock did is not decided.", span(stood))
		}
	}
	return ""
}

// withdraw moves the violations that why gives a reason for to the suspicious.
// It returns the ids of which there were more than kept, so that of the rest
// nobody can tell.
func (j *Judge) withdraw(why func(*hit) string) (left []string) {
	more := make(map[string]int)
	j.violations.overflow(more)
	j.violations.kept = slices.DeleteFunc(j.violations.kept, func(x *hit) bool {
		reason := why(x)
		if reason == "" {
			return false
		}
		j.violations.total[x.id]--
		if more[x.id] > 0 && !slices.Contains(left, x.id) {
			left = append(left, x.id)
		}
		text := x.text
		x.text = func() string { return text() + reason }
		j.suspicious.add(x)
		return true
	})
	return left
}

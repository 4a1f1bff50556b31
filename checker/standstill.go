package checker

import (
	"fmt"
	"slices"

	"locktorture/checker/anomaly"
)

// undecided says why h is not proved: the harness stood still when it noted what
// proves it; "" when it is.
func (j *Judge) undecided(h *hit) string {
	if len(j.stalls.all) == 0 {
		return ""
	}
	if h.stamp != nil {
		s, ours := h.stamp()
		if still := j.stalls.within(s.since, s.at); ours && still > 0 && still >= s.margin {
			return fmt.Sprintf(" But the harness itself stood still for %s before it noted that, at %s: whether it was so is not decided.", span(still), at(s.at))
		}
	}
	if anomaly.Has(h.id, anomaly.NeedsHealth) {
		least := j.h.TTL / 10
		if h.margin > 0 {
			least = h.margin
		}
		if stood := j.stalls.within(h.from, h.to); stood > 0 && stood >= least {
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

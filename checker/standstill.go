package checker

import (
	"fmt"
	"slices"
	"time"

	"locktorture/checker/anomaly"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
)

// undecided says why h is not proved: the harness was stopped when it stamped the event that
// proves it, or its clock was moved; "" when it is proved.
func (j *Judge) undecided(h *rule.Candidate) string {
	if h.Stamp != nil {
		s := h.Stamp()
		if from := min(h.From, s.Since); s.By != rule.Order && j.moved(h.Owners, from, s.At) {
			return fmt.Sprintf(" But a clock that this goes by was moved between %s and %s: whether it was so is not decided.", words.At(from), words.At(s.At))
		}
		if still := j.env.Stalls.Within(s.Since, s.At); s.By == rule.Harness && still > 0 && still >= s.Margin {
			return fmt.Sprintf(" But the harness itself stood still for %s before it noted that, at %s: whether it was so is not decided.", words.Span(still), words.At(s.At))
		}
	}
	if anomaly.Has(h.ID, anomaly.NeedsHealth) {
		least := h.Margin
		if least == 0 {
			least = j.env.Shortest()
		}
		until := h.To
		if h.Moot != 0 {
			until = min(until, h.Moot)
		}
		if stood := j.env.Stalls.Within(h.From, until); stood > 0 && stood >= least {
			return fmt.Sprintf(" The harness itself stood still for %s meanwhile, which can bring it about: whether the lock did is not decided.", words.Span(stood))
		}
	}
	return ""
}

// moved says whether the clock of one of these may have been moved in [from, to].
func (j *Judge) moved(owners []string, from, to time.Duration) bool {
	return slices.ContainsFunc(owners, func(owner string) bool { return j.env.ClockMoved(owner, from, to) })
}

// withdraw moves the violations for which why returns a reason to the suspicious findings. It
// returns the ids of which there were more than kept: of those that were not kept, nobody can
// say whether they had a reason too.
func (j *Judge) withdraw(why func(*rule.Candidate) string) (left []string) {
	more := make(map[string]int)
	j.env.Violations.Overflow(more)
	j.env.Violations.Kept = slices.DeleteFunc(j.env.Violations.Kept, func(x *rule.Candidate) bool {
		reason := why(x)
		if reason == "" {
			return false
		}
		j.env.Violations.Total[x.ID]--
		if more[x.ID] > 0 && !slices.Contains(left, x.ID) {
			left = append(left, x.ID)
		}
		text := x.Text
		x.Text = func() string { return text() + reason }
		j.env.Suspicious.Add(x)
		return true
	})
	return left
}

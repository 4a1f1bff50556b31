package checker

import (
	"time"

	"locktorture/workload/history"
)

// Of a key's grants, the latest are compared with each one that is out of order,
// and as many more as an acquire that is still open may share a token with. An
// older one that shares a token is out of order as well, and found as such (S4).
const (
	recentTokens = 64
	mostTokens   = 4096
)

// A recency is the latest grants of a key, in the order in which they were told.
type recency struct {
	steps   []step
	gone    int              // of steps, from the front: no longer looked at
	lowest  uint64           // of the tokens that are no longer looked at; 0 is none …
	highest uint64           // … and the highest
	crowded [2]droppedTokens // by mode: what was dropped although an open acquire may share a token with it
}

// droppedTokens are what a few grants have in common that were dropped.
type droppedTokens struct {
	count     int
	low, high uint64        // their tokens
	from, ok  time.Duration // when the last of them was asked for, and answered
}

// latest are those that are looked at.
func (r *recency) latest() []step { return r.steps[r.gone:] }

// add adds a grant, and drops those that passed says nobody can share a token with.
func (r *recency) add(me step, passed func(step) bool) {
	r.steps = append(r.steps, me)
	for len(r.latest()) > recentTokens {
		first := r.steps[r.gone]
		if !passed(first) {
			if len(r.latest()) <= mostTokens {
				break
			}
			r.crowded[first.mode].add(first)
		}
		r.drop(first.fence)
		r.gone++
	}
	if r.gone > recentTokens && r.gone > len(r.steps)/2 {
		r.steps = r.steps[:copy(r.steps, r.latest())]
		r.gone = 0
	}
}

// drop notes that a grant with this token is no longer looked at.
func (r *recency) drop(fence uint64) {
	if r.lowest == 0 || fence < r.lowest {
		r.lowest = fence
	}
	r.highest = max(r.highest, fence)
}

// forgets says whether a grant with this token may be no longer looked at.
func (r *recency) forgets(fence uint64) bool {
	return r.lowest != 0 && fence >= r.lowest && fence <= r.highest
}

// dropped says whether anything that is so, and that excludes a grant of mode m,
// was dropped.
func (r *recency) dropped(m history.Mode, is func(*droppedTokens) bool) bool {
	for mode := range r.crowded {
		if s := &r.crowded[mode]; s.count > 0 && (m == history.Exclusive || mode == int(history.Exclusive)) && is(s) {
			return true
		}
	}
	return false
}

func (s *droppedTokens) add(x step) {
	if s.count == 0 {
		s.low, s.high, s.from, s.ok = x.fence, x.fence, x.from, x.ok
	}
	s.count++
	s.low, s.high = min(s.low, x.fence), max(s.high, x.fence)
	s.from, s.ok = max(s.from, x.from), max(s.ok, x.ok)
}

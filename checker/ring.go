package checker

import (
	"fmt"
	"strings"
	"time"

	"locktorture/workload/history"
)

// ringTouches is how many writes of a key are remembered for one that is told
// after a later one.
const (
	ringTouches  = 8
	timedTouches = 32 // the same, of writes without a number
)

// A ring is the last writes of a key, as they were told.
type ring struct {
	touches [ringTouches]touch
	next    int
	dropped uint64 // the highest number among those that are forgotten
}

func (r *ring) add(t *touch) {
	place := &r.touches[r.next%ringTouches]
	r.dropped = max(r.dropped, place.seq)
	*place = *t
	r.next++
}

// excludes says whether two writes may not lie within each other's sections.
func (t *touch) excludes(x *touch) bool {
	return t.holder != x.holder && (t.mode == history.Exclusive || x.mode == history.Exclusive)
}

// before says whether t was answered before x was issued. One process's own order
// needs no clock.
func (t *timedTouch) before(x *timedTouch, eps time.Duration) bool {
	return t.by == x.by && t.idx < x.idx || t.ok+eps < x.inv
}

// between judges a write that is told after a later one, in the store's order.
func (s *sections) between(f *fact, me touch) {
	st := &f.key.sec
	if me.seq < st.ring.dropped {
		s.late++
	}
	if me.holder != st.last.holder && me.seq > st.other.seq {
		st.other = me
	}
	for _, a := range st.ring.touches {
		for _, b := range st.ring.touches {
			if a.seq != 0 && b.seq != 0 && s.split(f, me, a, b) {
				return
			}
		}
	}
}

// split reports the first of the three orders in which me, a and b break a section.
func (s *sections) split(f *fact, me, a, b touch) bool {
	inside := func(first, other, last touch) bool {
		if first.section == 0 || first.section != last.section || !other.excludes(&first) ||
			!s.j.test.between(other.seq, first.seq) || !s.j.test.between(last.seq, other.seq) {
			return false
		}
		s.interleaved(f, first, other, last)
		return true
	}
	return inside(a, me, b) || inside(me, a, b) || inside(a, b, me)
}

// byEvents judges a write without a number, in the order of events: the last one
// of its section, since what lay before it was answered before.
func (s *sections) byEvents(f *fact, last timedTouch) {
	st, eps := &f.key.sec, s.j.h.Epsilon
	if f.op.outcome != history.OK {
		return
	}
	var first *timedTouch // of the section
	for i := range st.timed {
		if t := &st.timed[i]; t.section == last.section && t.section != 0 && (first == nil || t.ok < first.ok) {
			first = t
		}
	}
	for i := range st.timed {
		other := &st.timed[i]
		if first != nil && other.excludes(&last.touch) && other.before(&last, eps) && first.before(other, eps) {
			s.interleaved(f, first.touch, other.touch, last.touch)
			break
		}
	}
	if len(st.timed) == timedTouches { // what is behind by so many has closed no section, or was told of
		st.timed = st.timed[:copy(st.timed, st.timed[1:])]
	}
	st.timed = append(st.timed, last)
}

// unplaced says what was not judged, for want of memory.
func (s *sections) unplaced() string {
	var out []string
	if s.late > 0 {
		out = append(out, fmt.Sprintf("%d writes were told after more than %d later ones of their keys: whether they lay inside of another's section (S3) is not decided.", s.late, ringTouches))
	}
	if s.lost > 0 {
		out = append(out, fmt.Sprintf("%s updates started from a version that more than %s later ones are remembered of: whether another one started from it too (S3) is not decided.",
			thousands(s.lost), thousands(keptUpdates)))
	}
	return strings.Join(out, " ")
}

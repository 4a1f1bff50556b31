package checker

import (
	"fmt"
	"time"

	"locktorture/workload/history"
)

// ringTouches is how many writes of a key are remembered for one that is told
// after a later one.
const ringTouches = 32

// A ring is the last writes of a key, as they were told.
type ring struct {
	touches []touch
	next    int
	dropped uint64 // the highest number among those that are forgotten
}

func (r *ring) add(t touch) {
	if len(r.touches) < ringTouches {
		r.touches = append(r.touches, t)
		return
	}
	r.dropped = max(r.dropped, r.touches[r.next].seq)
	r.touches[r.next] = t
	r.next = (r.next + 1) % ringTouches
}

// excludes says whether two writes may not lie within each other's sections.
func (t touch) excludes(x touch) bool {
	return t.holder != x.holder && (t.mode == history.Exclusive || x.mode == history.Exclusive)
}

// before says whether t was answered before x was issued. One process's own order
// needs no clock.
func (t touch) before(x touch, eps time.Duration) bool {
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
		if first.section == 0 || first.section != last.section || !other.excludes(first) ||
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
func (s *sections) byEvents(f *fact, last touch) {
	if f.op.outcome != history.OK || last.section == 0 {
		return
	}
	ring, eps := f.key.sec.ring.touches, s.j.h.Epsilon
	var first touch // of the section
	for _, t := range ring {
		if t.section == last.section && (first.section == 0 || t.ok < first.ok) {
			first = t
		}
	}
	for _, other := range ring {
		if first.section != 0 && other.excludes(last) && other.before(last, eps) && first.before(other, eps) {
			s.interleaved(f, first, other, last)
			return
		}
	}
}

// unplaced says what was not judged, for want of memory.
func (s *sections) unplaced() string {
	if s.late == 0 {
		return ""
	}
	return fmt.Sprintf("%d writes were told after more than %d later ones of their keys: whether they lay inside of another's section (S3) is not decided.", s.late, ringTouches)
}

package writes

import (
	"fmt"
	"strings"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// ringTouches is how many writes of a key are remembered for one that is told
// after a later one.
const (
	ringTouches  = 8
	timedTouches = 32 // the same, of writes without a number
	pastSections = 32 // sections of which more is known than that they wrote
)

// A ring is the latest writes of a key, in the order in which the history tells of them.
type ring struct {
	touches   [ringTouches]touch
	next      int
	dropped   uint64 // the highest number among those that are forgotten
	past      []past // of those, where their clients say when they issued them
	forgotten uint64 // the highest number among those of which not even that is known
}

// A past is what is remembered of the forgotten writes of one section, on end.
type past struct {
	author
	last          uint64        // the number of its last write
	first, latest time.Duration // when they were issued, by their client's own stamps
}

func (r *ring) add(t *touch) {
	place := &r.touches[r.next%ringTouches]
	if r.next >= ringTouches {
		r.forget(place)
	}
	*place = *t
	r.next++
}

func (r *ring) forget(t *touch) {
	r.dropped = max(r.dropped, t.Seq)
	if t.said == ledger.Never {
		r.forgotten = max(r.forgotten, t.Seq)
		return
	}
	if n := len(r.past); n > 0 && r.past[n-1].author == t.author {
		p := &r.past[n-1]
		p.last, p.first, p.latest = max(p.last, t.Seq), min(p.first, t.said), max(p.latest, t.said)
		return
	}
	if len(r.past) == pastSections {
		r.forgotten = max(r.forgotten, r.past[0].last)
		r.past = r.past[:copy(r.past, r.past[1:])]
	}
	r.past = append(r.past, past{author: t.author, last: t.Seq, first: t.said, latest: t.said})
}

// mayHide reports whether a forgotten write that me excludes may lie behind the last write of
// g's section, which is me's too, and have been issued in that section, before me.
func (r *ring) mayHide(me *touch, g *ledger.Grant) bool {
	if r.forgotten > g.LastWrite.Seq {
		return true
	}
	for i := range r.past {
		p := &r.past[i]
		if p.excludes(me.author) && p.last > g.LastWrite.Seq && p.first <= me.said && p.latest >= g.OK {
			return true
		}
	}
	return false
}

// excludes says whether writes of a and x may not lie within each other's sections.
func (a author) excludes(x author) bool {
	return a.holder != x.holder && (a.mode == history.Exclusive || x.mode == history.Exclusive)
}

func (t *touch) excludes(x *touch) bool { return t.author.excludes(x.author) }

// before says whether t was answered before x was issued: by the order of one process's events,
// or by the clocks.
func (t *timedTouch) before(x *timedTouch, clock *ledger.Clocks) bool {
	return t.by.Process == x.by.Process && t.Idx < x.Idx || t.ok+clock.Apart(t.by, x.by) < x.inv
}

// between judges a write that is told of after a later one, by the store's order.
func (s *Sections) between(f *ledger.Fact, me touch) {
	st := s.keys.At(f.Key.No)
	if me.Seq < st.ring.dropped || me.before.Seq != 0 && me.before.Seq < st.ring.dropped {
		s.late++
	}
	st.any.late(&me)
	if me.mode == history.Exclusive {
		st.excl.late(&me)
	}
	for _, a := range st.ring.touches {
		if s.inside(f, a.first(), me, a) || s.inside(f, me.first(), a, me) {
			return
		}
		for _, b := range st.ring.touches {
			if s.inside(f, a, me, b) || s.inside(f, me, a, b) || s.inside(f, a, b, me) {
				return
			}
		}
	}
}

// first is the write of t's section before t.
func (t *touch) first() touch {
	return touch{Mark: t.before, author: t.author}
}

// inside reports that other lies between first and last, which are of one section, if it does.
func (s *Sections) inside(f *ledger.Fact, first, other, last touch) bool {
	if first.Seq == 0 || other.Seq == 0 || first.section == 0 || first.section != last.section || !other.excludes(&first) ||
		other.Seq <= first.Seq || last.Seq <= other.Seq {
		return false
	}
	s.interleaved(f, first, other, last)
	return true
}

// byEvents judges a write without a number, in the order of events: the last write of its
// section, since what lay before it was answered before.
func (s *Sections) byEvents(f *ledger.Fact, last timedTouch) {
	st := s.keys.At(f.Key.No)
	if f.Op.Outcome != history.OK {
		return
	}
	for i := range st.timed {
		other := &st.timed[i]
		if !other.excludes(&last.touch) || !other.before(&last, &s.Clocks) {
			continue
		}
		if first := s.opening(st, &last, other); first != nil {
			s.interleaved(f, first.touch, other.touch, last.touch)
			break
		}
	}
	if f.Op.OK < f.Event.Time {
		s.observeLate(f, st, &last)
	}
	if len(st.timed) == timedTouches {
		s.leave(&st.timed[0])
		st.timed = st.timed[:copy(st.timed, st.timed[1:])]
	}
	st.timed = append(st.timed, last)
}

// leave drops t, unless it is the first write of a section that may go on.
func (s *Sections) leave(t *timedTouch) {
	if g := t.holder.Grant; g == nil || g.OKIdx != t.section {
		return
	}
	if first := s.began.At(t.holder.ID); first.section != t.section {
		*first = *t
	}
}

// observeLate judges me, a write that is told of after later ones: it may lie inside another's
// section, or begin a section inside which others lie.
func (s *Sections) observeLate(f *ledger.Fact, st *sectionState, me *timedTouch) {
	if len(st.timed) == timedTouches && st.timed[0].inv > me.ok {
		s.late++
	}
	for i := range st.timed {
		end := &st.timed[i]
		switch {
		case end.section == 0:
		case end.section == me.section:
			for k := range st.timed {
				if other := &st.timed[k]; other.excludes(&me.touch) && me.before(other, &s.Clocks) && other.before(end, &s.Clocks) {
					s.interleaved(f, me.touch, other.touch, end.touch)
					return
				}
			}
		case me.excludes(&end.touch) && me.before(end, &s.Clocks):
			if first := s.opening(st, end, me); first != nil {
				s.interleaved(f, first.touch, me.touch, end.touch)
				return
			}
		}
	}
}

// opening is the first write of last's section that was answered before other was issued.
func (s *Sections) opening(st *sectionState, last, other *timedTouch) (first *timedTouch) {
	section := last.section
	if t := s.began.Get(last.holder.ID); t != nil && section != 0 && t.section == section && t.before(other, &s.Clocks) {
		return t
	}
	for i := range st.timed {
		t := &st.timed[i]
		if section != 0 && t.section == section && t.before(other, &s.Clocks) && (first == nil || t.ok < first.ok) {
			first = t
		}
	}
	return first
}

// Unplaced says what was not judged, for want of memory.
func (s *Sections) Unplaced() string {
	var out []string
	if s.late > 0 {
		out = append(out, fmt.Sprintf("%d writes were told after more than %d later ones of their keys: whether they lay inside of another's section (S3) is not decided.", s.late, ringTouches))
	}
	if s.arrived > 0 {
		out = append(out, fmt.Sprintf("%d sections hold so many writes of others that only arrived there that no more than the last %d of their keys are remembered: whether another one was issued there (S3) is not decided.", s.arrived, ringTouches-1))
	}
	if s.forgotten > 0 {
		out = append(out, fmt.Sprintf("%s writes were made under a lease whose owner has had so many others since that it is not remembered: whether another's write lies in that section (S3) is not decided.",
			words.Thousands(s.forgotten)))
	}
	if s.lost > 0 {
		out = append(out, fmt.Sprintf("%s updates started from a version that more than %s later ones are remembered of: whether another one started from it too (S3) is not decided.",
			words.Thousands(s.lost), words.Thousands(keptUpdates)))
	}
	return strings.Join(out, " ")
}

package checker

import "fmt"

// staleWrites decides S2: a fenced store accepts no token lower than one that
// it accepted before on the same key. It needs no clock where the store numbers
// its writes; those without a number are in the order of their events.
type staleWrites struct {
	j    *Judge
	lost int // writes that came too late to be placed
	told map[[2]int]bool
}

func (*staleWrites) ids() []string { return []string{"S2"} }
func (*staleWrites) wants() []what { return []what{landed} }
func (*staleWrites) finish()       {}

// unplaced says what was not judged, for want of memory.
func (s *staleWrites) unplaced() string {
	if s.lost == 0 {
		return ""
	}
	return fmt.Sprintf("%d writes were told so late that more than %d higher tokens had been accepted on their keys: whether they were stale (S2) is not decided.", s.lost, climbSteps/2)
}

func (s *staleWrites) see(f *fact) {
	l := f.land
	switch {
	case f.what != landed || !s.j.h.Fenced || f.op.fence == 0:
	case l.late:
		s.late(f)
	case l.seq == 0 && s.j.test.stale(f.op.fence, l.top):
		s.hit(f, l.high, l.top)
	case l.seq == 0:
		if f.op.ok < f.e.Time {
			s.toldLate(f)
		}
	case l.lost:
		s.lost++
	case s.j.test.stale(f.op.fence, l.top):
		s.hit(f, l.high, l.top)
	default:
		s.overtaken(f, l.below)
	}
}

// toldLate looks for writes without a number that the store accepted behind f's, though
// with a lower token, and of which the history tells before.
func (s *staleWrites) toldLate(f *fact) {
	o, log := f.op, &f.key.log
	for _, m := range log.lately {
		before := m.by == o.process && o.invIdx < m.inIdx || o.ok+s.j.clock.apart(o.host, m.host) < m.inv
		if before && s.j.test.stale(m.fence, o.fence) {
			text := fmt.Sprintf("%s wrote %q to %s with token %d, and was answered at %s, as the history tells late; the store then took a write with the lower token %d, issued at %s. "+
				"The fence let a stale write through.",
				o.holder.owner, o.value, f.key.name, o.fence, at(o.ok), m.fence, at(m.inv))
			s.report(f, mark{0, m.idx}, text)
			return
		}
	}
	if log.unkept {
		s.lost++
	}
}

// late places a write that was unknown among those that were not.
func (s *staleWrites) late(f *fact) {
	o, l, log := f.op, f.land, &f.key.log
	switch {
	case !l.lost && s.j.test.stale(o.fence, l.top):
		s.hit(f, l.high, l.top)
	case o.behind(l.seq):
		s.hit(f, o.newer().mark, o.newer().fence)
	case s.j.test.stale(o.fence, log.lateTop) && log.lateHigh.seq < l.seq:
		s.hit(f, log.lateHigh, log.lateTop)
	case l.lost && o.newer().seq == 0:
		s.lost++
	}
	below := l.below
	if below.seq == 0 && o.doubt().below.seq > l.seq {
		below = o.doubts.below
	}
	s.overtaken(f, below)
}

// overtaken reports that the store accepted f's write, and behind it one with a
// lower token, of which was told before.
func (s *staleWrites) overtaken(f *fact, below tokenMark) {
	if below.seq == 0 {
		return
	}
	o, heard := f.op, "was told so only later"
	if f.land.late {
		heard = "never heard what became of it"
	}
	text := fmt.Sprintf("%s wrote %q to %s with token %d and %s: the store had accepted it as write number %d, and then took one with the lower token %d, as number %d. "+
		"The fence let a stale write through.",
		o.holder.owner, o.value, f.key.name, o.fence, heard, f.land.seq, below.fence, below.seq)
	s.report(f, below.mark, text)
}

func (s *staleWrites) hit(f *fact, before mark, top uint64) {
	o := f.op
	text := fmt.Sprintf("At %s %s wrote %q to %s with token %d, and the store accepted it%s, although it had accepted token %d before%s. "+
		"A later holder's work is overwritten by an earlier one's.",
		at(o.inv), o.holder.owner, o.value, f.key.name, o.fence, asNumber(f.land.seq), top, asNumber(before.seq))
	s.report(f, before, text)
}

func (s *staleWrites) report(f *fact, other mark, text string) {
	pair := [2]int{min(other.idx, f.land.idx), max(other.idx, f.land.idx)}
	if s.told[pair] {
		return
	}
	if s.told == nil {
		s.told = make(map[[2]int]bool)
	}
	if len(s.told) <= s.j.o.Limit {
		s.told[pair] = true
	}
	from := f.op.inv
	if f.op.grant != nil {
		from = f.op.grant.start
	}
	s.j.violate(&hit{
		id: "S2", key: f.key, owners: owners(f.op.holder.owner), witness: []int{other.idx, f.land.idx}, blame: blameStore,
		from: from, to: f.op.ok, text: func() string { return text },
	})
}

func asNumber(seq uint64) string {
	if seq == 0 {
		return ""
	}
	return fmt.Sprintf(", as number %d", seq)
}

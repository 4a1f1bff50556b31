package checker

import "fmt"

// staleWrites decides S2: a fenced store accepts no token lower than one that
// it accepted before on the same key. It needs no clock, only the store's own
// sequence numbers.
type staleWrites struct{ j *Judge }

func (*staleWrites) ids() []string { return []string{"S2"} }
func (*staleWrites) wants() []what { return []what{landed} }
func (*staleWrites) finish()       {}

func (s *staleWrites) see(f *fact) {
	if f.what != landed || !s.j.h.Fenced || f.op.fence == 0 || f.land.seq == 0 {
		return
	}
	if f.land.late {
		s.late(f)
		return
	}
	if s.j.test.stale(f.op.fence, f.land.top) {
		s.hit(f, f.land.high, f.land.top)
	}
}

// late places a write that was unknown among those that were not.
func (s *staleWrites) late(f *fact) {
	o, log := f.op, &f.key.log
	switch {
	case o.behind(f.land.seq):
		s.hit(f, o.newer().mark, o.newer().fence)
	case s.j.test.stale(o.fence, log.lateTop):
		s.hit(f, log.lateHigh, log.lateTop)
	}
	if below := o.doubt().below; below.seq > f.land.seq {
		text := fmt.Sprintf("%s wrote %q to %s with token %d and never heard what became of it: the store had accepted it as write number %d, and then took one with the lower token %d, as number %d. "+
			"The fence let a stale write through. Remedy: compare each write's token with the highest one seen, in the step that writes.",
			o.holder.owner, o.value, f.key.name, o.fence, f.land.seq, below.fence, below.seq)
		s.report(f, below.mark, text)
	}
}

func (s *staleWrites) hit(f *fact, before mark, top uint64) {
	o := f.op
	text := fmt.Sprintf("At %s %s wrote %q to %s with token %d, and the store accepted it as write number %d, although it had accepted token %d before, as number %d. "+
		"A later holder's work is overwritten by an earlier one's. Remedy: the store must compare each write's token with the highest one seen, in the step that writes.",
		at(o.inv), o.holder.owner, o.value, f.key.name, o.fence, f.land.seq, top, before.seq)
	s.report(f, before, text)
}

func (s *staleWrites) report(f *fact, other mark, text string) {
	from := f.op.inv
	if f.op.grant != nil {
		from = f.op.grant.start
	}
	s.j.violate(&hit{
		id: "S2", key: f.key, owners: owners(f.op.holder.owner), witness: []int{other.idx, f.land.idx}, blame: blameStore,
		from: from, to: f.op.ok, text: func() string { return text },
	})
}

package checker

import (
	"fmt"
	"time"

	"locktorture/workload/history"
)

// sections decides S3: nobody else's write lies between two writes of one
// critical section, and no two updates start from one version.
type sections struct {
	j    *Judge
	late int // writes that came too late to be placed
	lost int // updates from a version so old that others from it are forgotten

	bases updates
}

// sectionState is what the last writes of one key were.
type sectionState struct {
	any     latest // accepted writes, in the store's order
	mixed   bool   // there were readers; until then excl would be any
	excl    latest // the same under exclusive leases: all that excludes a reader's
	ring    ring
	timed   []timedTouch // the last ones without a number
	dropped uint64       // of versions before it, updates that started from them are forgotten
}

// latest are the last writes of a key.
type latest struct {
	last  touch
	other touch // the last one by another owner than last's
}

// add adds a write behind the others.
func (l *latest) add(me *touch) {
	if l.last.holder != me.holder {
		l.other = l.last
	}
	l.last = *me
}

// rival is the last one of another owner than h.
func (l *latest) rival(h *holder) *touch {
	if l.last.holder != h {
		return &l.last
	}
	return &l.other
}

// late adds a write that is told behind later ones.
func (l *latest) late(me *touch) {
	if me.holder != l.last.holder && me.seq > l.other.seq {
		l.other = *me
	}
}

// A touch is an accepted write.
type touch struct {
	mark
	holder  *holder
	section int  // the grant that it was written under, by its event; 0 is none
	before  mark // the section's write before it, as far as that was told by then
	mode    history.Mode
	said    time.Duration // when it was issued, by its client's own word; never without one
}

// A timedTouch is an accepted write that has no number, and when it was made.
type timedTouch struct {
	touch
	inv, ok time.Duration
	by      int
	host    host
}

// An update is an accepted read-modify-write.
type update struct {
	mark
	base    uint64
	holder  *holder
	section int  // the grant that it was written under, by its event; 0 is none
	told    bool // its client was told that it was accepted
}

func (*sections) ids() []string { return []string{"S3"} }
func (*sections) wants() []what { return []what{landed, unknown} }

// finish looks at the updates that stayed unknown: had they landed, they would
// have lost another's, or theirs been lost.
func (s *sections) finish() {
	for _, o := range s.j.unsettledWrites() {
		if o.doubts == nil || o.doubts.rival.seq == 0 || o.update(mark{}).retries(o.doubts.rival) || s.j.suspicious.full("S3") {
			continue
		}
		u := o.doubts.rival
		text := fmt.Sprintf("%s and %s both read version %d of %s, changed it, and wrote it back; %s never heard what became of its write %q. If it landed, one of the two updates is lost.",
			u.holder.owner, o.holder.owner, o.base, o.holder.key.name, o.holder.owner, o.value)
		s.j.suspect(&hit{
			id: "S3", key: o.holder.key, owners: owners(u.holder.owner, o.holder.owner), witness: []int{u.idx, o.okIdx},
			from: o.inv, to: o.ok, text: func() string { return text },
		})
	}
}

func (s *sections) see(f *fact) {
	if f.what == unknown {
		s.unknown(f)
		return
	}
	if f.land.seq != 0 && f.op.has&history.HasBase != 0 {
		s.update(f)
	}
	if !f.land.late {
		s.write(f)
	}
}

// write is O(1): one marker a key, and one a critical section.
func (s *sections) write(f *fact) {
	st, o, g := &f.key.sec, f.op, f.op.grant
	me := touch{mark: mark{f.land.seq, f.land.idx}, holder: o.holder, mode: o.mode, said: never}
	if o.has&history.HasBegan != 0 {
		me.said = o.inv
	}
	if g != nil {
		me.section, me.mode = g.okIdx, g.mode
	}
	if g != nil && g.strange(o.fence) && !g.bears(o.fence) { // it was written under another lease, which is forgotten
		me.section, g = 0, nil
	}
	if g != nil && g.section.seq < me.seq {
		me.before = g.section
	}
	if me.mode == history.Shared && !st.mixed {
		st.mixed, st.excl = true, st.any
	}
	switch {
	case me.seq == 0:
		s.byEvents(f, timedTouch{me, o.inv, o.ok, o.process, o.host})
		return
	case me.seq <= st.any.last.seq: // of two with one number, neither came first
		s.between(f, me)
		if g != nil && g.section.seq < me.seq {
			g.section = me.mark
		}
		st.ring.add(&me)
		return
	}
	st.ring.add(&me)
	rivals := &st.any
	if me.mode == history.Shared {
		rivals = &st.excl
	}
	if g != nil {
		other := rivals.rival(o.holder)
		if g.section.seq != 0 && other.holder != nil && s.j.test.between(other.seq, g.section.seq) &&
			me.excludes(other) {
			s.interleaved(f, touch{mark: g.section}, st.issuedInside(other, g, me), me)
		}
		g.section = me.mark
	}
	st.any.add(&me)
	if st.mixed && me.mode == history.Exclusive {
		st.excl.add(&me)
	}
}

// issuedInside is other, or another write between the last one of g's section and me
// that, other than that one, was issued there by its client's own word.
func (st *sectionState) issuedInside(other *touch, g *grant, me touch) touch {
	if !other.outside(me, g) {
		return *other
	}
	for i := range st.ring.touches {
		x := &st.ring.touches[i]
		if x.holder != nil && x.seq > g.section.seq && x.seq < me.seq && x.excludes(&me) && !x.outside(me, g) {
			return *x
		}
	}
	return *other
}

// interleaved reports that other, of another owner, lies between first and last,
// of one section.
func (s *sections) interleaved(f *fact, first, other, last touch) {
	o := f.op
	owner := last.holder.owner
	from, granted := o.inv, ""
	if g := o.grant; g != nil && g.okIdx == last.section {
		from, granted = g.inv, fmt.Sprintf("%s, granted at %s", token(g.fence), at(g.ok))
	}
	text := fmt.Sprintf("In one critical section on %s%s, %s wrote%s and then%s; between them the store took a write%s, from %s. "+
		"The section of %s was not its own: what it computed from its first write may be wrong.",
		f.key.name, granted, owner, number(first.seq), number(last.seq), number(other.seq), other.holder.owner, owner)
	blame := blameClient
	if last.idx == f.land.idx {
		blame = s.blame(other.holder, f)
	}
	h := &hit{
		id: "S3", key: f.key, owners: owners(owner, other.holder.owner), witness: []int{first.idx, other.idx, last.idx},
		blame: blame, from: from, to: max(o.ok, o.inv), text: func() string { return text },
	}
	if other.outside(last, o.grant) {
		text += " By its client's own word it was issued outside of that section, and only arrived in it: that proves nothing."
		s.j.suspect(h)
		return
	}
	s.j.violate(h)
}

// outside says whether x, whose place in the order is that of its arrival, was issued
// before the section of g, or after its write last, by the writers' own words.
func (x *touch) outside(last touch, g *grant) bool {
	if x.said == never || last.said == never {
		return false
	}
	return x.said > last.said || g != nil && g.okIdx == last.section && x.said < g.ok
}

// blame is the client's whose write came after its lease, else the intruder's,
// unless that one held a lease of its own.
func (s *sections) blame(intruder *holder, f *fact) string {
	g := f.op.grant
	if g != nil && f.op.inv >= g.d {
		return blameClient
	}
	if x := intruder.grant; x != nil && g != nil && x.ok < f.op.inv && x.end() > g.ok {
		return blameServer
	}
	return blameClient
}

// update looks for another update that started from the same version.
func (s *sections) update(f *fact) {
	st, o := &f.key.sec, f.op
	me := o.update(mark{f.land.seq, f.land.idx})
	u, found := update{}, false
	if o.base < st.any.last.seq { // else nobody can have landed in between
		u, found = s.bases.rival(f.key, me)
	}
	if !found && f.land.late {
		u = o.doubt().rival
		found = u.seq != 0
	}
	switch {
	case found && !me.retries(u):
		s.conflict(f, u, me.told && u.told)
	case !found && o.base < st.dropped:
		s.lost++
	}
	s.bases.add(f.key, me)
}

// unknown looks for a rival among the updates that landed before an unknown
// one was issued. Those that land later find it themselves.
func (s *sections) unknown(f *fact) {
	o := f.op
	if o.what != history.Write || o.has&history.HasBase == 0 {
		return
	}
	if u, ok := s.bases.rival(f.key, o.update(mark{})); ok && o.doubt().rival.seq == 0 {
		o.doubts.rival = u
	}
}

// update is o as an update of a version.
func (o *op) update(at mark) update {
	u := update{mark: at, base: o.base, holder: o.holder, told: o.outcome == history.OK && o.settled == 0}
	if o.grant != nil {
		u.section = o.grant.okIdx
	}
	return u
}

// retries says whether one of two updates is the other once more, in the same
// section, since nobody was told what had become of it.
func (u update) retries(x update) bool {
	return !(u.told && x.told) && u.holder == x.holder && u.section == x.section
}

// conflict reports that f's update and u started from one version. Only what both their
// clients were told is a promise that was broken.
func (s *sections) conflict(f *fact, u update, told bool) {
	o := f.op
	from := o.inv
	if o.grant != nil {
		from = o.grant.inv
	}
	if !told && s.j.suspicious.full("S3") {
		return
	}
	heard := "the store confirmed both"
	if !told {
		heard = "by the store's log, since one of the two was never told what became of its own"
	}
	text := fmt.Sprintf("%s and %s both read version %d of %s, changed it, and wrote it back, as numbers %d and %d; %s. "+
		"One of the two updates is lost.",
		u.holder.owner, o.holder.owner, o.base, f.key.name, min(u.seq, f.land.seq), max(u.seq, f.land.seq), heard)
	h := &hit{
		id: "S3", key: f.key, owners: owners(u.holder.owner, o.holder.owner), witness: []int{u.idx, f.land.idx},
		blame: s.blame(u.holder, f), from: from, to: max(o.ok, o.inv), text: func() string { return text },
	}
	if told {
		s.j.violate(h)
	} else {
		s.j.suspect(h)
	}
}

package checker

import (
	"fmt"

	"locktorture/workload/history"
)

// sections decides S3: nobody else's write lies between two writes of one
// critical section, and no two updates start from one version.
type sections struct{ j *Judge }

// sectionState is what the last writes of one key were.
type sectionState struct {
	last  touch // the last accepted write
	other touch // the last one by another owner than last's
	bases []update
	next  int // place in bases, once full
}

// A touch is an accepted write.
type touch struct {
	mark
	holder *holder
	mode   history.Mode
}

// An update is an accepted read-modify-write.
type update struct {
	mark
	base   uint64
	holder *holder
}

// recentUpdates is how many updates of a key are looked at for a shared base.
const recentUpdates = 32

func (*sections) ids() []string { return []string{"S3"} }
func (*sections) wants() []what { return []what{landed, unknown} }

// finish looks at the updates that stayed unknown: had they landed, they would
// have lost another's, or theirs been lost.
func (s *sections) finish() {
	for _, o := range s.j.unsettledWrites() {
		if o.doubts == nil || o.doubts.rival.seq == 0 || s.j.suspicious.full("S3") {
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
	if f.land.seq == 0 {
		return
	}
	if f.op.has&history.HasBase != 0 {
		s.update(f)
	}
	if !f.land.late {
		s.write(f)
	}
}

// write is O(1): one marker a key, and one a critical section.
func (s *sections) write(f *fact) {
	st, o, g := &f.key.sec, f.op, f.op.grant
	me := touch{mark{f.land.seq, f.land.idx}, o.holder, o.mode}
	other := st.last
	if other.holder == o.holder {
		other = st.other
	} else {
		st.other = st.last
	}
	if g != nil {
		if g.section.seq != 0 && other.holder != nil && s.j.test.between(other.seq, g.section.seq) &&
			(g.mode == history.Exclusive || other.mode == history.Exclusive) {
			s.interleaved(f, g.section, other)
		}
		g.section = me.mark
	}
	st.last = me
}

func (s *sections) interleaved(f *fact, first mark, other touch) {
	o, g := f.op, f.op.grant
	text := fmt.Sprintf("In one critical section on %[2]s%[3]s, granted at %[4]s, %[1]s wrote number %[5]d and then number %[6]d (%[7]q); between them the store took write number %[8]d, from %[9]s. "+
		"The section of %[10]s was not its own: what it computed from its first write may be wrong. Remedy: see why both could write (a second grant, or a lease outlived), and fence the store.",
		g.owner(), f.key.name, token(g.fence), at(g.ok), first.seq, f.land.seq, o.value, other.seq, other.holder.owner, g.owner())
	s.j.violate(&hit{
		id: "S3", key: f.key, owners: owners(g.owner(), other.holder.owner), witness: []int{first.idx, other.idx, f.land.idx},
		blame: s.blame(other.holder, f), from: g.inv, to: max(o.ok, o.inv), text: func() string { return text },
	})
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
	me := update{mark{f.land.seq, f.land.idx}, o.base, o.holder}
	u, found := update{}, false
	if o.base < st.last.seq { // else nobody can have landed in between
		u, found = st.rival(me)
	}
	if !found && f.land.late {
		u = o.doubt().rival
		found = u.seq != 0
	}
	if found {
		s.lost(f, u)
	}
	if len(st.bases) < recentUpdates {
		st.bases = append(st.bases, me)
		return
	}
	st.bases[st.next] = me
	st.next = (st.next + 1) % recentUpdates
}

// unknown looks for a rival among the updates that landed before an unknown
// one was issued. Those that land later find it themselves.
func (s *sections) unknown(f *fact) {
	o := f.op
	if o.what != history.Write || o.has&history.HasBase == 0 {
		return
	}
	if u, ok := f.key.sec.rival(update{base: o.base}); ok && o.doubt().rival.seq == 0 {
		o.doubts.rival = u
	}
}

// rival finds an update that started from the same version as u.
func (st *sectionState) rival(u update) (update, bool) {
	for _, x := range st.bases {
		if x.base == u.base && x.seq != u.seq {
			return x, true
		}
	}
	return update{}, false
}

func (s *sections) lost(f *fact, u update) {
	o := f.op
	from := o.inv
	if o.grant != nil {
		from = o.grant.inv
	}
	text := fmt.Sprintf("%s and %s both read version %d of %s, changed it, and wrote it back, as numbers %d and %d; the store confirmed both. "+
		"One of the two updates is lost. Remedy: see how both came to read that version (both inside at once, or one that read before it was granted the key), and fence the store.",
		u.holder.owner, o.holder.owner, o.base, f.key.name, min(u.seq, f.land.seq), max(u.seq, f.land.seq))
	s.j.violate(&hit{
		id: "S3", key: f.key, owners: owners(u.holder.owner, o.holder.owner), witness: []int{u.idx, f.land.idx},
		blame: s.blame(u.holder, f), from: from, to: max(o.ok, o.inv), text: func() string { return text },
	})
}

package writes

import (
	"fmt"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// Sections decides S3: no other owner's write lies between two writes of one critical section,
// and no two updates start from one version.
type Sections struct {
	*rule.Env
	late      int // writes that came too late to be placed
	arrived   int // sections in which so many writes only arrived that others there are forgotten
	forgotten int // writes under leases that are not remembered any more
	lost      int // updates from a version so old that others from it are forgotten

	bases updates
	keys  rule.Table[sectionState]
	began rule.Table[timedTouch] // by holder: the first write, without a number, of its latest section that is no longer remembered with its key's
}

// sectionState is the latest writes of one key.
type sectionState struct {
	any     latest // accepted writes, in the store's order
	mixed   bool   // there were readers; until then excl would be any
	excl    latest // the same under exclusive leases: all that excludes a reader's
	ring    ring
	arrived bool         // a write was told late that only arrived in a section, by its client's own stamps
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

// rival is the latest write of another owner than h.
func (l *latest) rival(h *ledger.Holder) *touch {
	if l.last.holder != h {
		return &l.last
	}
	return &l.other
}

// late adds a write that is told of after later ones.
func (l *latest) late(me *touch) {
	if me.holder != l.last.holder && me.Seq > l.other.Seq {
		l.other = *me
	}
}

// A touch is an accepted write.
type touch struct {
	ledger.Mark
	author
	before ledger.Mark   // the section's write before it, as far as that was told by then
	said   time.Duration // when it was issued, by its client's own stamps; never without one
}

// An author is whoever made a write, in one section and mode.
type author struct {
	holder  *ledger.Holder
	section int // the grant that it was written under, by its event; 0 is none
	mode    history.Mode
}

// A timedTouch is an accepted write without a number, and its interval.
type timedTouch struct {
	touch
	inv, ok time.Duration
	by      ledger.Stamper
}

func (*Sections) IDs() []string            { return []string{"S3"} }
func (*Sections) Remembers() ledger.Memory { return ledger.TokensGiven }

func (*Sections) Wants() []ledger.Kind { return []ledger.Kind{ledger.Landed, ledger.Unknown} }

// Finish looks at the updates whose outcome stayed unknown: if they landed, an update was lost.
func (s *Sections) Finish() {
	for _, o := range s.UnsettledWrites() {
		if o.Doubts == nil || o.Doubts.Rival.Seq == 0 || o.Update(ledger.Mark{}).Retries(o.Doubts.Rival) || s.Suspicious.Full("S3") {
			continue
		}
		u := o.Doubts.Rival
		text := fmt.Sprintf("%s and %s both read version %d of %s, changed it, and wrote it back; %s never heard what became of its write %q. If it landed, one of the two updates is lost.",
			u.Holder.Owner, o.Holder.Owner, o.Base, o.Holder.Key.Name, o.Holder.Owner, o.Value)
		s.Suspect(&rule.Candidate{
			ID: "S3", Key: o.Holder.Key, Owners: words.Owners(u.Holder.Owner, o.Holder.Owner), Witness: []int{u.Idx, o.OKIdx},
			From: o.Inv, To: o.OK, Text: func() string { return text },
		})
	}
}

func (s *Sections) Observe(f *ledger.Fact) {
	if f.Kind == ledger.Unknown {
		s.unknown(f)
		return
	}
	if f.Landing.Seq != 0 && f.Op.Has&history.HasBase != 0 {
		s.update(f)
	}
	if !f.Landing.Late {
		s.write(f)
	}
}

// write judges a write in constant time: it keeps one marker per key and one per critical
// section.
func (s *Sections) write(f *ledger.Fact) {
	st, o, g := s.keys.At(f.Key.No), f.Op, f.Op.Grant
	me := touch{Mark: ledger.Mark{Seq: f.Landing.Seq, Idx: f.Landing.Idx}, author: author{holder: o.Holder, mode: o.Mode}, said: ledger.Never}
	if o.Has&history.HasBegan != 0 {
		me.said = o.Inv
	}
	if g != nil {
		me.section, me.mode = g.OKIdx, g.Mode
	}
	if g != nil && g.MayNameOther(o.Fence) && !g.Bears(o.Fence) { // it was written under another lease
		me.section = 0
		if g = o.Holder.Bearing(o.Fence); g != nil {
			me.section, me.mode = g.OKIdx, g.Mode
		} else if o.Holder.Forgot(o.Fence) {
			s.forgotten++
		}
	}
	if g != nil && g.LastWrite.Seq < me.Seq {
		me.before = g.LastWrite
	}
	if me.mode == history.Shared && !st.mixed {
		st.mixed, st.excl = true, st.any
	}
	switch {
	case me.Seq == 0:
		s.byEvents(f, timedTouch{me, o.Inv, o.OK, o.By()})
		return
	case me.Seq <= st.any.last.Seq: // of two with one number, neither came first
		s.between(f, me)
		if g != nil && g.LastWrite.Seq < me.Seq {
			g.LastWrite = me.Mark
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
		other := rivals.rival(o.Holder)
		if g.LastWrite.Seq != 0 && other.holder != nil && other.Seq > g.LastWrite.Seq &&
			me.excludes(other) {
			x := st.issuedInside(other, g, me)
			if x.outside(me, g) && st.ring.mayHide(&me, g) {
				s.arrived++
			}
			s.interleaved(f, touch{Mark: g.LastWrite}, x, me)
		}
		g.LastWrite = me.Mark
		if st.arrived {
			st.arrived = !s.arrivedBefore(f, st, me, g)
		}
	}
	st.any.add(&me)
	if st.mixed && me.mode == history.Exclusive {
		st.excl.add(&me)
	}
}

// issuedInside is other, or another write between the last write of g's section and me that
// was, by its client's own stamps, issued inside the section, which other was not.
func (st *sectionState) issuedInside(other *touch, g *ledger.Grant, me touch) touch {
	if !other.outside(me, g) {
		return *other
	}
	for i := range st.ring.touches {
		x := &st.ring.touches[i]
		if x.holder != nil && x.Seq > g.LastWrite.Seq && x.Seq < me.Seq && x.excludes(&me) && !x.outside(me, g) {
			return *x
		}
	}
	return *other
}

// interleaved reports that other, of another owner, lies between first and last,
// of one section.
func (s *Sections) interleaved(f *ledger.Fact, first, other, last touch) {
	o := f.Op
	owner := last.holder.Owner
	from, granted := o.Inv, ""
	if g := o.Grant; g != nil && g.OKIdx == last.section {
		from, granted = g.Inv, fmt.Sprintf("%s, granted at %s", words.Token(g.Fence), words.At(g.OK))
	}
	text := fmt.Sprintf("In one critical section on %s%s, %s wrote%s and then%s; between them the store took a write%s, from %s. "+
		"The section of %s was not its own: what it computed from its first write may be wrong.",
		f.Key.Name, granted, owner, words.Number(first.Seq), words.Number(last.Seq), words.Number(other.Seq), other.holder.Owner, owner)
	blame := rule.BlameClient
	if last.Idx == f.Landing.Idx {
		blame = s.blame(other.holder, f)
	}
	h := &rule.Candidate{
		ID: "S3", Key: f.Key, Owners: words.Owners(owner, other.holder.Owner), Witness: []int{first.Idx, other.Idx, last.Idx},
		Blame: blame, From: from, To: max(o.OK, o.Inv), Text: func() string { return text },
	}
	if other.outside(last, o.Grant) {
		s.keys.At(f.Key.No).arrived = true
		text += " By its client's own word it was issued outside of that section, and only arrived in it: that proves nothing."
		s.Suspect(h)
		return
	}
	s.Violate(h)
}

// arrivedBefore reports a write with stamps of its own that lies between two writes of me's
// section, and was issued within that section, if there is one.
func (s *Sections) arrivedBefore(f *ledger.Fact, st *sectionState, me touch, g *ledger.Grant) bool {
	for _, x := range st.ring.touches {
		if x.said == ledger.Never || x.outside(me, g) {
			continue
		}
		for _, first := range st.ring.touches {
			if s.inside(f, first, x, me) {
				return true
			}
		}
	}
	return false
}

// outside says whether x, whose place in the store's order is that of its arrival, was issued
// before the section of g or after its write last, by the writers' own stamps.
func (x *touch) outside(last touch, g *ledger.Grant) bool {
	if x.said == ledger.Never || last.said == ledger.Never {
		return false
	}
	return x.said > last.said || g != nil && g.OKIdx == last.section && x.said < g.OK
}

// blame is the client whose write came after its lease; else the intruder, unless it held a
// lease of its own.
func (s *Sections) blame(intruder *ledger.Holder, f *ledger.Fact) string {
	g := f.Op.Grant
	if g != nil && f.Op.Inv >= g.Deadline {
		return rule.BlameClient
	}
	if x := intruder.Grant; x != nil && g != nil && x.OK < f.Op.Inv && x.End() > g.OK {
		return rule.BlameServer
	}
	return rule.BlameClient
}

// update looks for another update that started from the same version.
func (s *Sections) update(f *ledger.Fact) {
	st, o := s.keys.At(f.Key.No), f.Op
	me := o.Update(ledger.Mark{Seq: f.Landing.Seq, Idx: f.Landing.Idx})
	u, found := ledger.Update{}, false
	if o.Base < st.any.last.Seq { // else nobody can have landed in between
		u, found = s.bases.rival(f.Key, me)
	}
	if !found && f.Landing.Late {
		u = o.Doubt().Rival
		found = u.Seq != 0
	}
	switch {
	case found && !me.Retries(u):
		s.conflict(f, u, me.Acknowledged && u.Acknowledged)
	case !found && o.Base < st.dropped:
		s.lost++
	}
	if old, forgotten := s.bases.add(f.Key, me); forgotten {
		x := s.keys.At(old.key.No)
		x.dropped = max(x.dropped, old.seq+1)
	}
}

// unknown looks for a rival among the updates that landed before an update of unknown outcome
// was issued. Those that land later find that update themselves.
func (s *Sections) unknown(f *ledger.Fact) {
	o := f.Op
	if o.Action != history.Write || o.Has&history.HasBase == 0 {
		return
	}
	if u, ok := s.bases.rival(f.Key, o.Update(ledger.Mark{})); ok && o.Doubt().Rival.Seq == 0 {
		o.Doubts.Rival = u
	}
}

// conflict reports that f's update and u started from one version. It is a violation only if
// both clients were told that their update was accepted (told).
func (s *Sections) conflict(f *ledger.Fact, u ledger.Update, told bool) {
	o := f.Op
	from := o.Inv
	if o.Grant != nil {
		from = o.Grant.Inv
	}
	if !told && s.Suspicious.Full("S3") {
		return
	}
	heard := "the store confirmed both"
	if !told {
		heard = "by the store's log, since one of the two was never told what became of its own"
	}
	text := fmt.Sprintf("%s and %s both read version %d of %s, changed it, and wrote it back, as numbers %d and %d; %s. "+
		"One of the two updates is lost.",
		u.Holder.Owner, o.Holder.Owner, o.Base, f.Key.Name, min(u.Seq, f.Landing.Seq), max(u.Seq, f.Landing.Seq), heard)
	h := &rule.Candidate{
		ID: "S3", Key: f.Key, Owners: words.Owners(u.Holder.Owner, o.Holder.Owner), Witness: []int{u.Idx, f.Landing.Idx},
		Blame: s.blame(u.Holder, f), From: from, To: max(o.OK, o.Inv), Text: func() string { return text },
	}
	if told {
		s.Violate(h)
	} else {
		s.Suspect(h)
	}
}

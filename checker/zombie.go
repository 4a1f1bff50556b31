package checker

import (
	"fmt"
	"time"

	"locktorture/workload/history"
)

// zombies decides S3z and S8: an accepted write was issued under a lease that
// its owner held, and told of.
type zombies struct {
	j    *Judge
	lost int // answers told late, after more writes than are kept
}

func (*zombies) ids() []string { return []string{"S3z", "S8"} }
func (*zombies) wants() []what {
	return []what{granted, reentered, landed, extended, unmoved, answered}
}

func (z *zombies) see(f *fact) {
	switch f.what {
	case granted, reentered:
		z.lateWord(f)
	case landed:
		z.landed(f)
	case answered:
		if f.op.outcome == history.OK || f.op.outcome == history.Fail {
			z.told(f)
		}
	case extended, unmoved:
		if f.op.outcome == history.Fail {
			z.told(f)
		}
		z.covered(f)
		if g := f.grant; g.extends == 0 && g.trouble != nil {
			for _, l := range g.trouble.parked {
				z.late(g.holder.key, l)
			}
			g.trouble.parked = nil
		}
	}
}

func (*zombies) finish() {}

func (z *zombies) landed(f *fact) {
	o := f.op
	if g := z.toldLate(o); g != nil {
		o.use = useHeld
		z.j.under(o, g)
		if o.doubts != nil {
			o.doubts.late = nil // that was by another lease
		}
	}
	z.endedMeanwhile(o)
	z.meanwhile(f)
	g := o.grant
	switch {
	case z.unconfirmed(o):
		z.unheld(f)
	case g == nil || o.inv < o.due()-z.j.from(g, o.host):
	case g.extends > 0 && o.overdue() == nil:
		z.j.keepOp(tieParked, o)
		l := *f.land
		g.inTrouble().parked = append(g.trouble.parked, &l)
	default:
		z.late(f.key, f.land)
	}
}

// endedMeanwhile looks for an answer to another process of o's owner that had ended
// its lease before o, as the clocks prove, and that the history tells of only after
// o's invocation.
func (z *zombies) endedMeanwhile(o *op) {
	g := o.grant
	switch {
	case o.use != useHeld || g == nil || g.stop == never || g != o.holder.grant && g != o.holder.prior:
		return
	case g.relOK != never && z.j.test.after(o.inv, g.relOK, z.j.from(g, o.host)):
		o.use = useReleased
	case g.denied() != nil:
		o.use = useDenied
	default:
		return
	}
	if !z.knew(o) {
		o.use = useHeld
	}
}

// unconfirmed says whether o's owner had no lease to write under, and knew. The
// order of one process needs no clock.
func (z *zombies) unconfirmed(o *op) bool {
	switch o.use {
	case useHeld:
		return false
	case useReleased, useLost, useDenied:
		return z.knew(o)
	}
	return true
}

// knew says whether a word that ended o's lease came before o beyond doubt: the
// owner's release, or else a loss or a refusal, which becomes what o is judged by.
func (z *zombies) knew(o *op) bool {
	g := o.grant
	eps := z.j.from(g, o.host)
	before := func(by int, t time.Duration) bool {
		return by == o.process || z.j.test.after(o.inv, t, eps)
	}
	no := g.denied()
	for no != nil && !((no.idx < o.invIdx || no.by != o.process) && before(no.by, no.t) && g.concerns(no.fence, o.fence)) {
		no = no.next
	}
	lost := g.reportedLost() && g.lostIdx < o.invIdx && before(g.lostBy, g.lost) && g.concerns(g.lossWord(), o.fence)
	switch {
	case o.use == useReleased && g.rel != never && before(g.relBy, g.rel) && g.concerns(g.releaseWord(), o.fence):
		o.doubt().told = lost || no != nil
	case lost:
		o.use = useLost
	case no != nil:
		o.use, o.doubt().no = useDenied, no
	default:
		return false
	}
	return true
}

// releaseWord and lossWord are the tokens of the words that ended g, where they may
// be of another lease.
func (g *grant) releaseWord() uint64 {
	if g.trouble == nil {
		return 0
	}
	return g.trouble.relWord
}

func (g *grant) lossWord() uint64 {
	if g.trouble == nil {
		return 0
	}
	return g.trouble.lostWord
}

// toldLate is the lease that o's owner had been granted, as far as clocks tell, by an
// answer that the history tells of only after o was issued; nil when there is none, or
// none that lasts longer than the one that o was issued under.
func (z *zombies) toldLate(o *op) *grant {
	for _, g := range [...]*grant{o.holder.grant, o.holder.prior} {
		if g == nil || g.okIdx < o.invIdx || g.by == o.process || z.j.test.after(g.ok, o.inv, z.j.from(g, o.host)) {
			continue
		}
		if o.use != useHeld || o.grant == nil || o.due() < g.d {
			return g
		}
	}
	return nil
}

// An unheldWrite was reported (S8) while an acquire of its owner was under way, which
// may turn out to have been answered before it.
type unheldWrite struct {
	inv     time.Duration
	idx     int // of its invocation
	by      int
	host    host
	covered bool // by a grant that was told late
	write   op
	land    landing
}

// unsure notes a write that is reported, if a grant told later may cover it.
func (z *zombies) unsure(f *fact) *unheldWrite {
	o := f.op
	w := &unheldWrite{inv: o.inv, idx: o.invIdx, by: o.process, host: o.host}
	if z.j.violations.total["S8"] >= z.j.o.Limit {
		return w
	}
	if o.holder.asking(o) {
		w.write, w.land = *o, *f.land
		w.write.forget()
		d := o.holder.more()
		d.unheld = append(d.unheld, w)
	}
	return w
}

// asking says whether an acquire of h's, from before o, is under way.
func (h *holder) asking(o *op) bool {
	for a := h.key.leases.head; a != nil && a.invIdx < o.invIdx; a = a.next {
		if a.holder == h && a.what == history.Acquire {
			return true
		}
	}
	return false
}

// lateWord looks at those writes again when their owner is granted the key.
func (z *zombies) lateWord(f *fact) {
	d, o := f.op.holder.detail, f.op
	told := func(by, idx int, t time.Duration, h host) bool {
		return o.invIdx < idx && by != o.process && !z.j.test.after(o.ok, t, z.j.clock.apart(o.host, h))
	}
	late := func(writes []*lateWrite) {
		for _, w := range writes {
			if w.later, w.until = o.ok, f.grant.d; w.by == o.process {
				w.until = 0
			}
			w.covered = w.covered || told(w.by, w.idx, w.inv, w.host) && !z.j.test.zombie(w.inv, f.grant.d, z.j.from(f.grant, w.host))
		}
	}
	if g := o.holder.grant; g != nil && g.trouble != nil { // the one before, unless it was re-entered
		late(g.trouble.late)
	}
	if d == nil {
		return
	}
	late(d.late)
	for _, w := range d.unheld {
		if !w.covered && told(w.by, w.idx, w.inv, w.host) {
			w.covered = true
			w.write.grant, w.land.op = f.grant, &w.write
			z.late(f.key, &w.land) // it was under this lease, then
		}
	}
}

var unheldText = map[use]string{
	useNever:    "had never acquired it",
	useRefused:  "had been refused it the last time it asked",
	useUnknown:  "did not know whether its last acquire had succeeded",
	useReleased: "had released it before",
	useLost:     "had been told before that the lease was lost",
	useDenied:   "had asked before, and been told that the lease was gone",
}

// unheld reports S8.
func (z *zombies) unheld(f *fact) {
	o, g := f.op, f.op.grant
	h := &hit{
		id: "S8", key: f.key, owners: []string{o.holder.owner}, witness: []int{f.land.idx}, blame: blameClient, from: o.inv, to: o.ok,
	}
	w := z.unsure(f)
	h.refuted = func() bool { return w.covered }
	when := ""
	switch o.use {
	case useReleased:
		h.witness, h.from, when = append(h.witness, g.relIdx), g.start, " (at "+at(g.rel)+")"
		release, told := g.relIdx, o.doubt().told
		h.refuted = func() bool { return w.covered || !told && z.j.unsent[release] }
		if !told {
			z.unlessSent(f, release)
		}
	case useLost:
		h.witness, h.from, when = append(h.witness, g.lostIdx), g.start, " (at "+at(g.lost)+")"
		h.stamp = stamped(g.lost, o.inv, o.inv-g.lost-z.j.from(g, o.host), o.process == g.lostBy || o.has&history.HasBegan != 0)
	case useDenied:
		no := o.doubts.no
		h.witness, h.from, when = append(h.witness, no.idx), g.start, " (at "+at(no.t)+")"
		h.stamp = stamped(no.t, o.inv, o.inv-no.t-z.j.from(g, o.host), o.process == no.by || o.has&history.HasBegan != 0)
	}
	text := fmt.Sprintf("%s wrote %q to %s at %s, and the store accepted it, although %s %s%s.",
		o.holder.owner, o.value, f.key.name, at(o.inv), o.holder.owner, unheldText[o.use], when)
	h.text = func() string { return text }
	if p := o.holder.prior; o.use == useReleased && g.trouble != nil && g.trouble.inside && !o.doubt().told && p != nil && p.goesOn() { // it may have been an inner release
		z.j.suspect(h)
		return
	}
	z.j.violate(h)
}

// unlessSent keeps f's write, behind a release of unknown outcome, if it was late as
// well: should the release turn out never to have been sent, it was that.
func (z *zombies) unlessSent(f *fact, release int) {
	o, g := f.op, f.op.grant
	fenced := z.j.h.Fenced && o.fence != 0
	if g.relOK == never && !fenced && z.j.test.zombie(o.inv, max(o.due(), g.latest()), z.j.from(g, o.host)) {
		z.j.unsentHits.keep(release, z.unfenced(f.key, f.land))
	}
}

// late judges a write by the deadline of the lease that it was issued under.
func (z *zombies) late(k *key, l *landing) {
	o, due, eps := l.op, l.op.due(), z.j.from(l.op.grant, l.op.host)
	if o.grant.muddled() {
		due = max(due, o.grant.trouble.most)
	}
	if o.overdue() == nil {
		due = max(due, o.grant.latest())
	}
	fenced := z.j.h.Fenced && o.fence != 0
	switch {
	case o.overdue() != nil && o.overdue().covered:
	case z.j.test.zombie(o.inv, due, eps) && fenced:
		if !z.overtaken(k, l) && !z.j.suspicious.full("S3z") { // S2's otherwise
			z.j.suspect(z.hit(k, l, "the store had seen no newer token yet, and so accepted it"))
		}
	case z.j.test.zombie(o.inv, due, eps):
		z.j.violate(z.unfenced(k, l))
	case z.j.test.borderline(o.inv, due, eps):
		z.j.suspect(z.hit(k, l, "the clocks do not tell whether that was in time"))
	}
}

// unfenced is a late write, until a renewal turns out to have been under way when it
// was issued.
func (z *zombies) unfenced(k *key, l *landing) *hit {
	h, w, g := z.hit(k, l, "the store accepted it, since no fence compares tokens there"), &lateWrite{inv: l.op.inv, idx: l.op.invIdx, by: l.op.process, host: l.op.host}, l.op.grant
	if known := l.op.overdue(); known != nil {
		w = known
	}
	other := z.letGo(l.op)
	h.refuted = func() bool {
		return w.covered || other != nil && !z.j.test.zombie(w.inv, other.end(), z.j.from(other, w.host))
	}
	h.stamp = stamped(g.ok, l.op.inv, l.op.inv-l.op.due()-z.j.from(g, l.op.host), l.op.has&history.HasBegan != 0)
	if w != l.op.overdue() && z.j.violations.total["S3z"] < z.j.o.Limit {
		g.inTrouble().late = append(g.trouble.late, w)
	}
	if l.op.holder.asking(l.op) {
		d := l.op.holder.more()
		d.late = append(d.late, w)
	}
	return h
}

// letGo is another lease of o's owner whose release may turn out never to have been
// sent, so that o was issued under it; or nil.
func (z *zombies) letGo(o *op) *grant {
	for _, x := range [...]*grant{o.holder.grant, o.holder.prior} {
		if x != nil && x != o.grant && x.rel != never && x.relOK == never && x.ok <= o.inv && (o.fence == 0 || x.bears(o.fence)) {
			z.j.tie(tieRenewed, x)
			return x
		}
	}
	return nil
}

// covered looks at the late writes again when a renewal, which is told of when
// it has ended, has moved the deadline.
func (z *zombies) covered(f *fact) {
	if f.what != extended {
		return
	}
	z.cover(f, f.grant)
	if g := f.op.holder.grant; g != nil && g != f.grant && g.trouble != nil && g.trouble.beside >= f.grant.d {
		z.cover(f, g)
	}
}

// cover looks at the late writes under g, which f's extension may have moved.
func (z *zombies) cover(f *fact, g *grant) {
	if g.trouble == nil {
		return
	}
	for _, w := range g.trouble.late {
		o := f.op // a round of automatic renewal has no event where it began
		ahead := o.inv <= w.inv && (w.by != o.process || o.invIdx < w.idx || o.invIdx == o.okIdx)
		w.covered = w.covered || ahead && !z.j.test.zombie(w.inv, f.grant.d, z.j.from(g, w.host))
	}
}

// overtaken says whether a newer token was accepted before l.
func (z *zombies) overtaken(k *key, l *landing) bool {
	if l.late && l.top <= l.op.fence {
		return l.op.behind(l.seq) || k.log.lateTop > l.op.fence
	}
	return l.top > l.op.fence
}

func (z *zombies) hit(k *key, l *landing, outcome string) *hit {
	o, g, d := l.op, l.op.grant, l.op.due()
	by := g.dIdx
	if w := o.overdue(); w != nil {
		by = w.dIdx
	}
	h := &hit{
		id: "S3z", key: k, owners: []string{o.holder.owner}, witness: []int{by, l.idx}, blame: blameClient,
		from: g.inv, to: max(o.ok, o.inv),
	}
	story := ""
	if x := k.crossing(g, o.inv); x != nil {
		h.owners = owners(g.owner(), x.owner())
		h.witness = append(h.witness, x.okIdx)
		story = fmt.Sprintf(" By then %s had been granted the key%s, at %s.", x.owner(), token(x.fence), at(x.ok))
	}
	owner, fence, ok := g.owner(), g.fence, g.ok
	seq, value, inv := l.seq, o.value, o.inv
	h.text = func() string {
		return fmt.Sprintf("%s was granted %s%s at %s and could rely on it until %s.%s At %s, %s after its lease had ended, %s issued the write %q all the same, and %s%s. "+
			"The lock kept its word; the client did not notice that its time had run out.",
			owner, k.name, token(fence), at(ok), at(d), story, at(inv), span(inv-d), owner, value, outcome, number(seq))
	}
	return h
}

// crossing is another owner's grant that a late write of g ran into: the one
// that holds at t, or else the latest since.
func (k *key) crossing(g *grant, t time.Duration) *grant {
	var best *grant
	for _, x := range k.held {
		if !conflicts(g, x) || x.ok <= g.ok || x.ok > t {
			continue
		}
		if best == nil || x.end() > t || best.end() <= t {
			best = x
		}
	}
	return best
}

func token(f uint64) string {
	if f == 0 {
		return ""
	}
	return fmt.Sprintf(" with token %d", f)
}

func number(seq uint64) string {
	if seq == 0 {
		return ""
	}
	return fmt.Sprintf(" (write number %d)", seq)
}

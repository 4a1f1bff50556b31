package checker

import (
	"container/heap"
	"fmt"
	"slices"
	"time"

	"locktorture/workload/history"
)

// doubleGrants decides S1, and S10 as its root cause: no two owners hold one
// key at once.
type doubleGrants struct {
	j       *Judge
	pending meetings
	order   int
	scratch meeting
	waiting map[[2]*grant]bool // pairs that an extension made, not judged yet
	brief   bool               // no meeting that is left is known to have lasted
	unclear int                // holds among very many that ended within the clock uncertainty of some hosts, and not of others
}

// A pair of definite holds that overlap from an instant on, for how long is
// not known yet.
type pair struct {
	a, b *grant
	from time.Duration
	idx  int // an extension, of a's, that made them overlap; 0 is none

	told, until time.Duration // when the extension was answered, and until when it made the lease last
}

func (*doubleGrants) ids() []string { return []string{"S1", "S10"} }
func (*doubleGrants) wants() []what {
	return []what{granted, extended, reentered, postponed, unknown, ticked}
}

func (d *doubleGrants) see(f *fact) {
	switch f.what {
	case ticked:
		d.settle()
	case granted:
		d.met(f)
	case extended, reentered, postponed:
		for _, x := range f.key.held {
			if conflicts(x, f.grant) && f.old < f.grant.d {
				d.stretched(x, f)
			}
		}
	case unknown:
		d.doubt(f)
	}
}

// gone says whether g's lease was over by t, and given up for certain.
func (g *grant) gone(t time.Duration) bool {
	return g.end() <= t && g.rel != never && !g.relUnsure
}

// settle judges the meetings that are past the clock uncertainty.
func (d *doubleGrants) settle() {
	for len(d.pending) > 0 && d.j.now > d.pending[0].from+d.j.h.Epsilon {
		d.judge(heap.Pop(&d.pending).(*meeting))
	}
	if len(d.pending) > 0 {
		d.j.due = min(d.j.due, d.pending[0].from+d.j.h.Epsilon)
	}
}

// finish judges the meetings that are left. Of a history that broke off before
// the clock uncertainty had passed, nothing says how long they lasted: the next
// event may have been a release.
func (d *doubleGrants) finish() {
	d.brief = d.j.truncated
	for len(d.pending) > 0 {
		d.judge(heap.Pop(&d.pending).(*meeting))
	}
}

// unplaced says what was not judged, for want of memory.
func (d *doubleGrants) unplaced() string {
	unsent := d.j.unsentHits.unplaced()
	if d.unclear == 0 {
		return unsent
	}
	return unsent + fmt.Sprintf("Of %s holds, each beside more than %d others of its key, it depends on the hosts whose clocks stamped them whether they overlapped another's (S1): that is not decided.",
		thousands(d.unclear), heldMost)
}

// met compares a fresh grant with those that its key knows.
func (d *doubleGrants) met(f *fact) {
	g, k := f.grant, f.key
	m := &d.scratch
	*m = meeting{of: g, from: g.ok, others: m.others[:0]}
	for _, x := range k.held {
		if x.relUnsure && conflicts(x, g) {
			d.unlessSent(x, g)
		}
		if !x.gone(g.ok) && conflicts(x, g) {
			d.meet(m, x)
		}
	}
	if k.lasts() > g.ok && len(k.crowd.members) > 0 {
		m.joined = len(k.crowd.members)
		if own := g.holder.grant; own != nil && own.member != 0 { // of another mode, and live
			m.own = own
		}
		k.crowd.awaiting++
	}
	if len(m.others) > 0 || m.joined > 0 {
		kept := *m
		kept.others = slices.Clone(m.others)
		g.inTrouble().met = &kept
		d.pend(&kept)
	}
}

// unlessSent keeps the pair of x, whose release is of unknown outcome, and a later
// grant: should the release turn out never to have been sent, both held.
func (d *doubleGrants) unlessSent(x, g *grant) {
	if x.stop != x.rel || g.ok < x.rel || !d.j.test.overlaps(min(x.d, g.end())-g.ok, d.j.apart(x, g)) {
		return
	}
	d.j.tie(tiePair, x)
	d.j.tie(tiePair, g)
	d.j.unsentHits.keep(x.relIdx, d.hit(pair{a: x, b: g, from: g.ok}))
}

// meet compares a fresh grant with one that its key knows.
func (d *doubleGrants) meet(m *meeting, x *grant) {
	g := m.of
	from, length := overlap(x, g)
	switch {
	case length > 0 && from == m.from:
		m.others = append(m.others, x)
	case length > 0: // g is told of late
		d.pend(&meeting{of: g, others: []*grant{x}, from: from})
	case x.rel == never && x.stop > from && from >= x.d && g.ok < later(x.start, d.j.h.TTL):
		d.suspect(x, g, "the lease, counted from the first byte of its acquire, had not run out, though its holder no longer relied on it")
	default:
		d.early(x, g)
	}
}

// stretched looks for an overlap that an extension made, or a release that
// began later than it seemed.
func (d *doubleGrants) stretched(x *grant, f *fact) {
	g := f.grant
	from, length := overlap(x, g)
	before := min(x.end(), f.old, g.stop) - from
	if length <= 0 || d.j.test.overlaps(before, d.j.apart(x, g)) || d.waits(x, g) {
		return
	}
	p := pair{a: g, b: x, from: from, idx: f.op.okIdx, told: f.op.ok, until: g.d}
	d.pend(&meeting{of: x, from: from, stretched: &p})
}

// judgePair tells a definite overlap from one that the clocks leave open.
func (d *doubleGrants) judgePair(p pair) {
	_, length := overlap(p.a, p.b)
	h, eps := d.hit(p), d.j.apart(p.a, p.b)
	switch {
	case !(d.brief && d.j.now <= p.from+eps) && d.j.test.overlaps(length, eps):
		d.j.violate(h)
	case length > 0:
		d.j.suspect(h)
	}
	if p.idx == 0 {
		d.early(p.a, p.b)
	}
}

func (d *doubleGrants) hit(p pair) *hit {
	a, b := p.a, p.b
	if b.ok < a.ok {
		a, b = b, a
	}
	h := &hit{
		id: "S1", key: a.holder.key, owners: owners(a.owner(), b.owner()), witness: []int{a.okIdx, b.okIdx}, blame: blameServer,
		from: a.start, to: p.from, pair: [2]*grant{a, b},
	}
	h.length = func() time.Duration {
		_, length := overlap(a, b)
		return length
	}
	h.stamp = shared(a, b, p.from, d.j.apart(a, b))
	if p.idx != 0 {
		h.witness = append(h.witness, p.idx)
	} else if a.first <= p.from {
		h.witness = append(h.witness, a.dIdx)
	}
	h.text = func() string {
		if p.idx != 0 {
			return p.prolonged(h.length())
		}
		return fmt.Sprintf("Two holders of %s for at least %s. %s was granted it%s at %s and could rely on it until %s%s; %s was granted it%s at %s, while that time had not run out and no release had been sent. "+
			"Both acted as the only one.",
			a.holder.key.name, span(h.length()), mode(a), token(a.fence), at(a.ok), at(a.d), promise(a), mode(b), token(b.fence), at(b.ok))
	}
	return h
}

// prolonged tells of two holders by an extension.
func (p pair) prolonged(length time.Duration) string {
	return fmt.Sprintf("Two holders of %s for at least %s. %s was granted it%s at %s. %s was granted it%s at %s and held it until %s. And yet at %s %s was told that its lease goes on, until %s, as if it had held the key all the time.",
		p.a.holder.key.name, span(length), mode(p.a), token(p.a.fence), at(p.a.ok), mode(p.b), token(p.b.fence), at(p.b.ok), at(p.b.end()), at(p.told), p.a.owner(), at(p.until))
}

// early reports S10: a lease was given away before its time, and a fault that
// makes nodes forget explains it. When its holder had been told before, nobody was
// harmed by it.
func (d *doubleGrants) early(x, g *grant) {
	if eps := d.j.apart(x, g); x.rel-eps <= g.ok || !d.j.test.early(g.ok, x.d, eps) || !d.j.nemesis.forgot(x.start, g.ok) {
		return // a release may have been sent before
	}
	told := x.stop <= g.ok
	if told && d.j.suspicious.full("S10") {
		return
	}
	text := fmt.Sprintf("%s was granted %s%s at %s, %s before the lease of %s (granted%s at %s) could run out, and nobody had released it. The nodes had forgotten it.",
		g.owner(), g.holder.key.name, token(g.fence), at(g.ok), span(x.d-g.ok), x.owner(), token(x.fence), at(x.ok))
	h := &hit{
		id: "S10", key: x.holder.key, owners: owners(x.owner(), g.owner()), witness: []int{x.okIdx, g.okIdx}, blame: blameServer,
		from: x.start, to: g.ok, text: func() string { return text },
	}
	h.stamp = shared(x, x, g.ok, 0)
	if told { // nobody relied on the lease any more
		d.j.suspect(h)
		return
	}
	ok := g.ok
	d.j.tie(tiePair, x)
	h.refuted = func() bool { return x.stop <= ok } // as the history told late
	d.j.violate(h)
}

func (d *doubleGrants) suspect(x, g *grant, why string) {
	if d.j.suspicious.full("S1") {
		return
	}
	text := fmt.Sprintf("%s may have held %s still (granted%s at %s) when %s was granted it%s at %s: %s.",
		x.owner(), x.holder.key.name, token(x.fence), at(x.ok), g.owner(), token(g.fence), at(g.ok), why)
	d.j.suspect(&hit{
		id: "S1", key: x.holder.key, owners: owners(x.owner(), g.owner()), witness: []int{x.okIdx, g.okIdx},
		from: x.start, to: g.ok, text: func() string { return text },
	})
}

func mode(g *grant) string {
	if g.mode == history.Shared {
		return g.owner() + " (reader)"
	}
	return g.owner()
}

func promise(g *grant) string {
	if g.stands {
		return " (the lock promises no deadline: its TTL less drift stands in)"
	}
	return ""
}

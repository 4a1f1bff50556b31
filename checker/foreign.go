package checker

import (
	"fmt"
	"slices"
	"time"

	"locktorture/workload/history"
)

// foreignRelease decides S5: a release ends its own lease only.
type foreignRelease struct {
	j      *Judge
	late   []*lateRelease // in the order in which they were answered; some are decided
	open   int            // of those
	robbed []robbery
	alone  []*lateRelease // that met nobody's hold, while acquires were under way: those may be told of late
}

// mostAlone is how many of those are kept.
const mostAlone = 64

// A lateRelease was answered yes after its own deadline, while others held.
type lateRelease struct {
	of      *grant
	victims []*grant
	inv     time.Duration
	ok      time.Duration
	idx     int
	by      int
	lasting int  // victims whose hold is not known to be over
	sure    bool // beyond the clock uncertainty
	decided bool // it robbed somebody, or nobody
}

// A victim is one of the key's grants that late releases may have removed.
type victim struct {
	*grant
	late  []*lateRelease // undecided when they came
	first time.Duration  // the earliest of them
}

// A robbery was reported, as hit.
type robbery struct {
	*lateRelease
	hit *hit
}

func (*foreignRelease) ids() []string { return []string{"S5"} }
func (*foreignRelease) wants() []what { return []what{granted, answered} }

func (r *foreignRelease) see(f *fact) {
	switch {
	case f.what == granted:
		if f.op.ok < f.e.Time && len(r.alone) > 0 {
			r.toldLate(f)
		}
		if len(f.key.victims) > 0 {
			r.third(f.key, f.grant)
		}
	case f.op.outcome == history.OK && r.j.test.late(f.op.inv, f.grant.d):
		r.released(f)
	}
}

// finish tells of the late releases that harmed nobody.
func (r *foreignRelease) finish() {
	for _, l := range slices.Concat(r.late, r.alone) {
		if !l.decided {
			r.harmless(l)
		}
	}
	for _, x := range r.robbed {
		if !r.j.proved(x.hit) {
			r.harmless(x.lateRelease)
		}
	}
}

// released notes whom a late release may have robbed.
func (r *foreignRelease) released(f *fact) {
	l := &lateRelease{of: f.grant, inv: f.op.inv, ok: f.op.ok, idx: f.op.okIdx, by: f.op.process}
	l.sure = r.j.test.late(f.op.inv-r.j.from(f.grant, f.op.host), f.grant.d)
	for _, y := range f.key.held {
		if conflicts(y, f.grant) && y.ok < f.op.ok && y.end() > l.inv {
			r.j.tie(tieVictim, y)
			l.victims = append(l.victims, y)
		}
	}
	if l.victims == nil {
		if f.key.leases.head == nil || len(r.alone) == mostAlone {
			r.harmless(l)
			return
		}
		r.j.tie(tieReleased, l.of)
		r.alone = append(r.alone, l)
		return
	}
	r.j.tie(tieReleased, l.of)
	for _, z := range f.key.held {
		if y := r.victim(l, z); y != nil {
			r.foreign(l, y, z)
			return
		}
	}
	r.watch(f.key, l)
}

// toldLate looks for a late release that f's grant, told behind it, was robbed by.
func (r *foreignRelease) toldLate(f *fact) {
	y := f.grant
	r.alone = slices.DeleteFunc(r.alone, func(l *lateRelease) bool {
		if l.of.holder.key != f.key || !conflicts(y, l.of) || y.ok >= l.ok || y.end() <= l.inv {
			return false
		}
		r.j.tie(tieVictim, y)
		l.victims = []*grant{y}
		for _, z := range f.key.held {
			if r.victim(l, z) != nil {
				r.foreign(l, y, z)
				return true
			}
		}
		r.watch(f.key, l)
		return true
	})
}

// watch keeps l until it is decided.
func (r *foreignRelease) watch(k *key, l *lateRelease) {
	l.lasting = len(l.victims)
	for _, y := range l.victims {
		i := slices.IndexFunc(k.victims, func(v *victim) bool { return v.grant == y })
		if i < 0 {
			i = len(k.victims)
			k.victims = append(k.victims, &victim{grant: y, first: never})
		}
		v := k.victims[i]
		v.late, v.first = append(v.late, l), min(v.first, l.inv)
	}
	if r.open++; len(r.late) > 2*r.open+listedMost {
		r.late = slices.DeleteFunc(r.late, func(l *lateRelease) bool { return l.decided })
	}
	r.late = append(r.late, l)
}

// third looks for victims in whose hold a third grant occurs.
func (r *foreignRelease) third(k *key, z *grant) {
	k.victims = slices.DeleteFunc(k.victims, func(v *victim) bool {
		over := v.end() <= r.j.now && (k.leases.head == nil || k.leases.head.inv >= v.end())
		if over || conflicts(v.grant, z) && z.ok >= v.first {
			r.decide(v, z, over)
		}
		return over || len(v.late) == 0
	})
}

// decide looks at the late releases that may have removed v's lease, which is
// over or which z was granted beside.
func (r *foreignRelease) decide(v *victim, z *grant, over bool) {
	v.first = never
	v.late = slices.DeleteFunc(v.late, func(l *lateRelease) bool {
		if l.decided {
			return true
		}
		if over {
			l.lasting--
		}
		switch y := r.victim(l, z); {
		case y != nil:
			r.foreign(l, y, z)
		case l.lasting == 0:
			r.harmless(l)
		default:
			v.first = min(v.first, l.inv)
			return false
		}
		l.decided = true
		r.open--
		return true
	})
}

// behind says whether z was granted after l began. One process's own order needs no clock.
func (r *foreignRelease) behind(z *grant, l *lateRelease) bool {
	return z.ok > l.inv || z.by == l.by && z.invIdx > l.idx
}

// victim is whom l robbed, when z was granted inside of that one's hold.
func (r *foreignRelease) victim(l *lateRelease, z *grant) *grant {
	for _, y := range l.victims {
		if l.sure && y.holder.key == z.holder.key && conflicts(y, z) && r.behind(z, l) && z.ok > y.ok && r.j.test.inside(z.ok+r.j.apart(y, z), y.end()) {
			return y
		}
	}
	return nil
}

// foreign reports that l robbed y, as the grant of z shows.
func (r *foreignRelease) foreign(l *lateRelease, y, z *grant) {
	k, g, granted := l.of.holder.key, l.of, z.ok+r.j.apart(y, z)
	text := fmt.Sprintf("The lease of %s on %s had ended at %s. %s was granted the key%s at %s. At %s %s released it, late, and was told yes: what it removed was the lock of %s. So %s was granted it too%s, at %s, while %s could still rely on it.",
		g.owner(), k.name, at(g.d), y.owner(), token(y.fence), at(y.ok), at(l.inv), g.owner(), y.owner(), z.owner(), token(z.fence), at(z.ok), y.owner())
	h := &hit{
		id: "S5", key: k, owners: owners(g.owner(), y.owner(), z.owner()), witness: []int{y.okIdx, l.idx, z.okIdx}, blame: blameRelease,
		from: g.inv, to: z.ok, text: func() string { return text },
		refuted: func() bool { return !r.j.test.inside(granted, y.end()) },
	}
	r.j.violate(h)
	if len(r.robbed) < r.j.o.Limit {
		r.robbed = append(r.robbed, robbery{l, h})
	}
}

// harmless reports a late release that nobody is known to have suffered from.
func (r *foreignRelease) harmless(l *lateRelease) {
	if r.j.suspicious.full("S5") {
		return
	}
	g := l.of
	text := fmt.Sprintf("%s released %s at %s and was told yes, %s after its own lease had ended. Nobody was harmed, as far as can be seen.",
		g.owner(), g.holder.key.name, at(l.inv), span(l.inv-g.d))
	r.j.suspect(&hit{
		id: "S5", key: g.holder.key, owners: []string{g.owner()}, witness: []int{g.okIdx, l.idx}, from: g.inv, to: l.inv,
		text: func() string { return text },
	})
}

package checker

import (
	"fmt"
	"slices"
	"time"

	"locktorture/workload/history"
)

// ownership decides S5 and S6: a release ends its own lease only, and nobody
// extends, or releases with success, a lease that another's hold has ended.
type ownership struct {
	j       *Judge
	checked bool // a successful release proves that its owner still held
	late    []lateRelease
	robbed  []robbery
	short   []crossing
	told    []toldCrossing
}

// A lateRelease was answered yes after its own deadline, while others held.
type lateRelease struct {
	of      *grant
	victims []*grant
	inv     time.Duration
	idx     int
}

// A robbery was reported, as hit.
type robbery struct {
	lateRelease
	hit *hit
}

func (*ownership) ids() []string { return []string{"S5", "S6"} }
func (*ownership) wants() []what { return []what{granted, extended, releasing, postponed, answered} }

func (w *ownership) see(f *fact) {
	switch f.what {
	case granted:
		w.cross(f)
		if len(w.late) > 0 {
			w.third(f.grant)
		}
	case extended:
		w.across(f, "extended its lease")
		if len(w.short) > 0 {
			w.lengthened(f.grant)
		}
	case postponed:
		w.lengthened(f.grant)
	case releasing:
		f.key.watch = drop(f.key.watch, f.grant)
	case answered:
		if f.op.outcome != history.OK {
			return
		}
		if w.checked {
			w.across(f, "released it, with success,")
		}
		if w.j.test.late(f.op.inv, f.grant.d) {
			w.lateRelease(f)
		}
	}
}

// finish tells of the late releases that harmed nobody, and of crossings whose
// intruder turned out to be another one.
func (w *ownership) finish() {
	for _, l := range w.late {
		w.harmless(l)
	}
	for _, r := range w.robbed {
		if !w.j.proved(r.hit) {
			w.harmless(r.lateRelease)
		}
	}
	for _, t := range w.told {
		if x, length := crossed(t.g, t.intruders, t.inv); !w.j.proved(t.hit) && w.j.test.overlaps(length, w.j.h.Epsilon) {
			w.j.violate(t.crossing.hit(x))
		}
	}
}

// maxIntruders is how many grants that crossed a lease are remembered: one is
// enough, but a hold may turn out to have been shorter than it seemed.
const maxIntruders = 4

// cross notes for every lease not released that another's grant crossed it.
func (w *ownership) cross(f *fact) {
	k, g := f.key, f.grant
	if f.op.ok < f.e.Time { // told late: what came since crossed it
		for _, x := range k.held {
			if conflicts(g, x) && x.ok > g.ok {
				w.crossedBy(g, x)
			}
		}
	}
	if len(k.watch) == 0 { // as it mostly is
		k.watch = append(k.watch, g)
		return
	}
	k.watch = slices.DeleteFunc(k.watch, func(x *grant) bool {
		return conflicts(x, g) && !w.crossedBy(x, g) || x.holder == g.holder
	})
	k.watch = append(k.watch, g)
}

// crossedBy notes that x crossed g, and reports whether more may be noted: one
// whose hold is over, and was too brief to count, makes place.
func (w *ownership) crossedBy(g, x *grant) bool {
	brief := func(y *grant) bool {
		_, length := crossed(g, []*grant{y}, never)
		return y.end() <= w.j.now && !w.j.test.overlaps(length, w.j.h.Epsilon)
	}
	w.j.tie(tieIntruder, x)
	t := g.inTrouble()
	if i := slices.IndexFunc(t.intruders, brief); i >= 0 && len(t.intruders) == maxIntruders {
		t.intruders = slices.Delete(slices.Clone(t.intruders), i, i+1) // the old ones belong to crossings
	}
	if len(t.intruders) < maxIntruders {
		t.intruders = append(t.intruders, x)
	}
	return len(t.intruders) < maxIntruders || slices.ContainsFunc(t.intruders, brief)
}

// crossed is for how long the definite hold of one of intruders lay inside
// (ok(g), t), and whose: the longest one.
func crossed(g *grant, intruders []*grant, t time.Duration) (by *grant, length time.Duration) {
	for _, x := range intruders {
		if l := min(x.end(), t) - max(x.ok, g.ok); l > length {
			by, length = x, l
		}
	}
	return by, length
}

// A crossing is an extension or release that succeeded.
type crossing struct {
	g         *grant
	intruders []*grant // by then
	inv       time.Duration
	ok        time.Duration
	idx       int
	how       string
}

// A toldCrossing was reported, as hit.
type toldCrossing struct {
	crossing
	hit *hit
}

// tell reports a crossing of x.
func (w *ownership) tell(c crossing, x *grant) {
	h := c.hit(x)
	w.j.violate(h)
	if len(w.told) < w.j.o.Limit {
		w.told = append(w.told, toldCrossing{c, h})
	}
}

// shortCrossings is how many crossings are remembered whose intruder held too
// briefly to count, in case an extension lengthens its hold.
const shortCrossings = 64

// intruders are the grants that crossed f's lease before f.
func (w *ownership) intruders(f *fact) []*grant {
	g := f.grant
	if f.op.inv <= g.rel || f.op.invIdx == g.relIdx {
		return g.intruders()
	}
	var since []*grant // it had been released before: nobody watched it any more
	for _, x := range f.key.held {
		if conflicts(x, g) && x.ok > g.ok {
			w.j.tie(tieIntruder, x)
			since = append(since, x)
		}
	}
	return since
}

// across judges a crossing (S6).
func (w *ownership) across(f *fact, how string) {
	intruders := w.intruders(f)
	if len(intruders) == 0 {
		return
	}
	c := crossing{f.grant, intruders, f.op.inv, f.op.ok, f.op.okIdx, how}
	w.j.tie(tieCrossing, c.g)
	x, length := crossed(c.g, c.intruders, c.inv)
	switch {
	case w.j.test.overlaps(length, w.j.h.Epsilon):
		w.tell(c, x)
		return
	case length > 0:
		w.j.suspect(c.hit(x))
	}
	if len(w.short) == shortCrossings {
		w.short = w.short[1:]
	}
	w.short = append(w.short, c)
}

// lengthened looks at crossings again when an intruder's hold has grown.
func (w *ownership) lengthened(g *grant) {
	w.short = slices.DeleteFunc(w.short, func(c crossing) bool {
		x, length := crossed(c.g, c.intruders, c.inv)
		if x != g || !w.j.test.overlaps(length, w.j.h.Epsilon) {
			return false
		}
		w.tell(c, x)
		return true
	})
}

func (c crossing) hit(x *grant) *hit {
	g := c.g
	h := &hit{
		id: "S6", key: g.holder.key, owners: owners(g.owner(), x.owner()), witness: []int{g.okIdx, x.okIdx, c.idx}, blame: blameLibrary,
		from: g.inv, to: c.ok, pair: [2]*grant{g, x},
	}
	h.length = func() time.Duration {
		_, length := crossed(g, []*grant{x}, c.inv)
		return length
	}
	h.text = func() string {
		return fmt.Sprintf("%s was granted %s%s at %s. Since then %s held it, from %s%s, for %s; and yet at %s %s %s as if nothing had happened. "+
			"The lock took the key for its own without comparing who owns it. Remedy: compare the owner token in the step that extends or releases.",
			g.owner(), g.holder.key.name, token(g.fence), at(g.ok), x.owner(), at(x.ok), token(x.fence), span(h.length()), at(c.inv), g.owner(), c.how)
	}
	return h
}

// lateRelease notes whom a late release may have robbed.
func (w *ownership) lateRelease(f *fact) {
	l := lateRelease{of: f.grant, inv: f.op.inv, idx: f.op.okIdx}
	for _, y := range f.key.held {
		if conflicts(y, f.grant) && y.ok < f.op.ok && y.end() > l.inv {
			w.j.tie(tieVictim, y)
			l.victims = append(l.victims, y)
		}
	}
	if l.victims == nil {
		w.harmless(l)
		return
	}
	w.j.tie(tieReleased, l.of)
	for _, z := range f.key.held {
		if y := w.victim(l, z); y != nil {
			w.foreign(l, y, z)
			return
		}
	}
	w.late = append(w.late, l)
}

// third looks for a victim in whose hold a third grant occurs.
func (w *ownership) third(z *grant) {
	lasts := func(y *grant) bool { return y.end() > w.j.now }
	w.late = slices.DeleteFunc(w.late, func(l lateRelease) bool {
		switch y := w.victim(l, z); {
		case y != nil:
			w.foreign(l, y, z)
			return true
		case !slices.ContainsFunc(l.victims, lasts):
			w.harmless(l)
			return true
		}
		return false
	})
}

// victim is whom l robbed, when z was granted inside of that one's hold.
func (w *ownership) victim(l lateRelease, z *grant) *grant {
	for _, y := range l.victims {
		if y.holder.key == z.holder.key && conflicts(y, z) && z.ok > l.inv && z.ok > y.ok && w.j.test.inside(z.ok, y.end()) {
			return y
		}
	}
	return nil
}

func (w *ownership) foreign(l lateRelease, y, z *grant) {
	k, g, granted := l.of.holder.key, l.of, z.ok
	text := fmt.Sprintf("The lease of %s on %s had ended at %s. %s was granted the key%s at %s. At %s %s released it, late, and was told yes: what it removed was the lock of %s. So %s was granted it too%s, at %s, while %s could still rely on it. "+
		"Remedy: a release must compare the owner token and delete in one step.",
		g.owner(), k.name, at(g.d), y.owner(), token(y.fence), at(y.ok), at(l.inv), g.owner(), y.owner(), z.owner(), token(z.fence), at(z.ok), y.owner())
	h := &hit{
		id: "S5", key: k, owners: owners(g.owner(), y.owner(), z.owner()), witness: []int{y.okIdx, l.idx, z.okIdx}, blame: blameRelease,
		from: g.inv, to: z.ok, text: func() string { return text },
		refuted: func() bool { return !w.j.test.inside(granted, y.end()) },
	}
	w.j.violate(h)
	if len(w.robbed) < w.j.o.Limit {
		w.robbed = append(w.robbed, robbery{l, h})
	}
}

func (w *ownership) harmless(l lateRelease) {
	if w.j.suspicious.full("S5") {
		return
	}
	g := l.of
	text := fmt.Sprintf("%s released %s at %s and was told yes, %s after its own lease had ended. Nobody was harmed, as far as can be seen.",
		g.owner(), g.holder.key.name, at(l.inv), span(l.inv-g.d))
	w.j.suspect(&hit{
		id: "S5", key: g.holder.key, owners: []string{g.owner()}, witness: []int{g.okIdx, l.idx}, from: g.inv, to: l.inv,
		text: func() string { return text },
	})
}

func drop(s []*grant, g *grant) []*grant {
	if i := slices.Index(s, g); i >= 0 {
		return slices.Delete(s, i, i+1)
	}
	return s
}

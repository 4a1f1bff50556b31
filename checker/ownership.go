package checker

import (
	"fmt"
	"slices"
	"time"

	"locktorture/workload/history"
)

// ownership decides S6: nobody extends, or releases with success, a lease that
// another's hold has ended.
type ownership struct {
	j       *Judge
	checked bool // a successful release proves that its owner still held
	short   []crossing
	told    []toldCrossing
}

func (*ownership) ids() []string { return []string{"S6"} }
func (*ownership) wants() []what {
	return []what{granted, extended, releasing, postponed, answered, left}
}

func (w *ownership) see(f *fact) {
	switch f.what {
	case granted:
		w.cross(f)
	case extended:
		w.across(f, "extended its lease")
		if len(w.short) > 0 {
			w.lengthened(f.grant)
		}
	case postponed:
		w.lengthened(f.grant)
		w.rewatch(f)
	case releasing:
		f.key.unwatch(f.grant)
	case answered, left:
		if w.checked && f.op.outcome == history.OK {
			w.across(f, "released it, with success,")
		}
	}
}

// rewatch looks for what crossed a lease that turns out not to have been released, or
// later than it seemed, and watches the former again.
func (w *ownership) rewatch(f *fact) {
	k, g := f.key, f.grant
	if g.watched != 0 {
		return
	}
	for _, x := range k.held {
		if conflicts(g, x) && x.ok > g.ok && x.ok < g.rel && !slices.Contains(g.intruders(), x) {
			w.crossedBy(g, x)
		}
	}
	if g.rel == never {
		k.watchOver(g)
	}
}

// finish tells of crossings whose intruder turned out to be another one.
func (w *ownership) finish() {
	for _, t := range w.told {
		if x, _, sure := w.crossed(t.g, t.intruders, t.inv); sure && !w.j.proved(t.hit) {
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
	if f.op.ok < f.e.Time {
		w.toldLate(f)
	}
	if before := g.holder.grant; before != nil {
		k.unwatch(before)
	}
	for mode, watch := range k.watch { // mostly both are empty
		if mode == int(history.Shared) && g.mode == history.Shared {
			break
		}
		for i := len(watch) - 1; i >= 0; i-- { // the last one takes the place of one that leaves
			if x := watch[i]; x.holder != g.holder && !w.crossedBy(x, g) {
				k.unwatch(x)
			}
		}
	}
	k.watchOver(g)
}

// toldLate notes what crossed a grant that the history tells of late, and what it
// crossed that has been given back since.
func (w *ownership) toldLate(f *fact) {
	g := f.grant
	for _, x := range f.key.held {
		if conflicts(g, x) && x.longer && x.dIdx < g.okIdx {
			w.robbed(x, g, x.start, x.start, x.dIdx, "extended its lease")
		}
		if t := x.trouble; w.checked && conflicts(g, x) && t != nil && t.inner.idx != 0 {
			w.robbed(x, g, t.inner.inv, t.inner.ok, t.inner.idx, "gave back one of its holds, with success,")
		}
		switch {
		case !conflicts(g, x):
		case x.ok > g.ok:
			w.crossedBy(g, x)
		case x.rel == never || x.rel < g.ok || x.watched != 0:
		case x.leaving:
			w.crossedBy(x, g)
		case w.checked && x.relOK != never:
			idx := x.relIdx
			if x.trouble != nil && x.trouble.relOKIdx != 0 {
				idx = x.trouble.relOKIdx
			}
			w.robbed(x, g, x.rel, x.relOK, idx, "released it, with success,")
		}
	}
}

// robbed reports that x was extended or given back, with success, by what was
// invoked at inv and ended at ok, although g had crossed it.
func (w *ownership) robbed(x, g *grant, inv, ok time.Duration, idx int, how string) {
	if _, _, sure := w.crossed(x, []*grant{g}, inv); !sure {
		return
	}
	w.crossedBy(x, g)
	w.j.tie(tieCrossing, x)
	w.tell(crossing{x, x.intruders(), inv, ok, idx, how, w.j}, g)
}

func (k *key) watchOver(g *grant) {
	k.watch[g.mode] = append(k.watch[g.mode], g)
	g.watched = int32(len(k.watch[g.mode]))
}

func (k *key) unwatch(g *grant) {
	if g.watched == 0 {
		return
	}
	watch := k.watch[g.mode]
	last := watch[len(watch)-1]
	watch[g.watched-1], last.watched = last, g.watched
	watch[len(watch)-1] = nil
	k.watch[g.mode], g.watched = watch[:len(watch)-1], 0
}

// crossedBy notes that x crossed g, and reports whether more may be noted: one
// whose hold is over, and was too brief to count, makes place.
func (w *ownership) crossedBy(g, x *grant) bool {
	brief := func(y *grant) bool {
		_, _, sure := w.crossed(g, []*grant{y}, never)
		return y.end() <= w.j.now && !sure
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
// (ok(g), t), whose, and whether beyond the clock uncertainty: the longest one,
// of those that are sure when there are any.
func (w *ownership) crossed(g *grant, intruders []*grant, t time.Duration) (by *grant, length time.Duration, sure bool) {
	for _, x := range intruders {
		l := x.inside(g, t)
		certain := w.j.test.overlaps(l, w.j.apart(g, x))
		if certain && !sure || certain == sure && l > length {
			by, length, sure = x, l, certain
		}
	}
	return by, length, sure
}

// inside is for how long x held between the grant of g and t.
func (x *grant) inside(g *grant, t time.Duration) time.Duration {
	return min(x.end(), t) - max(x.ok, g.ok)
}

// A crossing is an extension or release that succeeded.
type crossing struct {
	g         *grant
	intruders []*grant // by then
	inv       time.Duration
	ok        time.Duration
	idx       int
	how       string
	j         *Judge
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
	if g == g.holder.grant && (f.op.inv <= g.rel || f.op.invIdx == g.relIdx) {
		return g.intruders()
	}
	var since []*grant // it had been released before, or its owner has a newer one: nobody watched it any more
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
	c := crossing{f.grant, intruders, f.op.inv, f.op.ok, f.op.okIdx, how, w.j}
	w.j.tie(tieCrossing, c.g)
	x, length, sure := w.crossed(c.g, c.intruders, c.inv)
	switch {
	case sure:
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
		x, _, sure := w.crossed(c.g, c.intruders, c.inv)
		if x != g || !sure {
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
		return max(0, x.inside(g, c.inv))
	}
	h.stamp = shared(x, x, max(x.ok, g.ok), c.j.apart(g, x))
	h.text = func() string {
		return fmt.Sprintf("%s was granted %s%s at %s. Since then %s held it, from %s%s, for %s; and yet at %s %s %s as if nothing had happened. "+
			"The lock took the key for its own without comparing who owns it.",
			g.owner(), g.holder.key.name, token(g.fence), at(g.ok), x.owner(), at(x.ok), token(x.fence), span(h.length()), at(c.inv), g.owner(), c.how)
	}
	return h
}

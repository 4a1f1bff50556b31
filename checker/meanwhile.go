package checker

import (
	"fmt"
	"time"
)

// A heldWrite was accepted under a lease while another operation under it was under
// way, a release or an extension perhaps: by its answer, told later, the lease may have been over before.
type heldWrite struct {
	lease int // its grant, by its event
	inv   time.Duration
	ok    time.Duration
	idx   int // of its invocation …
	proof int // … and the event that proves it
	by    int
	host  host
	fence uint64
	value string
}

// keptMeanwhile is how many of an owner's writes are kept while it releases or extends.
const keptMeanwhile = 16

// meanwhile keeps a write that was accepted while something else was done under its lease.
func (z *zombies) meanwhile(f *fact) {
	o, g := f.op, f.op.grant
	if o.use != useHeld || g == nil || g.acting < 2 { // nothing but o
		return
	}
	d := o.holder.more()
	if len(d.meanwhile) == keptMeanwhile {
		d.unkept = max(d.unkept, d.meanwhile[0].inv)
		d.meanwhile = d.meanwhile[:copy(d.meanwhile, d.meanwhile[1:])]
	}
	d.meanwhile = append(d.meanwhile, heldWrite{g.okIdx, o.inv, o.ok, o.invIdx, f.land.idx, o.process, o.host, o.fence, o.value})
}

// told looks at those again: a release, or a refusal, was answered before it is told.
func (z *zombies) told(f *fact) {
	o, g := f.op, f.grant
	d := g.holder.detail
	if d == nil || len(d.meanwhile) == 0 {
		return
	}
	if o.ok < f.e.Time {
		for _, w := range d.meanwhile {
			if w.lease == g.okIdx && w.by != o.process && z.j.test.after(w.inv, o.ok, z.j.from(g, w.host)) && g.concerns(o.fence, w.fence) {
				z.behind(f, w)
			}
		}
		if z.j.test.after(d.unkept, o.ok, 0) {
			z.lost++
		}
	}
	if g.acting < 2 {
		d.meanwhile, d.unkept = d.meanwhile[:0], 0
	}
}

// behind reports S8: a write behind an answer that ended its lease, and is told later.
func (z *zombies) behind(f *fact, w heldWrite) {
	h, g, o := f.grant.holder, f.grant, f.op
	text := fmt.Sprintf("%s wrote %q to %s at %s, and the store accepted it, although %s had been answered at %s that its lease was over.",
		h.owner, w.value, f.key.name, at(w.inv), h.owner, at(o.ok))
	z.j.violate(&hit{
		id: "S8", key: f.key, owners: []string{h.owner}, witness: []int{w.proof, o.okIdx}, blame: blameClient, from: g.start, to: max(o.ok, w.ok),
		text: func() string { return text },
	})
}

// unplaced says what was not judged, for want of memory.
func (z *zombies) unplaced() string {
	if z.lost == 0 {
		return ""
	}
	return fmt.Sprintf("%s times a release or an extension was told late, after more than %d writes of its owner's: whether those came behind it (S8) is not decided.",
		thousands(z.lost), keptMeanwhile)
}

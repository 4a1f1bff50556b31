package checker

import (
	"fmt"
	"time"

	"locktorture/workload/history"
)

// A ghost is an acquire of unknown outcome: its owner may hold the key from
// its invocation until a whole TTL after its last possible delivery.
type ghost struct {
	holder *holder
	idx    int
	inv    time.Duration
	until  time.Duration
	told   bool // of one hold that it may overlap: one is enough
}

// doubt books what an unknown outcome leaves open. It is never a violation.
func (d *doubleGrants) doubt(f *fact) {
	o := f.op
	switch {
	case o.what == history.Release && o.grant != nil:
		o.grant.relUnsure = true
		for _, x := range f.key.held {
			if conflicts(x, o.grant) && x.ok >= o.grant.rel && x.ok < o.grant.d {
				d.suspect(o.grant, x, "its release is of unknown outcome")
			}
		}
	case o.what == history.Acquire:
		k := f.key
		k.ghost = ghost{holder: o.holder, idx: o.okIdx, inv: o.inv, until: o.ok + d.j.h.TTL}
		for _, x := range k.held {
			if x.excludes(o.holder, o.mode) && x.end() > o.inv {
				d.haunt(k, x)
				return
			}
		}
	}
}

// ghost compares a fresh grant with the last acquire of unknown outcome.
func (d *doubleGrants) ghost(f *fact) {
	if x := f.key.ghost; x.holder != nil && !x.told && x.holder != f.grant.holder && f.grant.ok < x.until {
		d.haunt(f.key, f.grant)
	}
}

func (d *doubleGrants) haunt(k *key, g *grant) {
	k.ghost.told = true
	if d.j.suspicious.full("S1") {
		return
	}
	x := k.ghost
	text := fmt.Sprintf("An acquire of %s by %s at %s is of unknown outcome; had it succeeded, it would overlap the hold of %s (granted%s at %s).",
		k.name, x.holder.owner, at(x.inv), g.owner(), token(g.fence), at(g.ok))
	d.j.suspect(&hit{
		id: "S1", key: k, owners: owners(x.holder.owner, g.owner()), witness: []int{x.idx, g.okIdx},
		from: min(x.inv, g.start), to: max(x.inv, g.ok), text: func() string { return text },
	})
}

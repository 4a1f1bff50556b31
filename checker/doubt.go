package checker

import (
	"time"

	"locktorture/workload/history"
)

// A ghost is an acquire of unknown outcome. It is nobody's hold: its owner does
// not know of it, and cannot act on it. What it may have left on the servers, from
// its invocation until a whole TTL after its last possible delivery, counts where
// somebody is refused the key.
type ghost struct {
	holder *holder
	inv    time.Duration
	until  time.Duration
}

// doubt books what an unknown outcome leaves open. Neither makes anybody a holder:
// who asked to release has let go from then on.
func (d *doubleGrants) doubt(f *fact) {
	o := f.op
	switch {
	case o.what == history.Release && o.grant != nil && !o.inner:
		g := o.grant
		g.relUnsure = true
		for _, x := range f.key.held {
			if g.relIdx == o.invIdx && conflicts(g, x) {
				d.unlessSent(g, x)
			}
		}
	case o.what == history.Acquire:
		f.key.ghost = ghost{holder: o.holder, inv: o.inv, until: later(o.ok, max(d.j.h.TTL, d.j.longest))}
	}
}

// later is d after t. A lease without an end is as long as can be, and never ends.
func later(t, d time.Duration) time.Duration {
	if d > never-max(t, 0) {
		return never
	}
	return t + d
}

package ledger

import (
	"math"
	"slices"
	"time"

	"locktorture/workload/history"
)

// maxIntruders is how many grants that crossed a lease are remembered: one is
// enough, but a hold may turn out to have been shorter than it seemed.
const maxIntruders = 4

// cross notes for every lease not released that another's grant crossed it.
func (l *Ledger) cross(g *Grant) {
	if l.Memory&Crossings == 0 {
		return
	}
	k := g.Holder.Key
	if before := g.Holder.Grant; before != nil {
		k.unwatch(before)
	}
	for mode, watch := range k.watched { // mostly both are empty
		if mode == int(history.Shared) && g.Mode == history.Shared {
			break
		}
		for i := len(watch) - 1; i >= 0; i-- { // the last one takes the place of one that leaves
			if x := watch[i]; x.Holder != g.Holder && !l.CrossedBy(x, g) {
				k.unwatch(x)
			}
		}
	}
	k.watch(g)
}

// crossAgain looks for what crossed a lease that turns out not to have been released, or
// later than it seemed, and watches the former again.
func (l *Ledger) crossAgain(g *Grant) {
	k := g.Holder.Key
	if g.Watched != 0 || l.Memory&Crossings == 0 {
		return
	}
	for _, x := range k.Held {
		if Conflicts(g, x) && x.OK > g.OK && x.OK < g.ReleasedAt && !slices.Contains(g.Intruders(), x) {
			l.CrossedBy(g, x)
		}
	}
	if g.ReleasedAt == Never {
		k.watch(g)
	}
}

func (k *Key) watch(g *Grant) {
	k.watched[g.Mode] = append(k.watched[g.Mode], g)
	g.Watched = int32(len(k.watched[g.Mode]))
}

func (k *Key) unwatch(g *Grant) {
	watch := k.watched[g.Mode]
	if len(watch) == 0 || g.Watched == 0 { // mostly it is empty
		return
	}
	last := watch[len(watch)-1]
	watch[g.Watched-1], last.Watched = last, g.Watched
	watch[len(watch)-1] = nil
	k.watched[g.Mode], g.Watched = watch[:len(watch)-1], 0
}

// CrossedBy notes that x crossed g, and reports whether more may be noted: one
// whose hold is over, and was too brief to count, makes place.
func (l *Ledger) CrossedBy(g, x *Grant) bool {
	brief := func(y *Grant) bool {
		_, _, sure := l.Crossed(g, []*Grant{y}, Until{Never, math.MaxInt, nobody})
		return y.End() <= l.Now && !sure
	}
	x.Pin()
	t := g.Rarely()
	if i := slices.IndexFunc(t.intruders, brief); i >= 0 && len(t.intruders) == maxIntruders {
		t.intruders = slices.Delete(slices.Clone(t.intruders), i, i+1) // the old ones belong to crossings
	}
	if len(t.intruders) < maxIntruders {
		t.intruders = append(t.intruders, x)
	}
	return len(t.intruders) < maxIntruders || slices.ContainsFunc(t.intruders, brief)
}

// Crossed is for how long the definite hold of one of intruders lay inside
// (ok(g), t), whose, and whether beyond the clock uncertainty: the longest one,
// of those that are sure when there are any.
func (l *Ledger) Crossed(g *Grant, intruders []*Grant, u Until) (by *Grant, length time.Duration, sure bool) {
	for _, x := range intruders {
		within := x.Inside(g, u.T)
		certain := within > l.Farthest(g, x) || within >= 0 && l.inTurn(g, x, u)
		if certain && !sure || certain == sure && within > length {
			by, length, sure = x, within, certain
		}
	}
	return by, length, sure
}

// An Until is an instant at which a process invoked something.
type Until struct {
	T   time.Duration
	Idx int // of the event
	By  int
}

// inTurn says whether one process's own order tells that x held between the grant of g and
// u, for whatever time.
func (l *Ledger) inTurn(g, x *Grant, u Until) bool {
	eps := l.Farthest(g, x)
	own := x.Process == u.By && (g.Process == u.By || g.enteredBefore(u.By, x.OKIdx) && x.OK-g.OK > eps) && x.endStampedBy(u.By, max(x.OK, g.OK), eps)
	return own && g.OKIdx < x.OKIdx && x.OKIdx < u.Idx && x.OK < x.Deadline && x.OK <= x.StoppedAt
}

// Inside is for how long x held between the grant of g and t.
func (x *Grant) Inside(g *Grant, t time.Duration) time.Duration {
	return min(x.End(), t) - max(x.OK, g.OK)
}

package ledger

import (
	"math"
	"slices"
	"time"

	"locktorture/workload/history"
)

// maxIntruders is how many grants that crossed a lease are remembered. One proves a violation;
// others count when its hold turns out to have been shorter than it seemed.
const maxIntruders = 4

// cross notes g as an intruder of every lease of the key that was not released and that g
// excludes.
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

// crossAgain looks for the intruders of a lease that turns out not to have been released, or to
// have been released later than it seemed, and watches for more where it is not released.
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

// CrossedBy notes that x crossed g, and reports whether more intruders may be noted. An
// intruder whose hold is over, and was too brief to count, makes place for x.
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

// Crossed finds the intruder whose definite hold lay inside of g's hold for the longest until
// u, and for how long; sure says that this is beyond the clock uncertainty. A sure one is
// preferred.
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

// inTurn says whether the order of one process's own events proves that x held between the
// grant of g and u, for however short a time.
func (l *Ledger) inTurn(g, x *Grant, u Until) bool {
	eps := l.Farthest(g, x)
	own := x.Process == u.By && (g.Process == u.By || g.enteredBefore(u.By, x.OKIdx) && x.OK-g.OK > eps) && x.endStampedBy(u.By, max(x.OK, g.OK), eps)
	return own && g.OKIdx < x.OKIdx && x.OKIdx < u.Idx && x.OK < x.Deadline && x.OK <= x.StoppedAt
}

// Inside is for how long x held between the grant of g and t.
func (x *Grant) Inside(g *Grant, t time.Duration) time.Duration {
	return min(x.End(), t) - max(x.OK, g.OK)
}

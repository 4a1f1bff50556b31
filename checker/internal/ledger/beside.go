package ledger

import (
	"slices"
	"time"

	"locktorture/workload/history"
)

// What an owner with several leases is told, or does, without a token that tells which
// of them is meant, may have been of each: the definite hold of all of them ends with
// it, and an extension may have moved all of them.

// Leases yields h's two latest leases, and any others of h's that its key remembers.
func (h *Holder) Leases(yield func(*Grant) bool) {
	for _, x := range [...]*Grant{h.Grant, h.Prior} {
		if x != nil && !yield(x) {
			return
		}
	}
	for _, x := range h.Key.Held {
		if x.Holder == h && x != h.Grant && x != h.Prior && !yield(x) {
			return
		}
	}
}

// stopBeside ends, at t, the definite hold of those leases of h's, other than g, that the
// ending at idx may be of as well; g is the lease that it ended, and fence the token that it
// named, 0 for none. A release ends none that its owner holds more than once.
func (h *Holder) stopBeside(g *Grant, by Stamper, fence uint64, t time.Duration, idx int, release bool) {
	if !h.beside {
		return
	}
	inner := release && g.innerTo(by.Process, fence)
	for x := range h.Leases {
		if release && (inner || x.depth > 1 && x.ReleasedAt == Never && !x.goneFor(by.Process)) {
			continue
		}
		if x != g && x.StoppedAt == Never && (x.Deadline > t || x.Extending > 0) && (fence == 0 || x.Bears(fence)) && !(g.acquiredBy(by.Process) && g.apartFrom(x)) {
			x.stampedBy(by)
			x.stopAt(t, idx, by.Process)
			x.Rarely().perhapsOver = true
			x.Ambiguous = true
		}
	}
}

// innerTo says whether a release by this process, which names a token or none (0) and seems to
// be of g, is surely an inner release: g is a re-entry into another lease of its owner's, and
// nothing says that the release is of an older lease.
func (g *Grant) innerTo(process int, fence uint64) bool {
	if g.Rare == nil || !g.Rare.nested || g.StoppedAt != Never {
		return false
	}
	if fence != 0 || g.acquiredBy(process) {
		return true
	}
	for x := range g.Holder.Leases {
		if x.acquiredBy(process) {
			return false
		}
	}
	return true
}

// apartFrom says whether the process that acquired g can tell it from x: by mode or by token.
func (g *Grant) apartFrom(x *Grant) bool {
	return g.Mode != x.Mode || g.Fence != 0 && x.Fence != 0 && !x.Bears(g.Fence)
}

// restop notes that o, a release that may have been of other leases beside its own, began only
// at t, or never (Never): the holds that it had seemed to end last longer.
func (l *Ledger) restop(e *history.Event, o *Op, t time.Duration) {
	if !o.Holder.beside {
		return
	}
	for _, x := range slices.Collect(o.Holder.Leases) {
		if x == o.Grant || x.StoppedAt == Never || x.StopIdx != o.InvIdx || x.ReleaseIdx == o.InvIdx && x.ReleasedAt != Never {
			continue
		}
		old := x.End()
		if !x.GoesOn() { // it has another ending since
			x.stopOtherwise(t)
			l.outlasted(e, o, x, old)
			continue
		}
		x.StoppedAt = t
		if t == Never {
			x.Rare.perhapsOver = false
			l.recall(x)
		}
		if x == o.Holder.Grant {
			o.Holder.over = t != Never
		}
		l.outlasted(e, o, x, old)
	}
}

// outlasted notes and dispatches that x, which o seemed to have ended at old, lasted longer, if
// it did.
func (l *Ledger) outlasted(e *history.Event, o *Op, x *Grant, old time.Duration) {
	if x.End() > old {
		l.fact = Fact{Kind: Postponed, Event: e, Op: o, Grant: x, Key: x.Holder.Key, Old: old}
		l.Dispatch()
		l.crossAgain(x)
	}
}

// vagueBeside adds n, 1 or -1, to the count of extensions of unknown outcome of each lease that
// o, such an extension, may have been of beside its own.
func (h *Holder) vagueBeside(o *Op, n int) {
	for x := range h.Leases {
		if x != o.Grant && x.OKIdx < o.OKIdx && o.MayBeOf(x) && (x.Rare == nil || x.Rare.VagueBy != o.InvIdx) {
			if n > 0 {
				x.vagueBy(o.InvIdx)
			} else {
				x.Rarely().VagueExtensions = max(x.Rarely().VagueExtensions+n, 0)
			}
		}
	}
}

// vagueBy counts an extension of unknown outcome that may have been of g; idx is its
// invocation.
func (g *Grant) vagueBy(idx int) {
	r := g.Rarely()
	if r.VagueExtensions++; r.FirstVague == 0 || idx < r.FirstVague {
		r.FirstVague = idx
	}
}

// MayBeOf says whether o may be of x: it names no token, or one that x bears.
func (o *Op) MayBeOf(x *Grant) bool { return o.Fence == 0 || x.Bears(o.Fence) }

// strayed notes that o, a successful extension that names a token that no remembered lease of
// its owner bears, may have extended any of them.
func (l *Ledger) strayed(o *Op) {
	if o.Outcome != history.OK {
		return
	}
	d, _ := l.deadline(o)
	o.Holder.moveBeside(nil, 0, o.Inv, d, o.By())
	for _, x := range [...]*Grant{o.Holder.Grant, o.Holder.Prior} {
		if x != nil {
			l.serve(x, o, d)
		}
	}
}

// resumes says whether o, a successful extension of g, proves that the ending that may have
// been g's was another lease's.
func (g *Grant) resumes(o *Op) bool {
	return g.StoppedAt != Never && g.GoesOn() && g.StopIdx < o.InvIdx && g.acquiredBy(o.Process)
}

// movedBeside notes that an extension that was asked for at from, and named no lease, may have
// moved g's deadline to d.
func (g *Grant) movedBeside(from, d time.Duration) {
	if g.Rarely().Beside == 0 || from < g.Rare.besideFrom {
		g.Rare.besideFrom = from
	}
	g.Rare.Beside = max(g.Rare.Beside, d)
}

// LatestFor is until when g may have held as far as by could know when it invoked something at
// inv: an extension that named no lease does not count where it surely began after inv.
func (l *Ledger) LatestFor(g *Grant, inv time.Duration, by Stamper) time.Duration {
	switch {
	case g.Rare == nil:
		return g.Deadline
	case g.Rare.besideFrom > Later(l.From(g, by), inv):
		return max(g.Deadline, g.Rare.perhapsUntil)
	}
	return g.Latest()
}

// Vaguest is until when whoever was granted g may rely on it at the latest, where that was
// waited for inside a lock which promises no deadline: its TTL may have begun as late as
// the answer. It is 0 of any other.
func (l *Ledger) Vaguest(g *Grant) time.Duration {
	if !g.Waited {
		return 0
	}
	return Later(g.OK-l.Header.Drift, l.Header.TTL)
}

// moveBeside notes that an extension of g, asked for at from, which named a token or none (0),
// may have moved the deadline of h's other leases to d.
func (h *Holder) moveBeside(g *Grant, fence uint64, from, d time.Duration, by Stamper) {
	for _, x := range [...]*Grant{h.Grant, h.Prior} {
		if x != nil && x != g && x.GoesOn() && (fence == 0 || x.Bears(fence)) {
			x.stampedBy(by)
			x.movedBeside(from, d)
		}
	}
}

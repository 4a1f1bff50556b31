package ledger

import (
	"slices"
	"time"

	"locktorture/workload/history"
)

// What an owner with several leases is told, or does, without a token that tells which
// of them is meant, may have been of each: the definite hold of all of them ends with
// it, and an extension may have moved all of them.

// Leases calls yield with h's two latest leases, and any others that its key remembers.
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

// stopBeside ends, at t, the definite hold of the leases that the word at idx, which
// bore a token or none (0) and ended g, may have been of as well. A release ends none that
// its owner holds more than once.
func (h *Holder) stopBeside(g *Grant, by Stamper, fence uint64, t time.Duration, idx int, release bool) {
	if !h.beside {
		return
	}
	inner := release && g.innerTo(by.Process, fence)
	for x := range h.Leases {
		if release && (inner || x.depth > 1 && x.ReleasedAt == Never && !x.goneFor(by.Process)) {
			continue
		}
		if x != g && x.StoppedAt == Never && (x.Deadline > t || x.Extending > 0) && (fence == 0 || x.Bears(fence)) && !(g.takenBy(by.Process) && g.apartFrom(x)) {
			x.stampedBy(by)
			x.stopAt(t, idx, by.Process)
			x.Rarely().perhapsOver = true
			x.Ambiguous = true
		}
	}
}

// innerTo says whether a release by this process, with a token or none (0), which seems to be
// of g is surely an inner one: g is another lease of its owner's taken once more, and
// nothing says that the release is of an older one.
func (g *Grant) innerTo(process int, fence uint64) bool {
	if g.Rare == nil || !g.Rare.nested || g.StoppedAt != Never {
		return false
	}
	if fence != 0 || g.takenBy(process) {
		return true
	}
	for x := range g.Holder.Leases {
		if x.takenBy(process) {
			return false
		}
	}
	return true
}

// apartFrom says whether the process that took g tells it from x: by the mode, or the
// token.
func (g *Grant) apartFrom(x *Grant) bool {
	return g.Mode != x.Mode || g.Fence != 0 && x.Fence != 0 && !x.Bears(g.Fence)
}

// restop books that o, a release, which may have been of other leases than its own as
// well, began only at t, or never.
func (l *Ledger) restop(e *history.Event, o *Op, t time.Duration) {
	if !o.Holder.beside {
		return
	}
	for _, x := range slices.Collect(o.Holder.Leases) {
		if x == o.Grant || x.StoppedAt == Never || x.StopIdx != o.InvIdx || x.ReleaseIdx == o.InvIdx && x.ReleasedAt != Never {
			continue
		}
		old := x.End()
		if !x.GoesOn() { // another word has ended it since
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

// outlasted shows that x, which o seemed to have ended at old, lasted longer, if it did.
func (l *Ledger) outlasted(e *history.Event, o *Op, x *Grant, old time.Duration) {
	if x.End() > old {
		l.fact = Fact{Kind: Postponed, Event: e, Op: o, Grant: x, Key: x.Holder.Key, Old: old}
		l.Dispatch()
		l.crossAgain(x)
	}
}

// vagueBeside counts o, an extension of unknown outcome, once more or once less (n) for the
// leases that it may have been of, beside its own.
func (h *Holder) vagueBeside(o *Op, n int) {
	for x := range h.Leases {
		if x != o.Grant && x.OKIdx < o.OKIdx && o.MaySpeakOf(x) && (x.Rare == nil || x.Rare.VagueBy != o.InvIdx) {
			if n > 0 {
				x.vagueBy(o.InvIdx)
			} else {
				x.Rarely().VagueExtensions = max(x.Rarely().VagueExtensions+n, 0)
			}
		}
	}
}

// vagueBy counts an extension of unknown outcome, which may have been of g, by its invocation.
func (g *Grant) vagueBy(idx int) {
	r := g.Rarely()
	if r.VagueExtensions++; r.FirstVague == 0 || idx < r.FirstVague {
		r.FirstVague = idx
	}
}

// MaySpeakOf says whether o, which bears a token or none, may be of x.
func (o *Op) MaySpeakOf(x *Grant) bool { return o.Fence == 0 || x.Bears(o.Fence) }

// strayed books that o, an extension that succeeded and bears a token that none of the
// remembered leases of its owner was granted, may have been of any of them.
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

// resumes says whether o, an extension of g's that succeeds, shows that the word that
// may have ended g was of another lease.
func (g *Grant) resumes(o *Op) bool {
	return g.StoppedAt != Never && g.GoesOn() && g.StopIdx < o.InvIdx && g.takenBy(o.Process)
}

// movedBeside notes that an extension that was asked for at from may have made g last until d.
func (g *Grant) movedBeside(from, d time.Duration) {
	if g.Rarely().Beside == 0 || from < g.Rare.besideFrom {
		g.Rare.besideFrom = from
	}
	g.Rare.Beside = max(g.Rare.Beside, d)
}

// LatestFor is until when g may have held, as far as whoever issued something at inv may have
// known: an extension that named no lease, and surely began behind that, does not count.
func (l *Ledger) LatestFor(g *Grant, inv time.Duration, by Stamper) time.Duration {
	if g.Rare == nil || g.Rare.besideFrom > Later(l.From(g, by), inv) {
		return g.Deadline
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

// moveBeside notes that an extension of g's, asked for at from, which bore a token or none
// (0), may have made other leases of h's last until d.
func (h *Holder) moveBeside(g *Grant, fence uint64, from, d time.Duration, by Stamper) {
	for _, x := range [...]*Grant{h.Grant, h.Prior} {
		if x != nil && x != g && x.GoesOn() && (fence == 0 || x.Bears(fence)) {
			x.stampedBy(by)
			x.movedBeside(from, d)
		}
	}
}

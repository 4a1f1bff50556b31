package ledger

import (
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
)

// stopAt ends the definite hold at t, unless it ended before.
func (g *Grant) stopAt(t time.Duration, idx, process int) {
	if g.Rare != nil {
		g.Rare.perhapsOver = false
	}
	switch {
	case t < g.StoppedAt:
		if g.StoppedAt != Never && idx != g.StopIdx { // that may turn out to have come first
			g.Rarely().next = g.otherwise(g.StoppedAt)
		}
		g.StoppedAt, g.StopIdx, g.StopBy = t, idx, int32(process)
	case idx == g.StopIdx: // the same ending, told again
	case g.Rarely().next == 0 || t < g.Rare.next:
		g.Rare.next = t
	}
	if g.Holder.Grant == g {
		g.Holder.over = true
	}
	if g.Place != 0 {
		g.Holder.Key.Overflow.reschedule(g)
	}
}

// refuse notes that o, an operation of g's owner, was refused because g is gone: for each of
// the owner's processes the first such refusal.
func (g *Grant) refuse(o *Op) {
	if g == nil {
		return
	}
	at := &g.Rarely().refused
	for n := 0; *at != nil; n, at = n+1, &(*at).Next {
		if (*at).By == o.Process && (!g.MayNameOther((*at).Fence) || (*at).Fence == o.Fence) {
			return
		}
		if n+1 == MaxDenials {
			g.Rare.Unheard = true
			return
		}
	}
	g.stampedBy(o.By())
	*at = &refusal{T: o.OK, Idx: o.OKIdx, By: o.Process, host: o.Host, Fence: o.Fence}
}

// RefusedTo says whether process had been told by a refusal before the event at idx that g is
// gone.
func (g *Grant) RefusedTo(process, idx int) bool {
	for no := g.Refused(); no != nil; no = no.Next {
		if no.By == process && no.Idx < idx && !g.MayNameOther(no.Fence) {
			return true
		}
	}
	return false
}

// partlyRefused says whether some of the processes that acquired g, each of which may have a
// lease of its own, have not been told that it is gone.
func (g *Grant) partlyRefused() bool {
	if g.Rare == nil || !g.Rare.side {
		return false
	}
	told := func(process int) bool {
		for no := g.Rare.refused; no != nil; no = no.Next {
			if no.By == process {
				return true
			}
		}
		return false
	}
	return !told(g.Process) || slices.ContainsFunc(g.Rare.entrants, func(x entrant) bool { return !told(x.process) })
}

// giveBack notes a release of g that was answered yes and is not the first of its hold.
func (g *Grant) giveBack(o *Op) {
	r := g.Rarely()
	if len(r.GivenBack) == MaxDenials {
		r.Unheard = true
		return
	}
	g.stampedBy(o.By())
	r.GivenBack = append(r.GivenBack, givenBack{o.OK, o.OKIdx, o.Process, o.Fence})
}

// MaxDenials bounds how many processes are remembered that were told of a lease's loss, and how
// many releases after the first. Of any more it is only known that there were some.
const MaxDenials = 32

// releasing applies the invocation of a release. An inner release of a re-entered lease ends
// nothing.
func (l *Ledger) releasing(e *history.Event, o *Op) {
	g := o.Grant
	if g == nil {
		return
	}
	g.stampedBy(o.By())
	o.Holder.stopBeside(g, o.By(), o.Fence, o.Inv, o.InvIdx, true)
	if g.depth > 1 && g.ReleasedAt == Never && !g.goneFor(o.Process) {
		g.leave(o)
		return
	}
	if g.ReleasedAt == Never {
		g.ReleasedAt, g.ReleaseIdx, g.ReleasedBy, g.Releasing = o.Inv, o.InvIdx, o.Process, true
		if g.MayNameOther(o.Fence) {
			g.Rarely().releaseToken = o.Fence
		}
	}
	g.stopAt(o.Inv, o.InvIdx, o.Process)
	l.emit(Releasing, e, o)
	g.Holder.Key.unwatch(g)
}

// goneFor says whether process, which releases g, had been told that the whole hold is gone: by
// a loss that was reported to it, or by a refusal to its owner.
func (g *Grant) goneFor(process int) bool {
	for no := g.Refused(); no != nil; no = no.Next {
		if !g.MayNameOther(no.Fence) {
			return true
		}
	}
	if g.LostAt == Never || g.MayNameOther(g.LossToken()) {
		return false
	}
	neverHeld := g.depth == 2 && g.Rare != nil && g.Rare.latest.by == g.LostBy && g.StopIdx == g.LostIdx && g.StoppedAt <= g.Rare.latest.ok // what the other one had taken once more
	return g.LostBy == process || neverHeld
}

// releaseDone completes a release.
func (l *Ledger) releaseDone(e *history.Event, o *Op) {
	if of := o.Holder.named(o); of != nil && of.OKIdx < o.OKIdx { // it says only now which lease it was of
		l.unrelease(e, o)
		l.Under(o, of)
		l.releasing(e, o)
	}
	switch {
	case o.Grant == nil:
	case o.Outcome == history.Fail && (NeverSent(e.Err) || l.receipts[o.InvIdx] == history.NeverForwarded):
		l.unrelease(e, o)
	case o.Inner:
		l.innerDone(e, o)
	default:
		l.outerDone(e, o)
	}
	if o.Outcome == history.Info {
		l.unsettled(e, o)
	}
}

// renamedSince says whether the history told, while o was under way, of a re-entry that gave g
// another token than o names and a deadline as late as g's is, or that has been moved since: a
// refusal of o then says nothing about that lease.
func (g *Grant) renamedSince(o *Op) bool {
	if !g.TwoTokens() || o.Fence == 0 {
		return false
	}
	r := &g.Rare.latest
	return r.idx > o.InvIdx && r.fence != 0 && r.fence != o.Fence && (r.until >= g.Deadline || g.DeadlineIdx > r.idx)
}

// denyBeside applies a refusal of o to the other leases of its owner that it may be about:
// without a token to those before, with one to all that bear it.
func (l *Ledger) denyBeside(o *Op) {
	h := o.Holder
	named := o.Fence != 0 && o.Grant.Fence == o.Fence
	for x := range h.Leases {
		if x == o.Grant || x.Fence != o.Grant.Fence {
			continue
		}
		older := o.Grant == h.Grant || o.Fence == 0 && o.Grant.acquiredBy(o.Process) && x.OKIdx < o.Grant.OKIdx
		if before := older && x.OK <= o.Inv; before || named && Later(l.From(x, o.By()), x.OK) < o.Inv {
			x.refuse(o)
			x.stopAt(o.OK, o.OKIdx, o.Process)
		}
	}
}

// givenUp notes a release that names no token, by an owner whose latest lease had another
// ending: it may be of the owner's latest lease that goes on, which is released too, then.
func (l *Ledger) givenUp(o *Op) {
	g := o.Grant
	if o.Fence != 0 || g != o.Holder.Grant || g.StopIdx == o.InvIdx {
		return
	}
	p := o.Holder.Prior
	if o.Holder.beside && p != nil && !p.GoesOn() {
		p = nil
		for x := range o.Holder.Leases {
			if x != g && x.GoesOn() && (p == nil || x.OKIdx > p.OKIdx) {
				p = x
			}
		}
	}
	if p == nil || !p.GoesOn() || p.OK > o.Inv {
		return
	}
	p.stampedBy(o.By())
	switch o.Outcome {
	case history.OK, history.Info:
		p.ReleasedAt, p.ReleaseIdx, p.ReleasedBy = o.Inv, o.InvIdx, o.Process
		p.ReleaseUnknown = o.Outcome == history.Info
		if p.ReleaseUnknown && o.Has&history.HasBegan != 0 {
			p.Rarely().Begun = true
		}
		p.stopAt(o.Inv, o.InvIdx, o.Process)
	case history.Fail:
		p.refuse(o)
		p.stopAt(o.OK, o.OKIdx, o.Process)
	}
}

// regain undoes givenUp for o, a release that was never sent.
func (l *Ledger) regain(e *history.Event, o *Op) {
	p := o.Holder.Prior
	if p == nil || p == o.Grant || p.ReleasedAt == Never || p.ReleaseIdx != o.InvIdx {
		return
	}
	old := p.End()
	p.ReleasedAt, p.ReleaseUnknown = Never, false
	if p.StopIdx == o.InvIdx {
		p.stopOtherwise(Never)
	}
	p.Ambiguous = true // it went on beside what has been judged since
	l.recall(p)
	l.outlasted(e, o, p, old)
}

func (l *Ledger) outerDone(e *history.Event, o *Op) {
	g := o.Grant
	if g.ReleaseIdx == o.InvIdx {
		g.Releasing = false
		if o.Outcome == history.Info {
			g.Rarely().GivenUp = o.OK
			g.Rare.Begun = o.Has&history.HasBegan != 0
		}
	}
	l.restop(e, o, o.Inv)
	if o.Late {
		g.releasedBefore(o)
	}
	if g.ReleaseIdx == o.InvIdx && o.Inv > g.ReleasedAt {
		old := g.End()
		g.ReleasedAt = o.Inv
		if g.StopIdx == o.InvIdx {
			g.stopOtherwise(o.Inv)
			l.change(Postponed, e, o, old)
		} else {
			l.crossAgain(g)
		}
	}
	switch {
	case o.Outcome == history.OK:
		if g.ReleaseIdx != o.InvIdx {
			g.giveBack(o)
		}
		if g.ReleaseOK != Never {
			break
		}
		g.ReleaseOK = o.OK
		if g.ReleaseIdx != o.InvIdx {
			g.Rare.ReleaseOKIdx, g.Rare.releaseAgain = o.OKIdx, o.asking()
		}
	case o.Outcome == history.Fail:
		g.refuse(o)
		l.denyBeside(o)
		o.Holder.stopBeside(g, o.By(), o.Fence, o.Inv, o.InvIdx, false)
	}
	l.givenUp(o)
	l.emit(Answered, e, o)
}

// ReleasedOnceMoreBehind says whether the first release of g that was answered yes is not the
// first that was invoked, and was surely invoked after o; eps is how far apart their stamps may
// be.
func (g *Grant) ReleasedOnceMoreBehind(o *Op, eps time.Duration) bool {
	if g.Rare == nil || g.Rare.ReleaseOKIdx == 0 {
		return false
	}
	r := g.Rare.releaseAgain
	return r.by == o.Process && r.idx > o.InvIdx || r.by != o.Process && r.inv > Later(o.Inv, eps)
}

// releasedBefore notes that o, a release of g, began before the event that invoked it.
func (g *Grant) releasedBefore(o *Op) {
	if g.ReleaseIdx == o.InvIdx {
		g.ReleasedAt = min(g.ReleasedAt, o.Inv)
	}
	g.stopAt(o.Inv, o.InvIdx, o.Process)
	g.Ambiguous = true // of what was judged since, some lies behind its release
}

// unrelease undoes what the invocation of o had ended: o was never sent, or is a release of
// another lease than it seemed.
func (l *Ledger) unrelease(e *history.Event, o *Op) {
	g := o.Grant
	l.restop(e, o, Never)
	switch {
	case g == nil:
		return
	case o.Inner:
		l.stay(e, o)
		return
	case g.ReleaseIdx != o.InvIdx || g.ReleasedAt == Never:
		return
	}
	old := g.End()
	l.emit(Unsent, e, o)
	g.ReleasedAt, g.Releasing, g.ReleaseUnknown = Never, false, false
	if g.ReleaseOK != Never && g.Rare != nil && g.Rare.ReleaseOKIdx != 0 { // it was given back once more
		r := g.Rare.releaseAgain
		g.ReleasedAt, g.ReleaseIdx, g.ReleasedBy = r.inv, r.idx, r.by
	}
	if g.StopIdx == o.InvIdx {
		g.stopOtherwise(Never)
	}
	if g.Holder.Grant == g {
		g.Holder.over = g.StoppedAt != Never
	} else {
		g.Holder.beside = true
	}
	g.Ambiguous = true // it went on beside what has been judged since
	l.recall(g)
	l.change(Postponed, e, o, old)
}

// stopOtherwise notes that the ending that seemed to be g's first was only at t. The process
// that stamped any other ending is not remembered.
func (g *Grant) stopOtherwise(t time.Duration) {
	if g.StoppedAt = g.otherwise(t); g.StoppedAt != t {
		g.StopBy = nobody
	}
}

// nobody is the number of no process.
const nobody = -1

// otherwise is when g ended if the ending that seemed to be the first was only at t.
func (g *Grant) otherwise(t time.Duration) time.Duration {
	if g.Rare != nil && g.Rare.next != 0 {
		return min(t, g.Rare.next)
	}
	return t
}

// unsentWords are texts in the error of a release that surely was not sent. Any other error of
// a refused release is the lock's answer.
var unsentWords = []string{
	"connection refused", "not sent", "never sent", "not connected", "no route to host", "network is unreachable", "no such host", "dial ",
}

// NeverSent says whether err, of a release that failed, says that it never was sent.
func NeverSent(err string) bool {
	return err != "" && slices.ContainsFunc(unsentWords, func(word string) bool { return strings.Contains(err, word) })
}

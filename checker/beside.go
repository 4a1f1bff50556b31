package checker

import (
	"slices"
	"time"

	"locktorture/workload/history"
)

// What an owner with several leases is told, or does, without a token that tells which
// of them is meant, may have been of each: the definite hold of all of them ends with
// it, and an extension may have moved all of them.

// leases calls yield with h's two latest leases, and any others that its key remembers.
func (h *holder) leases(yield func(*grant) bool) {
	for _, x := range [...]*grant{h.grant, h.prior} {
		if x != nil && !yield(x) {
			return
		}
	}
	for _, x := range h.key.held {
		if x.holder == h && x != h.grant && x != h.prior && !yield(x) {
			return
		}
	}
}

// stopBeside ends, at t, the definite hold of the leases that the word at idx, which
// bore a token or none (0) and ended g, may have been of as well.
func (h *holder) stopBeside(g *grant, process int, fence uint64, t time.Duration, idx int) {
	if !h.beside {
		return
	}
	for x := range h.leases {
		if x != g && x.stop == never && (x.d > t || x.extends > 0) && (fence == 0 || x.bears(fence)) && !(g.takenBy(process) && g.apartFrom(x)) {
			x.stopAt(t, idx)
			x.inTrouble().perhaps = true
			x.unshown = true
		}
	}
}

// apartFrom says whether the process that took g tells it from x: by the mode, or the
// token.
func (g *grant) apartFrom(x *grant) bool {
	return g.mode != x.mode || g.fence != 0 && x.fence != 0 && !x.bears(g.fence)
}

// restop books that o, a release, which may have been of other leases than its own as
// well, began only at t, or never.
func (j *Judge) restop(e *history.Event, o *op, t time.Duration) {
	if !o.holder.beside {
		return
	}
	for _, x := range slices.Collect(o.holder.leases) {
		if x == o.grant || x.stop == never || x.stopIdx != o.invIdx || !x.goesOn() {
			continue
		}
		old := x.end()
		x.stop = t
		if t == never {
			x.trouble.perhaps = false
			j.recall(x)
		}
		if x == o.holder.grant {
			o.holder.over = t != never
		}
		if x.end() > old {
			j.f = fact{what: postponed, e: e, op: o, grant: x, key: x.holder.key, old: old}
			j.dispatch(&j.f)
		}
	}
}

// strayed books that o, an extension that succeeded and bears a token that none of the
// remembered leases of its owner was granted, may have been of any of them.
func (j *Judge) strayed(o *op) {
	if o.outcome != history.OK {
		return
	}
	d, _ := j.deadline(o)
	o.holder.moveBeside(nil, 0, d)
	for _, x := range [...]*grant{o.holder.grant, o.holder.prior} {
		if x != nil {
			j.serve(x, o, d)
		}
	}
}

// resumes says whether o, an extension of g's that succeeds, shows that the word that
// may have ended g was of another lease.
func (g *grant) resumes(o *op) bool {
	return g.stop != never && g.goesOn() && g.stopIdx < o.invIdx && g.takenBy(o.process)
}

// moveBeside notes that an extension of g's, which bore a token or none (0), may have
// made other leases of h's last until d.
func (h *holder) moveBeside(g *grant, fence uint64, d time.Duration) {
	for _, x := range [...]*grant{h.grant, h.prior} {
		if x != nil && x != g && x.goesOn() && (fence == 0 || x.bears(fence)) {
			x.inTrouble().beside = max(x.trouble.beside, d)
		}
	}
}

package reference

import (
	"slices"
	"time"

	"locktorture/workload/history"
)

// exclusion decides S1, S10, S7 and, over triples, S5.
func (j *judge) exclusion() {
	for _, g := range j.grants {
		j.stillborn(g)
		for _, h := range j.grants {
			if g.to.index < h.to.index && conflict(g, h) {
				j.doubleGrant(g, h)
			}
			if g != h && conflict(g, h) {
				j.takeover(g, h)
			}
		}
	}
}

func (j *judge) doubleGrant(g, h *grant) {
	sure, perhaps := overlap(g, h)
	j.claim("S1", answer(sure > j.uncertainty(g, h) || j.atOnce(g, h), perhaps > j.least(g, h)), g.Key, g.events(), h.events())
}

// takeover claims S10: h was granted while the TTL of g ran, and nobody had released g.
func (j *judge) takeover(g, h *grant) {
	if h.to.index < g.from.index {
		return
	}
	sure, _ := overlap(g, h)
	early := h.nested == No && (sure > j.uncertainty(g, h) || j.atOnce(g, h)) && j.surely(g.to, h.from) && !j.released(g, h) && j.killed(g, h)
	ran := h.to.time < g.from.time+j.history.Header.TTL
	j.claim("S10", answer(early && ran, g.possible().to >= h.to.time), g.Key, g.events(), h.events())
}

// killed reports whether a node surely lost its memory between two grants, and
// had not been heard of the first one since.
func (j *judge) killed(g, h *grant) bool {
	heard := g.to.index
	for _, o := range j.ops {
		if o.Key == g.Key && o.Owner == g.Owner && o.Kind == history.OK {
			heard = max(heard, o.to.index)
		}
	}
	for i := heard; i < h.from.index; i++ {
		if e := &j.history.Events[i]; e.Op == history.Fault && e.Kind == history.OK && e.Fault == "kill-node" {
			return true
		}
	}
	return false
}

// released reports whether anybody's release may have ended g before h was granted.
func (j *judge) released(g, h *grant) bool {
	for _, o := range j.ops {
		late := o.from.index < g.from.index && o.Kind != history.Info && o.to.index < g.from.index
		if o.Op == history.Release && o.Key == g.Key && o.from.index < h.to.index && !late {
			return true
		}
	}
	return false
}

func (j *judge) stillborn(g *grant) {
	until := g.from.time + j.history.Header.TTL - j.history.Header.Drift
	if g.HasAll(history.HasValidUntil) {
		until = g.ValidUntil
	}
	over := g.to.time >= until && !(g.waits && !g.HasAll(history.HasValidUntil))
	j.claim("S7", answer(over && g.nested == No, over), g.Key, g.events())
}

// extensions decides S6.
func (j *judge) extensions() {
	h := j.history.Header
	checked := h.OwnerCheckedRelease == nil || *h.OwnerCheckedRelease
	for _, o := range j.ops {
		told := o.Kind == history.OK || o.executed
		if told && (o.Op == history.Extend || o.Op == history.Release && checked) {
			for _, g := range j.of(o.Key, o.Owner) {
				j.acrossLoss(o, g)
			}
		}
	}
}

func (j *judge) acrossLoss(o *operation, g *grant) {
	if !j.perhaps(g.to, o.from) {
		return
	}
	mine := span{g.to.time, o.from.time}
	sure := o.Kind == history.OK && j.addressed(o, g)
	for _, h := range j.grants {
		if !conflict(g, h) {
			continue
		}
		var lies time.Duration
		for _, s := range h.definite() {
			lies = max(lies, s.overlap(mine))
		}
		long := lies > j.uncertainty(g, h) || j.inTurn(g, h, o)
		proved := sure && h.nested == No && long && j.surely(g.to, h.from) && j.surely(h.to, o.from)
		a := answer(proved, h.possible().overlap(mine) > j.least(g, h) && j.perhaps(h.to, o.from))
		j.claim("S6", a, g.Key, g.events(), h.events(), o.events())
	}
}

// inTurn reports whether one process was granted g, then h, and then invoked o, while h
// had time left when it was granted.
func (j *judge) inTurn(g, h *grant, o *operation) bool {
	lasts := slices.ContainsFunc(h.held, func(s span) bool { return s.from == h.to.time && min(s.to, h.low, h.known) > s.from })
	return alone(g, h) && o.from.process == g.process() && g.to.index < h.to.index && h.to.index < o.from.index && lasts
}

// addressed reports whether the operation o is surely about g: the newest lease that was
// answered before, by its token when it names one, and without an ending.
func (j *judge) addressed(o *operation, g *grant) bool {
	var newest *grant
	for _, other := range j.of(o.Key, o.Owner) {
		if j.perhaps(other.to, o.from) && (o.token() == 0 || other.Fence == o.token()) {
			newest = other
		}
	}
	if newest != g || !j.surely(g.to, o.from) {
		return false
	}
	if o.renamed() && slices.ContainsFunc(j.of(o.Key, o.Owner), func(x *grant) bool { return x.Fence == o.Fence }) {
		return false // its answer names another one
	}
	for _, other := range j.of(o.Key, o.Owner) {
		if other.to.index > g.to.index && other.to.index < o.to.index || other != g && j.perhaps(g.to, other.to) && j.perhaps(other.to, o.from) {
			return false
		}
	}
	for _, e := range g.endings {
		if j.perhaps(e.must, o.from) && e.may.index != o.from.index && e.must.index != o.to.index {
			return false
		}
	}
	return true
}

// releases decides S5.
func (j *judge) releases() {
	for _, o := range j.ops {
		if o.Op != history.Release || o.Kind != history.OK && !o.executed {
			continue
		}
		for _, g := range j.of(o.Key, o.Owner) {
			for _, victim := range j.grants {
				for _, third := range j.grants {
					j.foreign(o, g, victim, third)
				}
			}
		}
	}
}

func (j *judge) foreign(o *operation, g, victim, third *grant) {
	if victim.Key != g.Key || victim.Owner == g.Owner || !conflict(victim, third) {
		return
	}
	epsilon := j.uncertainty(g, victim, third)
	inside := false
	for _, s := range victim.definite() {
		inside = inside || s.from == victim.to.time && o.from.time-s.from > epsilon && s.to-third.to.time > epsilon && s.to-o.to.time > epsilon
	}
	order := j.surely(victim.to, o.from) && j.surely(o.to, third.from)
	readers := g.Mode == history.Shared || victim.Mode == history.Shared
	late := !readers && g.nested == No && o.Kind == history.OK && j.addressed(o, g) && o.from.time-j.latest(g, o.from) >= epsilon
	possible := victim.possible()
	fresh := third.nested == No // a re-entry shows nothing of a removal
	a := answer(inside && order && late && fresh,
		o.from.time >= j.lowest(g, o.from) && j.perhaps(victim.from, o.to) && j.perhaps(o.from, third.to) && (possible.to > third.to.time || j.heldAt(victim, third.to)))
	j.claim("S5", a, g.Key, o.events(), victim.events(), third.events())
}

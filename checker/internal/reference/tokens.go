package reference

import (
	"slices"

	"locktorture/workload/history"
)

// tokens decides S4 and S4b.
func (j *judge) tokens() {
	for _, g := range j.grants {
		for _, h := range j.grants {
			readers := g.Mode == history.Shared && h.Mode == history.Shared
			if g == h || g.Key != h.Key || g.Fence == 0 || h.Fence == 0 {
				continue
			}
			if g.to.index < h.to.index {
				j.sameToken(g, h, readers)
			}
			if !readers && h.Fence <= g.Fence && j.surely(g.to, h.from) {
				j.claim("S4", answer(h.Fence < g.Fence && h.nested == No && g.nested == No, true), g.Key, g.events(), h.events())
			}
		}
	}
	for _, o := range j.ops {
		if o.Op == history.Extend && o.Kind == history.OK && o.Fence != 0 {
			j.changedByExtension(o)
		}
	}
}

// turnedAway: the store rejected a write within a lease of a lower token than one whose lease had been given
// back when the other one was granted, though the two had been asked for side by side (S4). The definitions
// leave open whether that is proved.
func (j *judge) turnedAway(w *write) {
	if w.Kind != history.Fail || !w.rejected || w.token() == 0 || !j.history.Header.Fenced {
		return
	}
	for _, g := range j.of(w.Key, w.Owner) {
		for _, h := range j.grants {
			higher := g.Fence == w.token() && h.Key == g.Key && h.Owner != g.Owner && h.Fence > g.Fence && g.Mode == history.Exclusive && h.Mode == history.Exclusive
			for _, o := range j.ops {
				back := o.Op == history.Release && o.Kind == history.OK && o.Key == h.Key && o.Owner == h.Owner && (o.token() == 0 || o.token() == h.Fence)
				if higher && back && j.surely(o.to, g.to) && j.perhaps(g.to, w.from) {
					j.claim("S4", Open, g.Key, g.events(), h.events(), o.events(), w.events())
				}
			}
		}
	}
}

// sameToken compares two grants, of which g was answered first.
func (j *judge) sameToken(g, h *grant, readers bool) {
	same := g.Fence == h.Fence
	switch {
	case g.Owner == h.Owner && same:
		j.claim("S4b", answer(h.keeps == No && !readers, !h.excused || !j.newest(g, h)), g.Key, g.events(), h.events())
	case g.Owner == h.Owner:
		is := h.into[g]
		j.claim("S4b", answer(is == Violation && j.newest(g, h) && h.keeps == No && !j.perhapsOver(g, h), is != No), g.Key, g.events(), h.events())
	case same && !readers:
		j.claim("S4b", Violation, g.Key, g.events(), h.events())
	}
}

// perhapsOver reports whether an ending of which the history tells after h may have ended g
// before h was answered, as far as the clocks tell.
func (j *judge) perhapsOver(g, h *grant) bool {
	return slices.ContainsFunc(g.endings, func(e ending) bool { return !e.unsent && j.perhaps(e.may, h.to) })
}

// newest reports whether no other grant of their owner lies between g and h.
func (j *judge) newest(g, h *grant) bool {
	for _, other := range j.of(g.Key, g.Owner) {
		if g.to.index < other.to.index && other.to.index < h.to.index {
			return false
		}
	}
	return true
}

func (j *judge) changedByExtension(o *operation) {
	own := j.of(o.Key, o.Owner)
	for _, g := range own {
		if g.Fence == 0 || g.Fence == o.Fence {
			continue
		}
		alone := len(own) == 1 && j.surely(g.to, o.from)
		j.claim("S4b", answer(alone, true), g.Key, g.events(), o.events())
	}
}

package reference

import (
	"slices"

	"locktorture/workload/history"
)

// sections decides S3: an interleaved section, and the lost update.
func (j *judge) sections() {
	for _, first := range j.writes {
		for _, last := range j.writes {
			if first == last || !first.accepted || !last.accepted || first.Key != last.Key {
				continue
			}
			if first.from.index < last.from.index {
				j.lostUpdate(first, last)
			}
			for _, between := range j.writes {
				j.interleaved(first, between, last)
			}
		}
	}
}

func (j *judge) interleaved(first, between, last *write) {
	if first.Owner != last.Owner || between.Owner == first.Owner || between.Key != first.Key || !between.accepted {
		return
	}
	order := j.behind(first, between) && j.behind(between, last)
	if !order {
		return
	}
	section := j.sameSection(first, last)
	acked := first.acked && between.acked && last.acked
	sure := section == Violation && acked && !first.doubtful && !between.doubtful && !last.doubtful && !j.readers(first, between) && !j.arrived(between, last) && !j.numberedTwice(first.Key)
	j.claim("S3", answer(sure, section != No), first.Key, first.events(), between.events(), last.events())
}

// arrived reports whether the writers say themselves when they wrote: where the write
// between was issued then counts, and not where it arrived.
func (j *judge) arrived(between, last *write) bool {
	outside := slices.ContainsFunc(j.of(last.Key, last.Owner), func(g *grant) bool { return j.surely(between.to, g.from) })
	return between.said && (last.said || outside)
}

// numberedTwice reports whether the store gave one number to two writes of a key: its
// order proves nothing then.
func (j *judge) numberedTwice(key string) bool {
	for i, a := range j.writes {
		for _, b := range j.writes[:i] {
			if a.Key == key && b.Key == key && a.seq != 0 && a.seq == b.seq {
				return true
			}
		}
	}
	return false
}

// behind reports whether the store took b after a.
func (j *judge) behind(a, b *write) bool {
	if a.seq != 0 && b.seq != 0 {
		return a.seq < b.seq
	}
	return a.acked && b.acked && j.surely(a.to, b.from)
}

// sameSection says whether two writes of one owner belong to one critical section.
func (j *judge) sameSection(a, b *write) Answer {
	if a.token() != 0 && b.token() != 0 {
		of, other := j.granted(a), j.granted(b)
		if a.token() != b.token() {
			return answer(false, of == 0 || other == 0 || j.reentrant(a)) // one bears no token of its owner's, or a re-entry changed it
		}
		return answer(of == 1 && j.quiet(a, b), true)
	}
	return answer(a.from.process == b.from.process && a.token() == b.token() && j.quiet(a, b), true)
}

// reentrant reports whether a writer may have re-entered its lease.
func (j *judge) reentrant(w *write) bool {
	return slices.ContainsFunc(j.of(w.Key, w.Owner), func(g *grant) bool { return g.nested != No })
}

// granted counts the leases of its owner whose token a write bears.
func (j *judge) granted(w *write) int {
	n := 0
	for _, g := range j.of(w.Key, w.Owner) {
		if g.Fence == w.token() && j.perhaps(g.to, w.from) {
			n++
		}
	}
	return n
}

// quiet reports whether one grant was answered before both writes, and no word
// about a lease of their owner's came between it and the later one.
func (j *judge) quiet(a, b *write) bool {
	from, to := min(a.from.index, b.from.index), max(a.from.index, b.from.index)
	later := a
	if b.from.index == to {
		later = b
	}
	var newest *grant
	for _, g := range j.of(a.Key, a.Owner) {
		if g.to.index < to {
			newest = g
		}
	}
	if newest == nil || newest.to.index > from || !j.surely(newest.to, a.from) || !j.surely(newest.to, b.from) {
		return false
	}
	for _, o := range j.ops {
		concerns := o.Key == a.Key && o.Owner == a.Owner && o.Op != history.Write && o.Op != history.Read
		if concerns && o != newest.operation && o.to.index > newest.to.index && (o.from.index < to || j.perhaps(o.from, later.from)) {
			return false
		}
	}
	return true
}

// readers reports whether both may have written under a shared lease.
func (j *judge) readers(a, b *write) bool {
	shared := func(w *write) bool {
		if w.Mode == history.Shared {
			return true
		}
		for _, g := range j.of(w.Key, w.Owner) {
			if g.Mode == history.Shared {
				return true
			}
		}
		return false
	}
	return shared(a) && shared(b)
}

func (j *judge) lostUpdate(a, b *write) {
	if !a.HasAll(history.HasBase) || !b.HasAll(history.HasBase) || a.Base != b.Base || !a.acked || !b.acked {
		return
	}
	attempts := a.Owner != b.Owner || a.token() != 0 && b.token() != 0 && a.token() != b.token()
	sure := attempts && !j.readers(a, b) && !a.doubtful && !b.doubtful && a.seq != b.seq && min(a.seq, b.seq) > a.Base
	j.claim("S3", answer(sure, true), a.Key, a.events(), b.events())
}

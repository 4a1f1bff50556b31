package reference

import (
	"slices"

	"locktorture/workload/history"
)

// A write is one that was asked for, and what became of it.
type write struct {
	*operation
	accepted bool // by its answer, or by the store's log
	rejected bool
	acked    bool // accepted by its answer
	doubtful bool // the answer and the log disagree, or a receipt alone speaks
	seq      uint64
	logged   uint64 // the highest token that the log says of it, when it was asked for with none
	audits   []int  // its lines of the log
}

func (w *write) events() []int {
	return append([]int{w.from.index, w.to.index}, w.audits...)
}

// landed gathers the writes.
func (j *judge) landed() {
	for _, o := range j.ops {
		if o.Op != history.Write {
			continue
		}
		w := &write{operation: o, acked: o.Kind == history.OK, seq: o.Seq}
		w.accepted, w.rejected = w.acked, o.Kind == history.Fail && o.Seq != 0
		w.doubtful = o.executed || o.unsent
		for _, a := range j.log() {
			if a.Key != o.Key || a.Value != o.Value {
				continue
			}
			w.doubtful = w.doubtful || len(w.audits) > 0 && ((a.Kind == history.OK) != w.accepted || a.Seq != w.seq) // the log has two minds
			w.audits = append(w.audits, a.Index)
			w.doubtful = w.doubtful || (a.Kind == history.OK) != w.accepted && o.Kind != history.Info || w.seq != 0 && a.Seq != w.seq
			w.accepted, w.rejected = a.Kind == history.OK, a.Kind == history.Fail
			w.seq = a.Seq
			if o.token() == 0 {
				w.logged = max(w.logged, a.Fence)
			}
		}
		j.writes = append(j.writes, w)
	}
}

// undisputed returns h without the lines of the store's log that say something else than
// their client was told, or than a line before said of the same write, and whether there
// are any. An event of no consequence stands in
// place of each, so that the others keep their numbers.
func undisputed(h history.History) (told history.History, differs bool) {
	told = h
	told.Events = slices.Clone(h.Events)
	for _, o := range read(h).ops {
		var before *history.Event
		for i := range told.Events {
			a := &told.Events[i]
			same := a.Op == history.Audit && o.Op == history.Write && a.Key == o.Key && a.Value == o.Value
			if same && before == nil && o.Kind == history.Info {
				before = &h.Events[i]
			}
			if same && (o.Kind != history.Info && (a.Kind != o.Kind || a.Seq != o.Seq) || before != nil && (a.Kind != before.Kind || a.Seq != before.Seq)) {
				*a = history.Event{Index: a.Index, Time: a.Time, Process: history.Nemesis, Kind: history.OK, Op: history.Phase}
				differs = true
			}
		}
	}
	return told, differs
}

// log returns what the store's own log says.
func (j *judge) log() []*history.Event {
	var found []*history.Event
	for i := range j.history.Events {
		if e := &j.history.Events[i]; e.Op == history.Audit {
			found = append(found, e)
		}
	}
	return found
}

// effects decides S2, S8 and S3z.
func (j *judge) effects() {
	j.landed()
	for _, w := range j.writes {
		if !w.accepted {
			continue
		}
		j.unconfirmed(w)
		for _, older := range j.writes {
			if older.accepted && older != w && older.Key == w.Key && j.history.Header.Fenced {
				j.stale(w, older)
			}
		}
	}
}

// stale: w was accepted behind older, which had borne a higher token.
func (j *judge) stale(w, older *write) {
	token, before := max(w.token(), w.logged), max(older.token(), older.logged)
	if token == 0 || before <= token {
		return
	}
	var behind bool
	switch {
	case w.seq != 0 && older.seq != 0:
		behind = older.seq < w.seq
	default:
		behind = w.acked && older.acked && j.surely(older.to, w.from)
	}
	j.claim("S2", answer(behind && w.logged == 0 && older.logged == 0 && !w.doubtful && !older.doubtful && !j.numberedTwice(w.Key), behind), w.Key, w.events(), older.events())
}

// unconfirmed decides whether w was written without a lease (S8), or behind the
// deadline of one (S3z).
func (j *judge) unconfirmed(w *write) {
	all := j.of(w.Key, w.Owner)
	var mine []*grant
	for _, g := range all {
		if w.token() == 0 || g.Fence == 0 || g.Fence == w.token() {
			mine = append(mine, g)
		}
	}
	if len(mine) == 0 {
		mine = all
	}
	s8, knows := !j.covered(w, all), j.triedAgain(w, all)
	if newest := len(all) - 1; newest >= 0 && w.token() != 0 && !slices.ContainsFunc(all, func(g *grant) bool { return g.Fence == 0 || g.Fence == w.token() }) {
		mine = all[newest:] // under which lease it was issued, with a token of none, is open
	}
	told, alike := j.toldOfNewest(w, all)
	j.claim("S8", answer((s8 || told) && !w.doubtful && (!muddled(all) || j.goneEach(w, all)), alike || knows || !j.surelyCovered(w, mine)), w.Key, w.events())
	if s8 || told {
		return
	}
	late, perhapsLate := true, true
	for _, g := range all {
		if j.endedBefore(g, w) {
			continue
		}
		eps := j.between(g, w.operation)
		if g.beside > g.first { // another process may have stamped that
			eps = j.history.Header.Epsilon
		}
		due := j.latest(g, w.from)
		if g.waits && !g.HasAll(history.HasValidUntil) {
			due = max(due, g.to.time+j.history.Header.TTL-j.history.Header.Drift)
		}
		late = late && (j.surely(w.from, g.to) || w.from.time-due > eps)
	}
	for _, g := range mine {
		if j.endedBefore(g, w) {
			continue
		}
		within := j.lowest(g, w.from) >= w.from.time && j.surelyCovered(w, []*grant{g})
		perhapsLate = perhapsLate && !within
	}
	unfenced := !j.history.Header.Fenced
	proved := late && !alike && !knows && j.surelyCovered(w, all) && j.surelyCovered(w, mine) && !w.doubtful && unfenced
	j.claim("S3z", answer(proved, perhapsLate && (unfenced || w.token() == 0)), w.Key, w.events())
}

// toldOfNewest handles a write w that bears no token, issued after an ending of its owner's
// newest lease, when its other leases had run out before the newest was asked for. If the
// process that had been granted the newest wrote it, it is a write after the ending (S8), which
// takes precedence over the older deadlines (S3z). If another process did, either is right
// (alike).
func (j *judge) toldOfNewest(w *write, all []*grant) (told, alike bool) {
	had := slices.DeleteFunc(slices.Clone(all), func(g *grant) bool { return j.surely(w.from, g.to) })
	if len(had) < 2 || w.token() != 0 {
		return false, false
	}
	newest := had[len(had)-1]
	if !j.endedBefore(newest, w) || !j.surely(newest.to, w.from) {
		return false, false
	}
	for _, g := range had[:len(had)-1] {
		if newest.from.time-j.latest(g, newest.from) <= j.uncertainty(g, newest) || newest.into[g] != No {
			return false, false
		}
	}
	return newest.process() == w.Process, true
}

// muddled reports whether a re-entry changed the token, so that it is open which lease an
// operation is about.
func muddled(grants []*grant) bool {
	return slices.ContainsFunc(grants, func(g *grant) bool { return g.nested > g.keeps })
}

// goneEach reports whether the owner had, before w, a refusal or a reported loss for each lease
// that it was granted, each naming that lease's token.
func (j *judge) goneEach(w *write, grants []*grant) bool {
	return !slices.ContainsFunc(grants, func(g *grant) bool {
		return j.perhaps(g.to, w.from) && !slices.ContainsFunc(j.ops, func(o *operation) bool {
			refused := (o.Op == history.Extend || o.Op == history.Release) && o.Kind == history.Fail && !o.unsent && !o.perhapsUnsent
			of := o.Key == g.Key && o.Owner == g.Owner && g.Fence != 0 && o.token() == g.Fence
			return (refused || o.Op == history.Lost) && of && j.surely(g.to, o.from) && j.surely(o.to, w.from)
		})
	})
}

// triedAgain reports whether the owner, of which no lease surely lasts at w, may have tried in
// vain to acquire the key before w: it may know that it holds nothing.
func (j *judge) triedAgain(w *write, grants []*grant) bool {
	for _, g := range grants {
		if !j.endedBefore(g, w) && j.surely(g.to, w.from) && w.from.time < j.lowest(g, w.from) && !j.allGivenBack(g, w) {
			return false
		}
	}
	return slices.ContainsFunc(j.ops, func(o *operation) bool {
		vain := o.Op == history.Acquire && o.Kind != history.OK && o.Key == w.Key && o.Owner == w.Owner
		return vain && j.perhaps(o.from, w.from)
	})
}

// allGivenBack reports whether, before w, each process that had been granted one of the leases
// had released one, or been refused an operation on one, for each lease that it was granted and
// that lasts: which of these was about which lease is open, but none is left.
func (j *judge) allGivenBack(g *grant, w *write) bool {
	var releases []*operation
	for _, o := range j.ops {
		refused := (o.Op == history.Release || o.Op == history.Extend) && o.Kind == history.Fail && !o.unsent && !o.perhapsUnsent
		word := refused || o.Op == history.Release && o.Kind == history.OK
		if word && o.Key == g.Key && o.Owner == g.Owner && o.asked == 0 && o.Fence == 0 && j.surely(o.to, w.from) {
			releases = append(releases, o)
		}
	}
	left := slices.Clone(releases)
	for _, x := range j.of(g.Key, g.Owner) {
		if x != g && !slices.ContainsFunc(releases, func(o *operation) bool { return j.perhaps(x.from, o.to) }) {
			continue // asked for behind them all
		}
		if x != g && w.from.time >= j.lowest(x, w.from) {
			continue
		}
		i := slices.IndexFunc(left, func(o *operation) bool { return o.Process == x.process() && o.from.index > x.to.index })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

// covered reports whether some grant may have been answered before w and have no ending before
// it.
func (j *judge) covered(w *write, grants []*grant) bool {
	for _, g := range grants {
		if !j.endedBefore(g, w) && j.perhaps(g.to, w.from) {
			return true
		}
	}
	return false
}

// endedBefore reports whether g surely had an ending before w.
func (j *judge) endedBefore(g *grant, w *write) bool {
	return slices.ContainsFunc(g.endings, func(e ending) bool {
		return e.sure && j.surely(e.must, w.from) && !(e.unheard && w.said && e.must.process != w.from.process)
	})
}

// surelyCovered reports whether some grant was answered before w and can have no ending before
// it.
func (j *judge) surelyCovered(w *write, grants []*grant) bool {
	for _, g := range grants {
		over := false
		for _, e := range g.endings {
			over = over || !e.unsent && j.perhaps(e.may, w.from)
		}
		if !over && j.surely(g.to, w.from) {
			return true
		}
	}
	return false
}

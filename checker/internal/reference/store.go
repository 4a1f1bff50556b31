package reference

import "locktorture/workload/history"

// store decides R1 to R5.
func (j *judge) store() {
	log := j.log()
	if len(log) > 0 {
		j.missing(log)
	}
	for _, a := range log {
		j.unasked(a)
	}
	j.twice(log)
	for _, w := range j.writes {
		j.rightfulRejected(w)
		j.turnedAway(w)
		j.borrowed(w)
	}
}

// missing: an acknowledged write that the log lacks (R1). A log that lists none of
// them may tell of unknown outcomes only. Whether one that is cut off would have said more
// of a write is open.
func (j *judge) missing(log []*history.Event) {
	whole := false
	for _, w := range j.writes {
		for _, a := range log {
			whole = whole || w.acked && a.Key == w.Key && a.Value == w.Value
		}
	}
	for _, w := range j.writes {
		found, listed := false, false // under the number that its client was told, or at all
		for _, a := range log {
			listed = listed || a.Key == w.Key && a.Value == w.Value
			found = found || a.Key == w.Key && a.Value == w.Value && a.Kind == history.OK && (a.Seq == 0 || w.Seq == 0 || a.Seq == w.Seq)
		}
		if w.acked && !found && (listed || !j.history.Truncated) {
			j.claim("R1", answer(whole && !j.history.Truncated, true), w.Key, w.operation.events())
		}
	}
}

// unasked: a line of the log that was rejected, or that nobody asked for, as it stands
// there (R2).
func (j *judge) unasked(a *history.Event) {
	if a.Kind != history.OK {
		return
	}
	for _, w := range j.writes {
		if w.Key == a.Key && w.Value == a.Value {
			if a.Owner != "" && a.Owner != w.Owner || a.Fence != 0 && w.token() != 0 && a.Fence != w.token() {
				continue // somebody else did, or with another token
			}
			j.claim("R2", answer(w.Kind == history.Fail && !w.perhapsUnsent, w.Kind == history.Fail || w.unsent), a.Key, []int{a.Index})
			return
		}
	}
	j.claim("R2", Violation, a.Key, []int{a.Index})
}

// twice: one sequence number for two writes (R3).
func (j *judge) twice(log []*history.Event) {
	type numbered struct {
		key, value string
		seq        uint64
		events     []int
	}
	var all []numbered
	for _, o := range j.ops {
		if o.Op == history.Write && o.Seq != 0 {
			all = append(all, numbered{o.Key, o.Value, o.Seq, o.events()})
		}
	}
	for _, a := range log {
		if a.Seq != 0 {
			all = append(all, numbered{a.Key, a.Value, a.Seq, []int{a.Index}})
		}
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if a.seq == b.seq && (a.value != b.value || a.key != b.key) {
				j.claims = append(j.claims, Claim{ID: "R3", Keys: []string{a.key, b.key}, Answer: answer(a.key == b.key, true), Proof: [][]int{a.events, b.events}})
			}
		}
	}
}

// rightfulRejected: the store rejected the holder of the newest token (R4). One that
// names a base may have been rejected for it, and a reader's because it only reads.
func (j *judge) rightfulRejected(w *write) {
	if w.Kind != history.Fail || !w.rejected || w.token() == 0 || !j.history.Header.Fenced {
		return
	}
	newest := true
	for _, o := range j.ops {
		newest = newest && (o.Key != w.Key || max(o.token(), o.Fence) <= w.token())
	}
	holds := false
	for _, g := range j.of(w.Key, w.Owner) {
		holds = holds || g.Fence == w.token() && (g.surelyHeldThrough(w.from.time-1, w.to.time+j.between(g, w.operation)) && j.surely(g.to, w.from) || len(g.held) == 1 && j.heldAt(g, w.from) && j.heldAt(g, w.to))
	}
	justified := false
	for _, other := range j.writes {
		before := other.seq != 0 && w.seq != 0 && other.seq < w.seq
		justified = justified || other.Key == w.Key && other.accepted && before && other.token() > w.token()
	}
	j.claim("R4", answer(newest && holds && !w.doubtful && w.Mode == history.Exclusive && !w.HasAll(history.HasBase), !justified), w.Key, w.events())
}

// borrowed: a write with a token that had been granted to others only (R5). Whether
// a later word of its owner's with that token excuses it is open.
// So is it when the log alone shows the write as accepted.
func (j *judge) borrowed(w *write) {
	if w.token() == 0 {
		return
	}
	own, later, others, before := false, false, false, false
	for _, g := range j.grants {
		if g.Key == w.Key && g.Fence == w.token() {
			others = others || g.Owner != w.Owner
			before = before || g.Owner != w.Owner && j.surely(g.to, w.from) && g.to.index < w.to.index
		}
	}
	for _, o := range j.ops {
		if o.Op == history.Write || o.Key != w.Key || o.Owner != w.Owner || o.token() != w.token() && o.Fence != w.token() {
			continue
		}
		after := j.surely(w.to, o.from) || o.token() != w.token() && o.Kind != history.OK
		own, later = own || !after, later || after
	}
	j.claim("R5", answer(others && before && !own && !later && w.acked && !w.doubtful, !own), w.Key, w.events())
}

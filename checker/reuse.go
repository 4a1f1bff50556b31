package checker

// Ops and grants are used again, since collecting them costs much. The memory of
// a grant goes to its own holder's next one but one: key and holder stay the
// same. What may still be looked at is tied, and what is tied at that moment is
// left to the collector for good.

// A tie is what may look at an op or a grant later.
type tie uint8

// Ties of a grant.
const (
	_           tie = iota
	tieHeld         // its key remembers it
	tieActing       // an operation acts under it
	tiePair         // its overlap with another is yet to be judged, or told of
	tieIntruder     // it crossed a lease that may be extended or released yet
	tieCrossing     // it was extended or released across an intruder's hold, which may grow, or is told of
	tieRenewed      // an extension or a release that is not settled may yet show that its lease went on
	tieReleased     // it was released late
	tieVictim       // … and it is what that may have removed
	tieRecent       // it is among its key's latest, for the second opinion
	tieWindow       // it is in a window of the second opinion

	// Ties of an op.
	tieUnknown // its outcome may yet be settled
	tieWaiting // a write before it is open
	tieParked  // an extension under way may yet cover it

	ties // one more than there are
)

// tie keeps g from being used again until it is untied.
func (j *Judge) tie(t tie, g *grant) {
	if t != j.cut {
		g.ties++
	}
}

func (j *Judge) untie(t tie, g *grant) {
	if t != j.cut {
		g.ties--
	}
}

// under says under which lease o acts.
func (j *Judge) under(o *op, g *grant) {
	if o.grant != nil {
		o.grant.acting--
	}
	o.grant = g
	if g != nil {
		g.acting++
	}
}

// newGrant makes place for a grant, where one was that its holder has forgotten.
// The holder's grant in between has taken its place in key.last and key.watch.
func (j *Judge) newGrant(forgotten *grant) *grant {
	if forgotten == nil || forgotten.acting > 0 && j.cut != tieActing {
		return new(grant)
	}
	forgotten.holder.key.unwatch(forgotten)
	forgotten.trouble = nil // it can be neither extended nor released: nobody need know who crossed it
	switch {
	case forgotten.ties > 0:
		return new(grant)
	case j.spoil != nil:
		j.spoil(nil, forgotten)
		return new(grant)
	}
	return forgotten
}

// keepOp keeps o from being used again, for good.
func (j *Judge) keepOp(t tie, o *op) {
	if t != j.cut {
		o.kept = true
	}
}

// recycle takes a completed op back. What its invocation and its completion set
// anew is left standing, and so is what only kept ops have.
func (j *Judge) recycle(o *op) {
	if o.kept {
		return
	}
	o.contended = false
	if o.doubts != nil {
		o.doubts = nil
	}
	j.under(o, nil)
	if j.spoil != nil {
		j.spoil(o, nil)
		return
	}
	o.next = j.free
	j.free = o
}

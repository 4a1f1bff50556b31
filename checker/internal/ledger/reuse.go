package ledger

// Ops and grants are used again, since collecting them costs much. The memory of
// a grant goes to its own holder's next one but one: key and holder stay the
// same. What may still be looked at is pinned, and what is pinned at that moment is
// left to the collector for good.

// Pin keeps g's memory from being reused until it is unpinned.
func (g *Grant) Pin() { g.pins++ }

func (g *Grant) Unpin() { g.pins-- }

// Under notes under which lease o acts.
func (l *Ledger) Under(o *Op, g *Grant) {
	if o.Grant != nil {
		o.Grant.Acting--
	}
	o.Grant = g
	if g != nil {
		g.Acting++
	}
}

// newGrant returns memory for a grant: that of forgotten, a grant of the same holder that its
// key no longer remembers, unless it is pinned.
func (l *Ledger) newGrant(forgotten *Grant) *Grant {
	if forgotten == nil || forgotten.Acting > 0 {
		return new(Grant)
	}
	forgotten.Holder.Key.unwatch(forgotten)
	if forgotten.pins > 0 {
		if forgotten.Rare != nil {
			forgotten.Rare.intruders = nil // it can be neither extended nor released: nobody need know who crossed it
		}
		return new(Grant)
	}
	return forgotten
}

// recycle makes the memory of a completed op available. Fields that an invocation and a
// completion always set, and those that only kept ops have, are not cleared.
func (l *Ledger) recycle(o *Op) {
	if o.Kept {
		return
	}
	if o.Doubts != nil {
		o.Doubts = nil
	}
	l.Under(o, nil)
	o.Next = l.free
	l.free = o
}

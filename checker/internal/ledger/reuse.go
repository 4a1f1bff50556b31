package ledger

// Ops and grants are used again, since collecting them costs much. The memory of
// a grant goes to its own holder's next one but one: key and holder stay the
// same. What may still be looked at is pinned, and what is pinned at that moment is
// left to the collector for good.

// Pin keeps g from being used again until it is unpinned: something may look at it
// later.
func (g *Grant) Pin() { g.pins++ }

func (g *Grant) Unpin() { g.pins-- }

// Under says under which lease o acts.
func (l *Ledger) Under(o *Op, g *Grant) {
	if o.Grant != nil {
		o.Grant.Acting--
	}
	o.Grant = g
	if g != nil {
		g.Acting++
	}
}

// newGrant makes place for a grant, where one was that its holder has forgotten.
// The holder's grant in between has taken its place in key.last and key.watch.
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

// recycle takes a completed op back. What its invocation and its completion set
// anew is left standing, and so is what only kept ops have.
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

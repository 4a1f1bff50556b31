package ledger

import (
	"slices"

	"locktorture/workload/history"
)

// Ended grants that a key remembers, for what is told of them late; more while
// one that ran out unreleased may yet be extended.
const (
	Remembered     = 4
	RememberedOpen = 16
)

// remember adds g to its key's grants.
func (l *Ledger) remember(g *Grant) {
	k := g.Holder.Key
	if len(k.Held) > Remembered {
		l.forget(k)
	}
	if len(k.Held) >= MostHeld {
		l.makeRoom(k)
	}
	g.Pin()
	k.Held = append(k.Held, g)
}

// recall remembers g again, if its key has forgotten it.
func (l *Ledger) recall(g *Grant) {
	if g.Place == 0 && !slices.Contains(g.Holder.Key.Held, g) {
		l.remember(g)
	}
}

// heldAgainst says whether an acquire meets another owner's hold: one that is
// definite, or whose lease has run out without having been given up.
func (k *Key) heldAgainst(o *Op) bool {
	if g := k.Last; g != nil && g.Holder != o.Holder && g.ReleasedAt == Never && !g.ReportedLost() {
		return true
	}
	for _, g := range k.Held {
		if g.Holder != o.Holder && g.OK <= o.Inv && g.End() > o.Inv {
			return true
		}
	}
	return k.OverflowUntil() > o.Inv
}

// letGo forgets x, which has ended.
func (k *Key) letGo(x *Grant) {
	k.Forgotten[x.Mode] = max(k.Forgotten[x.Mode], x.End())
	x.Unpin()
}

// ForgottenBeside says whether a grant of g's key that is no longer remembered may have
// lasted when g was answered, and excluded it.
func (g *Grant) ForgottenBeside() bool {
	k := g.Holder.Key
	return g.OK < k.Forgotten[history.Exclusive] || g.Mode == history.Exclusive && g.OK < k.Forgotten[history.Shared]
}

// makeRoom makes place among k's grants: the oldest one goes to the overflow, a
// reader first, since what a reader excludes is rarer.
func (l *Ledger) makeRoom(k *Key) {
	at := max(slices.IndexFunc(k.Held, func(x *Grant) bool { return x.Mode == history.Shared }), 0)
	x := k.Held[at]
	k.Held = slices.Delete(k.Held, at, at+1)
	l.overflow(k, x)
}

// forget makes k forget the grants that ended long ago.
func (l *Ledger) forget(k *Key) {
	over, limit := 0, Remembered
	for _, x := range k.Held {
		if x.End() > l.Now {
			continue
		}
		if x.Extending == 0 {
			over++
		}
		if x.StoppedAt == Never {
			limit = RememberedOpen
		}
	}
	for i := 0; over > limit; {
		x := k.Held[i]
		if x.End() > l.Now || x.Extending > 0 {
			i++
			continue
		}
		over--
		k.letGo(x)
		k.Held = append(k.Held[:i], k.Held[i+1:]...)
	}
}

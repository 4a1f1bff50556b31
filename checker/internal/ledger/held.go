package ledger

import (
	"cmp"
	"slices"
	"time"

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

// heldAgainst says whether another owner holds the key when the acquire o is invoked:
// definitely, or by a lease that has run out and was not given up.
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

// drop drops x, which has ended, from the grants of its key.
func (k *Key) drop(x *Grant) {
	k.gone.add(x)
	x.Unpin()
}

// forgottenHolds are the holds of the key's latest grants that are no longer remembered.
type forgottenHolds struct {
	latest []forgottenHold
	next   int
	beyond [2]time.Duration // by mode: when the last one ended that is not among them
}

type forgottenHold struct {
	from, until time.Duration
	owner       int32
	mode        history.Mode
}

// keptForgotten is how many forgotten holds are kept.
const keptForgotten = 64

func (f *forgottenHolds) add(x *Grant) {
	h := forgottenHold{x.OK, x.End(), int32(x.Holder.OwnerNo), x.Mode}
	if len(f.latest) < keptForgotten {
		f.latest = append(f.latest, h)
		return
	}
	old := f.latest[f.next]
	f.beyond[old.mode] = max(f.beyond[old.mode], old.until)
	f.latest[f.next], f.next = h, (f.next+1)%keptForgotten
}

// MetForgotten says whether a grant of the key that is no longer remembered, and that excludes
// g, held between two instants, or may have.
func (g *Grant) MetForgotten(from, until time.Duration) bool {
	f := &g.Holder.Key.gone
	if from >= until {
		return false
	}
	excludes := func(mode history.Mode) bool { return g.Mode == history.Exclusive || mode == history.Exclusive }
	for mode, t := range f.beyond {
		if excludes(history.Mode(mode)) && t > from {
			return true
		}
	}
	return slices.ContainsFunc(f.latest, func(x forgottenHold) bool {
		return int(x.owner) != g.Holder.OwnerNo && excludes(x.mode) && x.from < until && x.until > from
	})
}

// MayLast says whether g's hold lasts beyond t, or may turn out to: its release may have begun
// later than it seems, or never been sent.
func (g *Grant) MayLast(t time.Duration) bool {
	return g.End() > t || (g.Releasing || g.ReleaseUnknown) && g.StopIdx == g.ReleaseIdx && g.Deadline > t || g.MayGoOn && g.Rare.perhapsUntil > t
}

// A following keeps a lease comparable with later grants of its key although its owner released
// it: the outcome of that release is unknown, so it may never have been sent.
type following struct {
	until time.Duration // the lease's deadline
	ended bool          // somebody was told of after it who may have been granted the key before
}

// endFollowing ends the followings of k whose lease was over by now, the time of an event, but
// not yet by granted, when the grant was made that the event tells of: such a lease may be
// forgotten without having been compared with that grant.
func (k *Key) endFollowing(granted, now time.Duration) {
	first, _ := slices.BinarySearchFunc(k.followed, granted+1, deadline)
	last, _ := slices.BinarySearchFunc(k.followed, now+1, deadline)
	if first >= last {
		return
	}
	for _, f := range k.followed[first:last] {
		f.ended = true
	}
	k.followed = slices.Delete(k.followed, first, last)
}

func deadline(f *following, at time.Duration) int { return cmp.Compare(f.until, at) }

// follow notes that the outcome of the release o is unknown: its lease is followed until its
// deadline. It is not where a grant that is forgotten already may have been made before the
// deadline.
func (l *Ledger) follow(o *Op) {
	g := o.Grant
	if g == nil || o.Action != history.Release {
		return
	}
	from, until := max(g.ReleasedAt, g.OK), g.Deadline
	switch {
	case g.leftLastBy(o):
		from, until = g.Deadline, o.Doubts.left.before.until
		g.MayGoOn = true
		if slices.ContainsFunc(g.Holder.Key.Held, func(x *Grant) bool { return Conflicts(g, x) && x.OK < until && x.End() > from }) {
			return
		}
	case o.Inner || g.ReleaseIdx != o.InvIdx:
		return
	}
	if g.MetForgotten(from, until) {
		return
	}
	k, f := g.Holder.Key, &following{until: until}
	o.Doubt().followed = f
	at, _ := slices.BinarySearchFunc(k.followed, f.until, deadline)
	k.followed = slices.Insert(k.followed, at, f)
}

// MetNobody says whether it is certain that no other owner was granted the key before g's
// deadline, also none that is forgotten. o is the release that seemed to end g.
func (g *Grant) MetNobody(o *Op) bool {
	if g != o.Grant || o.Doubts == nil || g.Place != 0 || g.Rare != nil && g.Rare.MetSince {
		return false
	}
	f, k := o.Doubts.followed, g.Holder.Key
	return f != nil && !f.ended && g.Deadline <= f.until && k.Overflow == nil
}

// makeRoom moves the oldest of k's grants to the overflow, a reader first, since fewer grants
// exclude a reader.
func (l *Ledger) makeRoom(k *Key) {
	at := max(slices.IndexFunc(k.Held, func(x *Grant) bool { return x.Mode == history.Shared }), 0)
	x := k.Held[at]
	k.Held = slices.Delete(k.Held, at, at+1)
	l.overflow(k, x)
}

// forget drops grants of k that ended long ago.
func (l *Ledger) forget(k *Key) {
	over, limit := 0, Remembered
	for _, x := range k.Held {
		if x.MayLast(l.Now) {
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
		if x.Extending > 0 || x.MayLast(l.Now) {
			i++
			continue
		}
		over--
		k.drop(x)
		k.Held = append(k.Held[:i], k.Held[i+1:]...)
	}
}

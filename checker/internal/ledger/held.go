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
	k.gone.add(x)
	x.Unpin()
}

// forgottenHolds are when the latest grants of a key held that are no longer remembered.
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

// keptForgotten is how many of those are kept.
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

// MetForgotten says whether a grant of g's key that is no longer remembered excluded it, and
// held, or may have, between two instants.
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

// MayLast says whether g's hold lasts beyond t, or may turn out to: a release under way may
// have begun later than it seems, or never be sent, as one of unknown outcome may.
func (g *Grant) MayLast(t time.Duration) bool {
	return g.End() > t || (g.Releasing || g.ReleaseUnknown) && g.StopIdx == g.ReleaseIdx && g.Deadline > t
}

// A following says that a lease goes on being compared with who is granted its key, although
// its owner gave it back: nobody knows whether that release was sent.
type following struct {
	until time.Duration // the lease's deadline
	ended bool          // somebody was told of after it who may have been granted the key before
}

// endFollowing ends those of k's followings whose lease is over at the event now, and so may
// be forgotten, and was not when a grant was made of which that event tells: they have not
// been compared.
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

// follow books that the outcome of o, a release, is unknown by now: its lease is remembered
// until its deadline, and nobody that is forgotten already was granted the key before that.
func (l *Ledger) follow(o *Op) {
	g := o.Grant
	if g == nil || o.Action != history.Release || o.Inner || g.ReleaseIdx != o.InvIdx || g.MetForgotten(max(g.ReleasedAt, g.OK), g.Deadline) {
		return
	}
	k, f := g.Holder.Key, &following{until: g.Deadline}
	o.Doubt().followed = f
	at, _ := slices.BinarySearchFunc(k.followed, f.until, deadline)
	k.followed = slices.Insert(k.followed, at, f)
}

// MetNobody says whether it is certain that nobody was granted the key of g, which o seemed
// to release, before g's deadline, whoever may be forgotten by now.
func (g *Grant) MetNobody(o *Op) bool {
	if g != o.Grant || o.Doubts == nil || g.Place != 0 || g.Rare != nil && g.Rare.MetSince {
		return false
	}
	f, k := o.Doubts.followed, g.Holder.Key
	return f != nil && !f.ended && g.Deadline <= f.until && k.Overflow == nil
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
		k.letGo(x)
		k.Held = append(k.Held[:i], k.Held[i+1:]...)
	}
}

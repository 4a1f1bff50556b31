package liveness

import (
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/workload/history"
)

// An author is an acquire that may have set the value that a node stores.
type author struct {
	number int           // of its acquire, from 1
	owner  string        // of one that is under way
	until  time.Duration // when it is over by itself
	start  start
}

// asks notes an acquire: from here on it may have set the value that is stored.
func (s *Samples) asks(k *sampledKey, f *ledger.Fact) {
	k.asked++
	k.open[f.Op.Process] = author{number: k.asked, owner: f.Op.Holder.Owner, until: ledger.Never, start: k.start()}
	if how := f.Event.Note; how == history.AskWait || how == history.AskFair {
		k.waits[f.Op.Process] = moment{f.Event.Time, f.Event.Index}
	}
}

// answers removes an acquire that is over from those under way.
func (k *sampledKey) answers(f *ledger.Fact) author {
	a := k.open[f.Op.Process]
	switch w, waited := k.waits[f.Op.Process]; {
	case !waited:
	case f.Op.Outcome != history.OK:
		k.gaveUp = f.Event.Time
	case w.t > k.gaveUp:
		k.gaveUp = 0
	}
	delete(k.open, f.Op.Process)
	delete(k.waits, f.Op.Process)
	return a
}

// closes notes that an acquire left nothing stored, according to its outcome.
func (s *Samples) closes(k *sampledKey, f *ledger.Fact, t time.Duration) {
	k.closeAuthor(k.answers(f), moment{t, f.Event.Index})
}

// closeAuthor notes that an author's lease, or attempt, has ended.
func (k *sampledKey) closeAuthor(a author, at moment) {
	if at.t >= k.over.t {
		k.over = at
	}
	for _, v := range k.views {
		if v.there && a.number <= v.upTo && at.t >= v.over.t {
			v.over = at
		}
		if v.there && a.number <= v.life.upTo && at.t >= v.life.over.t {
			v.life.over = at
		}
	}
}

// grants notes a lease. It lasts until its release, or as long as servers keep it.
func (s *Samples) grants(k *sampledKey, f *ledger.Fact) {
	h := f.Op.Holder
	a := k.answers(f)
	k.inError = nil // it was given back after all
	k.newest = max(k.newest, a.number)
	s.ignores(k, a, f)
	if was, holds := k.leases[h]; holds && f.Kind == ledger.Reentered {
		a.number = was.number
	} else if holds {
		k.late = append(k.late, was)
	}
	a.until = max(f.Grant.ServedUntil, s.kept(f.Event.Time))
	k.leases[h] = a
}

// kept is until when servers keep what was asked of them by t.
func (s *Samples) kept(t time.Duration) time.Duration {
	return ledger.Later(t, ledger.Later(s.Header.Drift+s.Header.Epsilon, s.Header.TTL))
}

func (s *Samples) prolongs(k *sampledKey, f *ledger.Fact) {
	h := f.Op.Holder
	if a, holds := k.leases[h]; holds {
		a.until = max(a.until, f.Grant.ServedUntil, s.kept(f.Event.Time))
		k.leases[h] = a
	}
}

// releases notes a release. One of an older lease says nothing about the one that its owner
// holds.
func (s *Samples) releases(k *sampledKey, f *ledger.Fact) {
	h := f.Op.Holder
	if f.Grant != h.Grant {
		return
	}
	delete(k.kept, h)
	a, holds := k.leases[h]
	if !holds || f.Op.Outcome == history.Info {
		return
	}
	delete(k.leases, h)
	k.gone, k.given = f.Event.Time, returned{}
	if f.Op.Outcome == history.OK && len(k.leases) == 0 {
		k.given = returned{f.Op.Inv, f.Event.Time}
	}
	if f.Op.Outcome == history.Fail && !s.declared() {
		a.until = max(a.until, s.kept(f.Event.Time)) // what is left of a lost lease ends by itself
		k.late = append(k.late, a)
	} else {
		k.closeAuthor(a, moment{f.Event.Time, f.Event.Index})
	}
}

// doubts notes an operation of unknown outcome: what it left stored is removed within the bound
// that the lock declares, or else expires with its TTL.
func (s *Samples) doubts(k *sampledKey, f *ledger.Fact) {
	h := f.Op.Holder
	gone := moment{f.Event.Time, f.Event.Index}
	undone := s.declared() && !s.crashed(h.Owner, f.Op.Inv, f.Event.Time)
	switch f.Op.Action {
	case history.Acquire:
		a := k.answers(f)
		k.newest = max(k.newest, a.number)
		if !s.crashed(h.Owner, f.Op.Inv, f.Event.Time) {
			s.refuses(k, f)
		}
		if undone {
			k.closeAuthor(a, gone)
			return
		}
		a.until = s.kept(f.Event.Time)
		k.vain.mayKeep(a.until)
		k.late = append(k.late, a)
	case history.Release:
		if a, holds := k.leases[h]; holds && f.Grant == h.Grant && !f.Op.Inner {
			s.errs(k, f)
			delete(k.leases, h)
			k.gone, k.given = f.Event.Time, returned{}
			if undone {
				k.closeAuthor(a, gone)
				return
			}
			a.until = max(a.until, s.kept(f.Event.Time))
			k.late = append(k.late, a)
		}
	case history.Extend:
		if a, holds := k.leases[h]; holds {
			a.until = max(a.until, s.kept(f.Event.Time))
			k.leases[h] = a
		}
	}
}

// expire closes the leases that had run out by t.
func (s *Samples) expire(k *sampledKey, t time.Duration) {
	over := func(a author) bool {
		if a.until > t {
			return false
		}
		k.closeAuthor(a, moment{a.until, rule.NoWitness})
		return true
	}
	for h, a := range k.leases {
		if over(a) {
			delete(k.leases, h)
			k.kept[h] = a
			k.gone, k.given = max(k.gone, a.until), returned{}
		}
	}
	k.late = slices.DeleteFunc(k.late, over)
}

// owned says whether somebody may own what one of the first upTo acquires has set.
func (k *sampledKey) owned(upTo int) bool {
	for _, a := range k.open {
		if a.number <= upTo {
			return true
		}
	}
	for _, a := range k.leases {
		if a.number <= upTo {
			return true
		}
	}
	return slices.ContainsFunc(k.late, func(a author) bool { return a.number <= upTo })
}

package exclusion

import (
	"fmt"
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// ForeignRelease decides S5: a release ends its own lease only.
type ForeignRelease struct {
	*rule.Env
	late    []*lateRelease // in the order in which they were answered; some are decided
	open    int            // of those
	found   []foreignFound
	victims rule.Table[[]*victim] // by key: grants that late releases may have removed
	untold  int                   // releases told so late that whose holds they may have ended is forgotten
	alone   []*lateRelease        // that met nobody's hold, while acquires were under way: those may be told of late
}

// mostAlone is how many of those are kept.
const mostAlone = 64

// A lateRelease was answered yes after its own deadline, while others held.
type lateRelease struct {
	of      *ledger.Grant
	victims []*ledger.Grant
	inv     time.Duration
	ok      time.Duration
	idx     int
	by      int
	lasting int  // victims whose hold is not known to be over
	sure    bool // beyond the clock uncertainty
	decided bool // it ended the hold of somebody, or of nobody
}

// A victim is one of the key's grants that late releases may have removed.
type victim struct {
	*ledger.Grant
	late  []*lateRelease // undecided when they came
	first time.Duration  // the earliest of them
}

// A foreignFound is a late release that was reported, and as what.
type foreignFound struct {
	*lateRelease
	candidate *rule.Candidate
	others    []*rule.Candidate // the same of other victims, should that one's hold turn out to have ended before
}

func (*ForeignRelease) IDs() []string { return []string{"S5"} }
func (*ForeignRelease) Wants() []ledger.Kind {
	return []ledger.Kind{ledger.Granted, ledger.Answered, ledger.Extended, ledger.Postponed}
}

func (r *ForeignRelease) Observe(f *ledger.Fact) {
	switch {
	case f.Kind == ledger.Extended, f.Kind == ledger.Postponed:
		if v := r.victims.Get(f.Key.No); v != nil && len(*v) > 0 {
			r.prolonged(v, f)
		}
	case f.Kind == ledger.Granted:
		if f.Op.OK < f.Event.Time {
			r.joinLate(f)
			r.observeLate(f)
		}
		if v := r.victims.Get(f.Key.No); v != nil && len(*v) > 0 {
			r.third(f.Key, f.Grant)
		}
	case f.Op.Outcome == history.OK && f.Op.Inv >= f.Grant.Latest():
		r.released(f)
	}
}

// Finish tells of the late releases that harmed nobody.
func (r *ForeignRelease) Finish() {
	for _, l := range slices.Concat(r.late, r.alone) {
		if !l.decided {
			r.harmless(l)
		}
	}
	for _, x := range r.found {
		if r.Proved(x.candidate) {
			continue
		}
		if i := slices.IndexFunc(x.others, r.Proved); i >= 0 {
			r.Violate(x.others[i])
		} else {
			r.harmless(x.lateRelease)
		}
	}
}

// Unplaced says what was not judged, for want of memory.
func (r *ForeignRelease) Unplaced() string {
	if r.untold == 0 {
		return ""
	}
	return fmt.Sprintf("%s late releases were told only when grants of their time were no longer remembered: whether they removed another's lock (S5) is not decided.", words.Thousands(r.untold))
}

// released notes whose hold a late release may have ended.
func (r *ForeignRelease) released(f *ledger.Fact) {
	l := &lateRelease{of: f.Grant, inv: f.Op.Inv, ok: f.Op.OK, idx: f.Op.OKIdx, by: f.Op.Process}
	if f.Op.Late && f.Grant.MetForgotten(f.Op.Inv, f.Op.OK) {
		r.untold++
	}
	l.sure = f.Op.Inv-r.From(f.Grant, f.Op.By()) >= f.Grant.Latest()
	for _, y := range f.Key.Held {
		if ledger.Conflicts(y, f.Grant) && y.OK < f.Op.OK && y.MayLast(l.inv) {
			y.Pin()
			l.victims = append(l.victims, y)
		}
	}
	if l.victims == nil {
		if f.Key.Open.Head == nil || len(r.alone) == mostAlone {
			r.harmless(l)
			return
		}
		l.of.Pin()
		r.alone = append(r.alone, l)
		return
	}
	l.of.Pin()
	for _, z := range f.Key.Held {
		if y := r.victim(l, z); y != nil {
			r.foreign(l, y, z)
			return
		}
	}
	r.watch(f.Key, l)
}

// observeLate looks for a late release that ended the hold of f's grant, of which the history
// tells after that release.
func (r *ForeignRelease) observeLate(f *ledger.Fact) {
	y := f.Grant
	r.alone = slices.DeleteFunc(r.alone, func(l *lateRelease) bool {
		if l.of.Holder.Key != f.Key || !ledger.Conflicts(y, l.of) || y.OK >= l.ok || !y.MayLast(l.inv) {
			return false
		}
		y.Pin()
		l.victims = []*ledger.Grant{y}
		for _, z := range f.Key.Held {
			if r.victim(l, z) != nil {
				r.foreign(l, y, z)
				return true
			}
		}
		r.watch(f.Key, l)
		return true
	})
}

// joinLate adds f's grant, told behind late releases that are not decided, to those whose
// hold they may have ended.
func (r *ForeignRelease) joinLate(f *ledger.Fact) {
	y := f.Grant
	for _, l := range r.late {
		if l.decided || l.of.Holder.Key != f.Key || !ledger.Conflicts(y, l.of) || y.OK >= l.ok || !y.MayLast(l.inv) {
			continue
		}
		y.Pin()
		l.victims = append(l.victims, y)
		l.lasting++
		r.endanger(r.victims.At(f.Key.No), y, l)
	}
}

// endanger notes that l may have removed y's lease.
func (r *ForeignRelease) endanger(victims *[]*victim, y *ledger.Grant, l *lateRelease) {
	i := slices.IndexFunc(*victims, func(v *victim) bool { return v.Grant == y })
	if i < 0 {
		i = len(*victims)
		*victims = append(*victims, &victim{Grant: y, first: ledger.Never})
	}
	v := (*victims)[i]
	v.late, v.first = append(v.late, l), min(v.first, l.inv)
}

// watch keeps l until it is decided.
func (r *ForeignRelease) watch(k *ledger.Key, l *lateRelease) {
	l.lasting = len(l.victims)
	victims := r.victims.At(k.No)
	for _, y := range l.victims {
		r.endanger(victims, y, l)
	}
	if r.open++; len(r.late) > 2*r.open+ledger.MostListed {
		r.late = slices.DeleteFunc(r.late, func(l *lateRelease) bool { return l.decided })
	}
	r.late = append(r.late, l)
}

// third looks for victims in whose hold a third grant occurs.
func (r *ForeignRelease) third(k *ledger.Key, z *ledger.Grant) {
	victims := r.victims.At(k.No)
	*victims = slices.DeleteFunc(*victims, func(v *victim) bool {
		over := !v.MayLast(r.Now) && v.Extending == 0 && !v.Releasing && (k.Open.Head == nil || k.Open.Head.Inv >= v.End())
		if over || ledger.Conflicts(v.Grant, z) && z.OK >= v.first {
			r.decide(v, z, over)
		}
		return over || len(v.late) == 0
	})
}

// prolonged looks for grants inside of a victim's hold that an extension, under way when
// they were told, has made longer, or a release that began only later than it seemed.
func (r *ForeignRelease) prolonged(victims *[]*victim, f *ledger.Fact) {
	*victims = slices.DeleteFunc(*victims, func(v *victim) bool {
		for _, z := range f.Key.Held {
			if v.Grant == f.Grant && ledger.Conflicts(v.Grant, z) && z.OK >= v.first {
				r.decide(v, z, false)
			}
		}
		return len(v.late) == 0
	})
}

// decide looks at the late releases that may have removed v's lease, which is
// over or which z was granted beside.
func (r *ForeignRelease) decide(v *victim, z *ledger.Grant, over bool) {
	v.first = ledger.Never
	v.late = slices.DeleteFunc(v.late, func(l *lateRelease) bool {
		if l.decided {
			return true
		}
		if over {
			l.lasting--
		}
		switch y := r.victim(l, z); {
		case y != nil:
			r.foreign(l, y, z)
		case l.lasting == 0:
			r.harmless(l)
		default:
			v.first = min(v.first, l.inv)
			return false
		}
		l.decided = true
		r.open--
		return true
	})
}

// behind says whether z was granted after l began. One process's own order needs no clock.
func (r *ForeignRelease) behind(z *ledger.Grant, l *lateRelease) bool {
	return z.OK > l.inv || z.Process == l.by && z.InvIdx > l.idx
}

// victim is whose hold l ended, when z was granted inside of that one's hold.
func (r *ForeignRelease) victim(l *lateRelease, z *ledger.Grant) *ledger.Grant {
	for _, y := range l.victims {
		if r.removed(l, y, z) {
			return y
		}
	}
	return nil
}

// removed says whether l ended the hold of y, as the grant of z inside of that shows.
func (r *ForeignRelease) removed(l *lateRelease, y, z *ledger.Grant) bool {
	return l.sure && y.Holder.Key == z.Holder.Key && ledger.Conflicts(y, z) && r.behind(z, l) && (z.OK > y.OK || z.OK == y.OK && z.Process == y.Process && z.OKIdx > y.OKIdx) && r.LastsBeyond(y, z.OK, z.OKIdx, z.By())
}

// foreign reports that l ended the hold of y, as the grant of z shows.
func (r *ForeignRelease) foreign(l *lateRelease, y, z *ledger.Grant) {
	x := foreignFound{lateRelease: l, candidate: r.candidate(l, y, z)}
	r.Violate(x.candidate)
	if len(r.found) == r.Limit() {
		return
	}
	for _, other := range l.victims {
		if other != y && r.removed(l, other, z) {
			x.others = append(x.others, r.candidate(l, other, z))
		}
	}
	r.found = append(r.found, x)
}

func (r *ForeignRelease) candidate(l *lateRelease, y, z *ledger.Grant) *rule.Candidate {
	k, g, ok, idx, by := l.of.Holder.Key, l.of, z.OK, z.OKIdx, z.By()
	text := fmt.Sprintf("The lease of %s on %s had ended at %s. %s was granted the key%s at %s. At %s %s released it, late, and was told yes: what it removed was the lock of %s. So %s was granted it too%s, at %s, while %s could still rely on it.",
		g.Owner(), k.Name, words.At(g.Deadline), y.Owner(), words.Token(y.Fence), words.At(y.OK), words.At(l.inv), g.Owner(), y.Owner(), z.Owner(), words.Token(z.Fence), words.At(z.OK), y.Owner())
	return &rule.Candidate{
		ID: "S5", Key: k, Owners: words.Owners(g.Owner(), y.Owner(), z.Owner()), Witness: []int{y.OKIdx, l.idx, z.OKIdx}, Blame: rule.BlameRelease,
		From: g.Inv, To: z.OK, Text: func() string { return text },
		Refuted: func() bool { return !r.LastsBeyond(y, ok, idx, by) },
	}
}

// harmless reports a late release that nobody is known to have suffered from.
func (r *ForeignRelease) harmless(l *lateRelease) {
	if r.Suspicious.Full("S5") {
		return
	}
	g := l.of
	text := fmt.Sprintf("%s released %s at %s and was told yes, %s after its own lease had ended. Nobody was harmed, as far as can be seen.",
		g.Owner(), g.Holder.Key.Name, words.At(l.inv), words.Span(l.inv-g.Deadline))
	r.Suspect(&rule.Candidate{
		ID: "S5", Key: g.Holder.Key, Owners: []string{g.Owner()}, Witness: []int{g.OKIdx, l.idx}, From: g.Inv, To: l.inv,
		Text: func() string { return text },
	})
}

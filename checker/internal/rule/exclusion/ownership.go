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

// Ownership decides S6: nobody extends a lease, or releases it with success, after another
// owner's hold of the key.
type Ownership struct {
	*rule.Env
	checked  bool // a successful release proves that its owner still held
	short    []crossing
	reported []reportedCrossing
}

// NewOwnership makes the rule.
func NewOwnership(e *rule.Env) *Ownership {
	return &Ownership{Env: e, checked: ledger.CheckedRelease(e.Header)}
}

func (*Ownership) IDs() []string            { return []string{"S6"} }
func (*Ownership) Remembers() ledger.Memory { return ledger.Crossings }

func (*Ownership) Wants() []ledger.Kind {
	return []ledger.Kind{ledger.Granted, ledger.Extended, ledger.Postponed, ledger.Answered, ledger.Left}
}

func (w *Ownership) Observe(f *ledger.Fact) {
	switch f.Kind {
	case ledger.Granted:
		if f.Op.OK < f.Event.Time {
			w.observeLate(f)
		}
	case ledger.Extended:
		w.across(f, "extended its lease")
		if len(w.short) > 0 {
			w.lengthened(f.Grant)
		}
	case ledger.Postponed:
		w.lengthened(f.Grant)
	case ledger.Answered, ledger.Left:
		if w.checked && f.Op.Outcome == history.OK {
			w.across(f, "released it, with success,")
		}
	}
}

// Finish reports crossings again whose intruder turned out to be another grant.
func (w *Ownership) Finish() {
	for _, t := range w.reported {
		if x, _, sure := w.Crossed(t.g, t.intruders, t.inv); sure && !w.Proved(t.candidate) {
			w.Violate(t.crossing.candidate(x))
		}
	}
}

// observeLate looks at a grant g that the history tells of late: for the grants that crossed g,
// and for the leases, released since, that g crossed.
func (w *Ownership) observeLate(f *ledger.Fact) {
	g := f.Grant
	for _, x := range f.Key.Held {
		if ledger.Conflicts(g, x) && x.Extended && x.DeadlineIdx < g.OKIdx {
			w.acrossLoss(x, g, x.Start, x.Start, x.DeadlineIdx, "extended its lease")
		}
		if t := x.Rare; ledger.Conflicts(g, x) && t != nil && t.ExtendedBefore.Idx != 0 {
			w.acrossLoss(x, g, t.ExtendedBefore.Inv, t.ExtendedBefore.Inv, t.ExtendedBefore.Idx, "extended its lease")
		}
		if t := x.Rare; w.checked && ledger.Conflicts(g, x) && t != nil && t.Inner.Idx != 0 {
			w.acrossLoss(x, g, t.Inner.Inv, t.Inner.Ok, t.Inner.Idx, "gave back one of its holds, with success,")
		}
		switch {
		case !ledger.Conflicts(g, x):
		case x.OK > g.OK:
			w.CrossedBy(g, x)
		case x.ReleasedAt == ledger.Never || x.ReleasedAt < g.OK || x.Watched != 0:
		case x.Releasing:
			w.CrossedBy(x, g)
		case !w.checked:
			w.CrossedBy(x, g)
		case x.ReleaseOK != ledger.Never:
			idx := x.ReleaseIdx
			if x.Rare != nil && x.Rare.ReleaseOKIdx != 0 {
				idx = x.Rare.ReleaseOKIdx
			}
			w.acrossLoss(x, g, x.ReleasedAt, x.ReleaseOK, idx, "released it, with success,")
		}
	}
}

// acrossLoss reports that x was extended or released, with success, although g had crossed it:
// by an operation that was invoked at inv and answered at ok.
func (w *Ownership) acrossLoss(x, g *ledger.Grant, inv, ok time.Duration, idx int, how string) {
	until := ledger.Until{T: inv}
	if _, _, sure := w.Crossed(x, []*ledger.Grant{g}, until); !sure {
		return
	}
	w.CrossedBy(x, g)
	x.Pin()
	w.report(crossing{x, x.Intruders(), until, ok, idx, how, w.Env}, g)
}

// A crossing is an extension or a release that succeeded although intruders had crossed the
// lease.
type crossing struct {
	g         *ledger.Grant
	intruders []*ledger.Grant // by then
	inv       ledger.Until    // its index is 0 where it is not known
	ok        time.Duration
	idx       int
	how       string
	env       *rule.Env
}

// A reportedCrossing is a crossing and the candidate by which it was reported.
type reportedCrossing struct {
	crossing
	candidate *rule.Candidate
}

// report reports the crossing c of the lease by x's hold.
func (w *Ownership) report(c crossing, x *ledger.Grant) {
	h := c.candidate(x)
	w.Violate(h)
	if len(w.reported) < w.Limit() {
		w.reported = append(w.reported, reportedCrossing{c, h})
	}
}

// shortCrossings is how many crossings are kept whose intruder held too briefly to count: an
// extension may lengthen its hold.
const shortCrossings = 64

// intruders are the grants that had crossed f's lease.
func (w *Ownership) intruders(f *ledger.Fact) []*ledger.Grant {
	g := f.Grant
	if g == g.Holder.Grant && (f.Op.Inv <= g.ReleasedAt || f.Op.InvIdx == g.ReleaseIdx) {
		return g.Intruders()
	}
	var since []*ledger.Grant // it had been released before, or its owner has a newer one: nobody watched it any more
	for _, x := range f.Key.Held {
		if ledger.Conflicts(x, g) && x.OK > g.OK {
			x.Pin()
			since = append(since, x)
		}
	}
	return since
}

// across reports the crossing that f's operation is, if it is one (S6).
func (w *Ownership) across(f *ledger.Fact, how string) {
	intruders := w.intruders(f)
	if len(intruders) == 0 {
		return
	}
	c := crossing{f.Grant, intruders, ledger.Until{T: f.Op.Inv, Idx: f.Op.InvIdx, By: f.Op.Process}, f.Op.OK, f.Op.OKIdx, how, w.Env}
	c.g.Pin()
	x, length, sure := w.Crossed(c.g, c.intruders, c.inv)
	switch {
	case sure:
		w.report(c, x)
		return
	case length > 0:
		w.Suspect(c.candidate(x))
	}
	if len(w.short) == shortCrossings {
		w.short = w.short[1:]
	}
	w.short = append(w.short, c)
}

// lengthened judges the short crossings again of which g, whose hold has grown, is the
// intruder.
func (w *Ownership) lengthened(g *ledger.Grant) {
	w.short = slices.DeleteFunc(w.short, func(c crossing) bool {
		x, _, sure := w.Crossed(c.g, c.intruders, c.inv)
		if x != g || !sure {
			return false
		}
		w.report(c, x)
		return true
	})
}

func (c crossing) candidate(x *ledger.Grant) *rule.Candidate {
	g := c.g
	h := &rule.Candidate{
		ID: "S6", Key: g.Holder.Key, Owners: words.Owners(g.Owner(), x.Owner()), Witness: []int{g.OKIdx, g.AcquiredAt(x.Process), x.OKIdx, c.idx}, Blame: rule.BlameLibrary,
		From: g.Inv, To: c.ok, Pair: [2]*ledger.Grant{g, x},
	}
	h.Length = func() time.Duration {
		return max(0, x.Inside(g, c.inv.T))
	}
	h.Refuted = func() bool {
		_, _, sure := c.env.Crossed(g, []*ledger.Grant{x}, c.inv)
		return !sure
	}
	h.Stamp = rule.Shared(x, x, max(x.OK, g.OK), c.env.Apart(g, x))
	h.Text = func() string {
		return fmt.Sprintf("%s was granted %s%s at %s. Since then %s held it, from %s%s, for %s; and yet at %s %s %s as if nothing had happened. "+
			"The lock took the key for its own without comparing who owns it, or says yes whatever it finds.",
			g.Owner(), g.Holder.Key.Name, words.Token(g.Fence), words.At(g.OK), x.Owner(), words.At(x.OK), words.Token(x.Fence), words.Span(h.Length()), words.At(c.inv.T), g.Owner(), c.how)
	}
	return h
}

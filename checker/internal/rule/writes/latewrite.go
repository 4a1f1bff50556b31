package writes

import (
	"fmt"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// due is until when o could be issued in time: by the deadline that was known then, if it was
// late by that.
func (z *Zombies) due(o *ledger.Op) time.Duration {
	due := o.Due()
	if o.Overdue() != nil {
		return due
	}
	if o.Grant.TwoTokens() {
		due = max(due, o.Grant.Rare.Most)
	}
	return max(due, z.Vaguest(o.Grant), z.LatestFor(o.Grant, o.Inv, o.By()))
}

// late judges a write by the deadline of the lease that it was issued under.
func (z *Zombies) late(k *ledger.Key, l *ledger.Landing) {
	o, due, eps := l.Op, z.due(l.Op), z.Past(l.Op.Grant, l.Op.By())
	fenced := z.Header.Fenced && o.Fence != 0
	switch {
	case o.Overdue() != nil && o.Overdue().Covered:
	case o.Inv-eps > due && fenced:
		if !z.overtaken(k, l) && !z.Suspicious.Full("S3z") { // S2's otherwise
			z.Suspect(z.candidate(k, l, "the store had seen no newer token yet, and so accepted it"))
		}
	case o.Inv-eps > due:
		z.Violate(z.unfenced(k, l))
	case o.Inv >= due-eps && o.Inv-eps <= due:
		z.Suspect(z.candidate(k, l, "the clocks do not tell whether that was in time"))
	}
}

// unfenced is the finding of a late write that no fence stopped. A renewal that turns out to
// have been under way when it was issued refutes it.
func (z *Zombies) unfenced(k *ledger.Key, l *ledger.Landing) *rule.Candidate {
	h, w, g := z.candidate(k, l, "the store accepted it, since no fence compares tokens there"), &ledger.LateWrite{Inv: l.Op.Inv, Idx: l.Op.InvIdx, By: l.Op.By(), Own: l.Op.HasBegan()}, l.Op.Grant
	if known := l.Op.Overdue(); known != nil {
		w = known
	}
	other, again := z.otherLease(l.Op), z.mayBeReentered(l.Op)
	h.Refuted = func() bool {
		return w.Covered || other != nil && w.Inv-z.From(other, w.By) <= min(other.StoppedAt, z.DeadlineFor(other, w.Inv, w.By)) || again
	}
	h.Stamp = rule.Stamped(g.OK, l.Op.Inv, l.Op.Inv-l.Op.Due()-z.Past(g, l.Op.By()), l.Op.Has&history.HasBegan != 0, false)
	z.overdueToo(l.Op, w)
	if w != l.Op.Overdue() && z.Room("S3z") {
		g.Rarely().Late = append(g.Rare.Late, w)
	}
	if l.Op.Holder.Asking(l.Op) {
		d := z.owners.At(l.Op.Holder.ID)
		d.late = append(d.late, w)
	}
	return h
}

// covered judges the late writes again when a renewal, which is told of when it has ended, has
// moved the deadline.
func (z *Zombies) covered(f *ledger.Fact) {
	if f.Kind != ledger.Extended {
		return
	}
	z.cover(f, f.Grant)
	for _, g := range [...]*ledger.Grant{f.Op.Holder.Grant, f.Op.Holder.Prior} {
		if g != nil && g != f.Grant && g.Rare != nil && g.Rare.Beside >= f.Grant.Deadline {
			z.cover(f, g)
		}
	}
}

// cover looks at the late writes under g, which f's extension may have moved.
func (z *Zombies) cover(f *ledger.Fact, g *ledger.Grant) {
	if g.Rare == nil {
		return
	}
	for _, w := range g.Rare.Late {
		o := f.Op // a round of automatic renewal has no event where it began
		ahead := o.Inv <= w.Inv && (w.By.Process != o.Process || o.InvIdx < w.Idx || o.InvIdx == o.OKIdx)
		w.Since(o.OK, f.Grant.Deadline)
		if ahead && w.Inv-z.Past(g, w.By) <= f.Grant.Deadline {
			w.Cover(f.Grant.Deadline)
		}
	}
}

// overtaken says whether a newer token was accepted before l.
func (z *Zombies) overtaken(k *ledger.Key, l *ledger.Landing) bool {
	if l.Late && l.Top <= l.Op.Fence {
		return l.Op.Behind(l.Seq) || k.Log.LateTop > l.Op.Fence
	}
	return l.Top > l.Op.Fence
}

func (z *Zombies) candidate(k *ledger.Key, l *ledger.Landing, outcome string) *rule.Candidate {
	o, g, d := l.Op, l.Op.Grant, z.due(l.Op)
	by := g.DeadlineIdx
	if w := o.Overdue(); w != nil {
		by = w.DIdx
	}
	h := &rule.Candidate{
		ID: "S3z", Key: k, Owners: []string{o.Holder.Owner}, Witness: []int{by, l.Idx}, Blame: rule.BlameClient,
		From: g.Inv, To: max(o.OK, o.Inv),
	}
	story := ""
	if x := intruderAt(k, g, o.Inv); x != nil {
		h.Owners = words.Owners(g.Owner(), x.Owner())
		h.Witness = append(h.Witness, x.OKIdx)
		story = fmt.Sprintf(" By then %s had been granted the key%s, at %s.", x.Owner(), words.Token(x.Fence), words.At(x.OK))
	}
	owner, fence, ok := g.Owner(), g.Fence, g.OK
	seq, value, inv := l.Seq, o.Value, o.Inv
	h.Text = func() string {
		return fmt.Sprintf("%s was granted %s%s at %s and could rely on it until %s.%s At %s, %s after its lease had ended, %s issued the write %q all the same, and %s%s. "+
			"The lock kept its word; the client did not notice that its time had run out.",
			owner, k.Name, words.Token(fence), words.At(ok), words.At(d), story, words.At(inv), words.Span(inv-d), owner, value, outcome, words.Number(seq))
	}
	return h
}

// intruderAt is another owner's grant that a late write of g ran into: the one
// that holds at t, or else the latest since.
func intruderAt(k *ledger.Key, g *ledger.Grant, t time.Duration) *ledger.Grant {
	var best *ledger.Grant
	for _, x := range k.Held {
		if !ledger.Conflicts(g, x) || x.OK <= g.OK || x.OK > t {
			continue
		}
		if best == nil || x.End() > t || best.End() <= t {
			best = x
		}
	}
	return best
}

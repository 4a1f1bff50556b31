package writes

import (
	"fmt"
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// Zombies decides S3z and S8: a write that the store accepts was issued under a lease that its
// owner held, as far as the owner could know.
type Zombies struct {
	*rule.Env
	lost      int // answers told late, after more writes than are kept
	behindAll int // answers of operations told only when writes behind them had been judged
	unkept    int // writes not settled, more than are kept, that a grant told late may cover
	unheard   int // writes of owners more of whose processes were refused than are remembered

	owners  rule.Table[unsettledWrites]         // by holder, of those few that have any
	writers []lastWrite                         // by holder
	parked  map[*ledger.Grant][]*ledger.Landing // writes that an extension under way may yet cover
	found   bool                                // any S8
	unsent  map[int]bool                        // releases, by invocation, that a link is known late never to have carried
}

func (*Zombies) IDs() []string { return []string{"S3z", "S8"} }
func (*Zombies) Wants() []ledger.Kind {
	return []ledger.Kind{ledger.Granted, ledger.Reentered, ledger.Landed, ledger.Extended, ledger.Unmoved, ledger.Answered, ledger.Settled, ledger.Unknown}
}

func (z *Zombies) Observe(f *ledger.Fact) {
	switch f.Kind {
	case ledger.Granted, ledger.Reentered:
		z.grantedLate(f)
	case ledger.Landed:
		z.landed(f)
	case ledger.Unknown:
		if f.Op.Action == history.Write { // its owner may have forgotten that lease by the time it lands
			z.underLate(f.Op)
			z.givenUp(f.Op)
		}
	case ledger.Settled:
		if o := f.Op; o.Action == history.Release && !o.Executed && o.Settled == ledger.ByLink && o.Grant != nil && z.found {
			if z.unsent == nil {
				z.unsent = make(map[int]bool)
			}
			z.unsent[o.InvIdx] = true
		}
	case ledger.Answered:
		if f.Op.Outcome == history.OK || f.Op.Outcome == history.Fail {
			z.answered(f)
		}
	case ledger.Extended, ledger.Unmoved:
		if o := f.Op; o.Outcome == history.Fail && o.InvIdx != o.OKIdx { // of an automatic renewal only the library hears
			z.answered(f)
		}
		z.covered(f)
		if g := f.Grant; g.Extending == 0 && len(z.parked) > 0 {
			for _, l := range z.parked[g] {
				z.late(g.Holder.Key, l)
			}
			delete(z.parked, g)
		}
	}
}

func (*Zombies) Finish() {}

func (z *Zombies) landed(f *ledger.Fact) {
	o := f.Op
	z.underLate(o)
	if (o.Use == ledger.UseRefused || o.Use == ledger.UseUnknown) && (z.ReenteredMeanwhile(o.Grant, o) || o.ReenteredBefore() || extendedMeanwhile(o)) {
		o.Use = ledger.UseHeld
	}
	z.endedMeanwhile(o)
	if (o.Use == ledger.UseLost || o.Use == ledger.UseDenied || o.Use == ledger.UseReleased) && z.underLate(o) { // its owner had another one by then
		z.endedMeanwhile(o)
	}
	unconfirmed := z.unconfirmed(o)
	if !unconfirmed {
		z.meanwhile(f)
	}
	g := o.Grant
	switch {
	case unconfirmed:
		z.unheld(f)
	case g == nil || o.Inv < o.Due()-z.Past(g, o.By()):
	case g.Extending > 0 && o.Overdue() == nil:
		o.Kept = true
		l := *f.Landing
		if z.parked == nil {
			z.parked = make(map[*ledger.Grant][]*ledger.Landing)
		}
		z.parked[g] = append(z.parked[g], &l)
	default:
		z.late(f.Key, f.Landing)
	}
}

// underLate sets the lease of o to one under which it was issued and of which the history told
// only then: of several, the one that lasts longest. It reports whether there is one.
func (z *Zombies) underLate(o *ledger.Op) (found bool) {
	for _, g := range [...]*ledger.Grant{o.Holder.Grant, o.Holder.Prior} {
		if g != nil && g != o.Grant && z.reportedLate(o, g) {
			z.under(o, g)
			found = true
		}
	}
	return found
}

func (z *Zombies) under(o *ledger.Op, g *ledger.Grant) {
	o.Use = ledger.UseHeld
	z.Under(o, g)
	if o.Doubts != nil {
		o.Doubts.Late = nil // that was by another lease
	}
}

// extendedMeanwhile says whether o, by its own stamps, was issued only after its lease had been
// extended. Whether the lease had another ending before o is for endedMeanwhile to say.
func extendedMeanwhile(o *ledger.Op) bool {
	g := o.Grant
	return g != nil && (g.GoesOn() || g == o.Holder.Grant || g == o.Holder.Prior) && g.Extended && g.DeadlineIdx > o.InvIdx && g.Start <= o.Inv && o.Inv < g.Latest()
}

// endedMeanwhile looks for an answer to another process of o's owner that had surely ended its
// lease before o was issued, of which the history tells only after o's invocation.
func (z *Zombies) endedMeanwhile(o *ledger.Op) {
	g := o.Grant
	switch {
	case o.Use != ledger.UseHeld || g == nil || g.StoppedAt == ledger.Never:
		return
	case z.givenBack(g, o):
		o.Use = ledger.UseReleased
	case g.ReleaseUnknown && !g.Releasing && !unheard(g, o) && g.Rare != nil && g.Rare.GivenUp != 0 && o.Inv-z.From(g, o.By()) > g.Rare.GivenUp:
		o.Use = ledger.UseReleased
	case g.Refused() != nil:
		o.Use = ledger.UseDenied
	case g.ReportedLost() && g.LostIdx > o.InvIdx:
		o.Use = ledger.UseLost
	default:
		return
	}
	if !z.knew(o) {
		o.Use = ledger.UseHeld
	}
}

// unconfirmed says whether o's owner had no lease under which to write, and knew it.
func (z *Zombies) unconfirmed(o *ledger.Op) bool {
	switch o.Use {
	case ledger.UseHeld:
		return false
	case ledger.UseReleased, ledger.UseLost, ledger.UseDenied:
		knew := z.knew(o)
		if g := o.Grant; !knew && g.Rare != nil && g.Rare.Unheard {
			z.unheard++
		}
		return knew
	}
	return true
}

// knew says whether the ending of o's lease surely came before o: the owner's release, or else
// a loss or a refusal, by which o is judged then.
func (z *Zombies) knew(o *ledger.Op) bool {
	g := o.Grant
	eps := z.From(g, o.By())
	before := func(by int, t time.Duration) bool {
		return by == o.Process || o.Inv-eps > t
	}
	told := func(by, idx int, t time.Duration) bool { return (idx < o.InvIdx || by != o.Process) && before(by, t) }
	all := z.allGone(o, told)
	no := g.Refused()
	for no != nil && !(told(no.By, no.Idx, no.T) && (all || g.Concerns(no.Fence, o.Fence))) {
		no = no.Next
	}
	lost := g.ReportedLost() && told(g.LostBy, g.LostIdx, g.LostAt) && (all || g.Concerns(g.LossToken(), o.Fence))
	again := false // it was given back once more
	if g.Rare != nil {
		for _, x := range g.Rare.GivenBack {
			again = again || x.Idx < o.InvIdx && before(x.By, x.T) && g.Concerns(x.Fence, o.Fence)
		}
	}
	switch {
	case o.Use == ledger.UseReleased && g.ReleasedAt != ledger.Never && !z.goneOn(g, o.Inv, o.By()) && !(unheard(g, o) && !z.givenBack(g, o)) && (again || told(g.ReleasedBy, g.ReleaseIdx, g.ReleasedAt) && g.Concerns(g.ReleaseToken(), o.Fence)):
		o.Doubt().EndedTwice = lost || no != nil
	case lost:
		o.Use = ledger.UseLost
	case no != nil:
		o.Use, o.Doubt().No = ledger.UseDenied, no
	default:
		return false
	}
	return true
}

// unheard says whether the client that issued o may not have received the order to release g:
// nobody knows when it did, and o bears the client's own stamps. A child process writes until
// it reads that order.
func unheard(g *ledger.Grant, o *ledger.Op) bool {
	return g.ReleaseUnknown && o.Process != g.ReleasedBy && o.Has&history.HasBegan != 0 && (g.Rare == nil || !g.Rare.Begun)
}

// givenBack says whether a release of g was surely answered yes before o was issued.
func (z *Zombies) givenBack(g *ledger.Grant, o *ledger.Op) bool {
	return g.ReleaseOK != ledger.Never && o.Inv-z.From(g, o.By()) > g.ReleaseOK
}

// allGone says whether o, which bears no token of its lease g, was issued after each of g's
// tokens had been the subject of a refusal or of a reported loss, for which told holds.
func (*Zombies) allGone(o *ledger.Op, told func(by, idx int, t time.Duration) bool) bool {
	g := o.Grant
	if !g.TwoTokens() || o.Fence != 0 && slices.Contains(slices.Collect(g.Tokens), o.Fence) {
		return false
	}
	var endings []int
	for fence := range g.Tokens {
		no := g.Refused()
		for no != nil && !(no.Fence == fence && told(no.By, no.Idx, no.T)) {
			no = no.Next
		}
		idx := g.LossOf(fence, told)
		switch {
		case no != nil:
			endings = append(endings, no.Idx)
		case idx != 0:
			endings = append(endings, idx)
		default:
			return false
		}
	}
	o.Doubt().Endings = endings
	return true
}

// goneOn says whether g's owner still held it until t, though one of its processes had released
// it.
func (z *Zombies) goneOn(g *ledger.Grant, t time.Duration, by ledger.Stamper) bool {
	return g.Rare != nil && t <= ledger.Later(z.From(g, by), g.Rare.GoneOn) && g.Rare.GoneOn > 0
}

// reportedLate says whether o's owner had been granted g before o was issued, as far as the
// clocks tell, by an answer of which the history tells only after that, and g lasts longer than
// the lease that o was issued under, if there is one.
func (z *Zombies) reportedLate(o *ledger.Op, g *ledger.Grant) bool {
	switch {
	case g.OKIdx < o.InvIdx || g.Process == o.Process || g.OK-z.From(g, o.By()) > o.Inv:
		return false
	case o.Use == ledger.UseHeld && o.Grant != nil && o.Grant.Bears(o.Fence) && !g.Bears(o.Fence): // its token tells that it was not under g
		return false
	}
	return o.Use != ledger.UseHeld || o.Grant == nil || o.Due() < z.DeadlineFor(g, o.Inv, o.By())
}

// A lastWrite is when an owner wrote last under a lease.
type lastWrite struct {
	process int           // that did …
	at      time.Duration // … when …
	others  time.Duration // … and when any other one did; 0 is never
}

var unheldText = map[ledger.Use]string{
	ledger.UseNever:    "had not acquired it",
	ledger.UseRefused:  "had been refused it the last time it asked",
	ledger.UseUnknown:  "did not know whether its last acquire had succeeded",
	ledger.UseReleased: "had released it before",
	ledger.UseLost:     "had been told before that the lease was lost",
	ledger.UseDenied:   "had asked before, and been told that the lease was gone",
}

// unheld reports S8: a write was issued without a lease.
func (z *Zombies) unheld(f *ledger.Fact) {
	o, g := f.Op, f.Op.Grant
	h := &rule.Candidate{
		ID: "S8", Key: f.Key, Owners: []string{o.Holder.Owner}, Witness: []int{f.Landing.Idx}, Blame: rule.BlameClient, From: o.Inv, To: o.OK,
	}
	w := z.unsure(f)
	h.Refuted = func() bool { return w.covered }
	when := ""
	switch o.Use {
	case ledger.UseRefused, ledger.UseUnknown:
		extended := &ledger.LateWrite{Inv: o.Inv, Idx: o.InvIdx, By: o.By(), Own: o.HasBegan()}
		for _, x := range [...]*ledger.Grant{o.Holder.Grant, o.Holder.Prior} { // an extension told later may have kept a lease
			behind := x != nil && x.OKIdx > o.InvIdx && x.OK-z.From(x, o.By()) > o.Inv
			if x != nil && !behind && x.GoesOn() && z.Room("S8") && len(x.Rarely().Late) < ledger.MaxOverdue {
				x.Rare.Late = append(x.Rare.Late, extended)
			}
		}
		unsent := z.otherLease(o) // … or a release turn out never to have been sent
		h.Refuted = func() bool {
			return w.covered || extended.Covered || unsent != nil && unsent != g && w.inv-z.From(unsent, w.by) <= min(unsent.StoppedAt, z.DeadlineFor(unsent, w.inv, w.by))
		}
	case ledger.UseReleased:
		h.Witness, h.From, when = append(h.Witness, g.ReleaseIdx), g.Start, " (at "+words.At(g.ReleasedAt)+")"
		release, told := g.ReleaseIdx, o.Doubt().EndedTwice
		if g.Reentered() { // the release may turn out to have been an inner one
			g.Pin()
		}
		h.Refuted = func() bool {
			return w.covered || z.goneOn(g, w.inv, w.by) || !told && z.unsent[release]
		}
		if !told {
			z.unlessSent(f, release)
		}
	case ledger.UseLost:
		h.Witness, h.From, when = append(append(h.Witness, g.LostIdx), o.Doubt().Endings...), g.Start, " (at "+words.At(g.LostAt)+")"
		h.Stamp = rule.Stamped(g.LostAt, o.Inv, o.Inv-g.LostAt-z.From(g, o.By()), o.Has&history.HasBegan != 0, o.Process == g.LostBy)
	case ledger.UseDenied:
		no := o.Doubts.No
		h.Witness, h.From, when = append(append(h.Witness, no.Idx), o.Doubts.Endings...), g.Start, " (at "+words.At(no.T)+")"
		h.Stamp = rule.Stamped(no.T, o.Inv, o.Inv-no.T-z.From(g, o.By()), o.Has&history.HasBegan != 0, o.Process == no.By)
	}
	text := fmt.Sprintf("%s wrote %q to %s at %s, and the store accepted it, although %s %s%s.",
		o.Holder.Owner, o.Value, f.Key.Name, words.At(o.Inv), o.Holder.Owner, unheldText[o.Use], when)
	h.Text = func() string { return text }
	if p := o.Holder.Prior; o.Use == ledger.UseReleased && g.Rare != nil && g.Rare.MayBeInner && !o.Doubt().EndedTwice && p != nil && p.GoesOn() { // it may have been an inner release
		z.Suspect(h)
		return
	}
	z.found = true
	z.Violate(h)
}

// unlessSent withholds the finding that f's write, which comes after a release of unknown
// outcome, was late as well: it stands if the release turns out never to have been sent.
func (z *Zombies) unlessSent(f *ledger.Fact, release int) {
	o, g := f.Op, f.Op.Grant
	fenced := z.Header.Fenced && o.Fence != 0
	if (g.ReleaseOK == ledger.Never || g.ReleasedOnceMoreBehind(o, z.From(g, o.By()))) && !fenced && o.Inv-z.Past(g, o.By()) > z.due(o) {
		z.Withhold(release, z.unfenced(f.Key, f.Landing))
	}
}

// otherLease is another lease of o's owner under which o may have been issued: one that goes on, or
// whose release may turn out never to have been sent or to have begun later; nil if there is
// none.
func (z *Zombies) otherLease(o *ledger.Op) *ledger.Grant {
	for x := range o.Holder.Leases {
		stands := x.ReleasedAt == ledger.Never && x.GoesOn() && x.DeadlineIdx < o.InvIdx && o.Inv <= ledger.Later(z.From(x, o.By()), z.LatestFor(x, o.Inv, o.By())) || x.ReleasedAt != ledger.Never && (x.ReleaseOK == ledger.Never || x.ReleasedBy != o.Process)
		if stands && x != o.Grant && !x.RefusedTo(o.Process, o.InvIdx) && x.OK <= o.Inv && (o.Fence == 0 || x.Bears(o.Fence)) {
			x.Pin()
			return x
		}
	}
	return nil
}

// mayBeReentered says whether o may have been issued under another lease of its owner's: one
// that was re-entered either before or after its ending, which the clocks cannot tell.
func (z *Zombies) mayBeReentered(o *ledger.Op) bool {
	for _, x := range [...]*ledger.Grant{o.Holder.Grant, o.Holder.Prior} {
		if x != nil && x != o.Grant && x.Reentered() && x.ReleasedAt == ledger.Never && x.StoppedAt != ledger.Never && z.MayBeAcquiredSince(x, o) && o.Inv <= z.LatestFor(x, o.Inv, o.By()) && (o.Fence == 0 || x.Bears(o.Fence)) {
			return true
		}
	}
	return false
}

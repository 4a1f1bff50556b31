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

// Zombies decides S3z and S8: an accepted write was issued under a lease that
// its owner held, and told of.
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
		z.lateWord(f)
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
			z.told(f)
		}
	case ledger.Extended, ledger.Unmoved:
		if o := f.Op; o.Outcome == history.Fail && o.InvIdx != o.OKIdx { // of an automatic renewal only the library hears
			z.told(f)
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

// underLate books that o was issued under a lease of which the history told only then: of
// several, under the one that lasts longest. It says whether there was any.
func (z *Zombies) underLate(o *ledger.Op) (found bool) {
	for _, g := range [...]*ledger.Grant{o.Holder.Grant, o.Holder.Prior} {
		if g != nil && g != o.Grant && z.toldLate(o, g) {
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

// extendedMeanwhile says whether o, by its own word, was issued only once its lease had
// been extended. Whether a word told since ended that lease before o is for
// endedMeanwhile to say.
func extendedMeanwhile(o *ledger.Op) bool {
	g := o.Grant
	return g != nil && (g.GoesOn() || g == o.Holder.Grant || g == o.Holder.Prior) && g.Extended && g.DeadlineIdx > o.InvIdx && g.Start <= o.Inv && o.Inv < g.Latest()
}

// endedMeanwhile looks for an answer to another process of o's owner that had ended
// its lease before o, as the clocks prove, and that the history tells of only after
// o's invocation.
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

// unconfirmed says whether o's owner had no lease to write under, and knew. The
// order of one process needs no clock.
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

// knew says whether a word that ended o's lease came before o beyond doubt: the
// owner's release, or else a loss or a refusal, which becomes what o is judged by.
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
		o.Doubt().Told = lost || no != nil
	case lost:
		o.Use = ledger.UseLost
	case no != nil:
		o.Use, o.Doubt().No = ledger.UseDenied, no
	default:
		return false
	}
	return true
}

// unheard says whether the client that issued o may not have heard of g's release. Nobody
// knows whether the client was told to release, and o bears the client's own stamp: a child
// process writes until it reads that it is to release.
func unheard(g *ledger.Grant, o *ledger.Op) bool {
	return g.ReleaseUnknown && o.Process != g.ReleasedBy && o.Has&history.HasBegan != 0 && (g.Rare == nil || !g.Rare.Begun)
}

// givenBack says whether a release of g was answered yes, surely before o.
func (z *Zombies) givenBack(g *ledger.Grant, o *ledger.Op) bool {
	return g.ReleaseOK != ledger.Never && o.Inv-z.From(g, o.By()) > g.ReleaseOK
}

// allGone says whether o, which bears none of its tokens, was issued under a lease of several,
// each of which had been refused its owner, or been reported lost, before o.
func (*Zombies) allGone(o *ledger.Op, told func(by, idx int, t time.Duration) bool) bool {
	g := o.Grant
	if !g.TwoTokens() || o.Fence != 0 && slices.Contains(slices.Collect(g.Tokens), o.Fence) {
		return false
	}
	var words []int
	for fence := range g.Tokens {
		no := g.Refused()
		for no != nil && !(no.Fence == fence && told(no.By, no.Idx, no.T)) {
			no = no.Next
		}
		idx := g.LossOf(fence, told)
		switch {
		case no != nil:
			words = append(words, no.Idx)
		case idx != 0:
			words = append(words, idx)
		default:
			return false
		}
	}
	o.Doubt().Words = words
	return true
}

// goneOn says whether g's owner held it until t still, though one of its processes had
// released it.
func (z *Zombies) goneOn(g *ledger.Grant, t time.Duration, by ledger.Stamper) bool {
	return g.Rare != nil && t <= ledger.Later(z.From(g, by), g.Rare.GoneOn) && g.Rare.GoneOn > 0
}

// toldLate says whether o's owner had been granted g, as far as clocks tell, by an answer
// that the history tells of only after o was issued, and g lasts longer than the lease
// that o was issued under, if there is one.
func (z *Zombies) toldLate(o *ledger.Op, g *ledger.Grant) bool {
	switch {
	case g.OKIdx < o.InvIdx || g.Process == o.Process || g.OK-z.From(g, o.By()) > o.Inv:
		return false
	case o.Use == ledger.UseHeld && o.Grant != nil && o.Grant.Bears(o.Fence) && !g.Bears(o.Fence): // its token tells that it was not under g
		return false
	}
	return o.Use != ledger.UseHeld || o.Grant == nil || o.Due() < z.DeadlineFor(g, o.Inv, o.By())
}

// unsettledWrites are an owner's that may have to be judged again.
type unsettledWrites struct {
	unheld []*unheldWrite      // reported as without a lease
	late   []*ledger.LateWrite // reported as late while an acquire was under way

	open []*ledger.Op // of unknown outcome, issued without a lease, while an acquire was under way

	meanwhile []heldWrite   // accepted while a release or an extension was under way …
	unkept    time.Duration // … when the last one was issued that is not kept any more; 0 is none
}

// A lastWrite is when an owner wrote last under a lease.
type lastWrite struct {
	process int           // that did …
	at      time.Duration // … when …
	others  time.Duration // … and when any other one did; 0 is never
}

// An unheldWrite was reported (S8). An acquire of its owner's may turn out to have been
// answered before it.
type unheldWrite struct {
	inv     time.Duration
	idx     int // of its invocation
	by      ledger.Stamper
	covered bool // by a grant that was told late
	write   ledger.Op
	land    ledger.Landing
}

// unsure notes a write that is reported, if a grant told later may cover it.
func (z *Zombies) unsure(f *ledger.Fact) *unheldWrite {
	o := f.Op
	w := &unheldWrite{inv: o.Inv, idx: o.InvIdx, by: o.By()}
	if !z.Room("S8") {
		return w
	}
	w.write, w.land = *o, *f.Landing
	w.write.Forget()
	d := z.owners.At(o.Holder.ID)
	d.unheld = append(d.unheld, w)
	return w
}

// lateWord looks at those writes again when their owner is granted the key.
func (z *Zombies) lateWord(f *ledger.Fact) {
	d, o := z.owners.Get(f.Op.Holder.ID), f.Op
	if f.Kind == ledger.Granted {
		z.coverOpen(f.Grant, d)
	} else {
		z.reentered(f.Grant)
	}
	told := func(by ledger.Stamper, idx int, own bool, t time.Duration) bool {
		return (o.InvIdx < idx || o.Late || own) && by.Process != o.Process && o.OK-z.Clocks.Apart(o.By(), by) <= t
	}
	late := func(writes []*ledger.LateWrite) {
		for _, w := range writes {
			if w.By.Process != o.Process {
				w.Since(o.OK, f.Grant.Deadline)
			}
			if told(w.By, w.Idx, w.Own, w.Inv) && w.Inv-z.Past(f.Grant, w.By) <= f.Grant.Deadline {
				w.Cover(f.Grant.Deadline)
			}
		}
	}
	if g := o.Holder.Grant; g != nil && g.Rare != nil { // the one before, unless it was re-entered
		late(g.Rare.Late)
	}
	if d == nil {
		return
	}
	late(d.late)
	for _, w := range d.unheld {
		if !w.covered && told(w.by, w.idx, w.write.SaysBegan(), w.inv) {
			w.covered = true
			w.write.Grant, w.land.Op = f.Grant, &w.write
			z.late(f.Key, &w.land) // it was under this lease, then
		}
	}
}

// keptOpen is how many writes that are not settled are looked at when their owner is
// granted the key.
const keptOpen = 64

// givenUp keeps o, a write of unknown outcome without a lease, while an acquire of its
// owner's is under way, which may turn out to have been answered before o.
func (z *Zombies) givenUp(o *ledger.Op) {
	if !withoutLease(o) || !o.Holder.Asking(o) {
		return
	}
	d := z.owners.At(o.Holder.ID)
	d.open = slices.DeleteFunc(d.open, func(w *ledger.Op) bool { return w.Settled != 0 || !withoutLease(w) || !w.Holder.Asking(w) })
	if len(d.open) == keptOpen {
		z.unkept++
		return
	}
	d.open = append(d.open, o)
}

// withoutLease says whether o's owner had none when it issued o, and none to lose.
func withoutLease(o *ledger.Op) bool {
	return o.Use == ledger.UseNever || o.Use == ledger.UseRefused || o.Use == ledger.UseUnknown
}

// coverOpen books that writes which are not settled yet were issued under g, of which the
// history tells late: by the time that they land, it may be forgotten.
func (z *Zombies) coverOpen(g *ledger.Grant, d *unsettledWrites) {
	cover := func(w *ledger.Op) {
		if withoutLease(w) && z.toldLate(w, g) {
			z.under(w, g)
		}
	}
	n := 0
	for w := range g.Holder.Writing {
		if n++; n > keptOpen {
			z.unkept++
			break
		}
		cover(w)
	}
	if d != nil {
		for _, w := range d.open {
			cover(w)
		}
	}
}

// reentered notes for the writes under way that their owner has taken g once more: by the
// time that they land, a later re-entry may be all that is remembered.
func (z *Zombies) reentered(g *ledger.Grant) {
	n := 0
	for w := range g.Holder.Writing {
		if n++; n > keptOpen {
			z.unkept++
			return
		}
		if w.Grant == g && withoutLease(w) {
			z.NoteReentry(g, w)
		}
	}
}

var unheldText = map[ledger.Use]string{
	ledger.UseNever:    "had not acquired it",
	ledger.UseRefused:  "had been refused it the last time it asked",
	ledger.UseUnknown:  "did not know whether its last acquire had succeeded",
	ledger.UseReleased: "had released it before",
	ledger.UseLost:     "had been told before that the lease was lost",
	ledger.UseDenied:   "had asked before, and been told that the lease was gone",
}

// unheld reports S8.
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
		extended := &ledger.LateWrite{Inv: o.Inv, Idx: o.InvIdx, By: o.By(), Own: o.SaysBegan()}
		for _, x := range [...]*ledger.Grant{o.Holder.Grant, o.Holder.Prior} { // an extension told later may have kept a lease
			behind := x != nil && x.OKIdx > o.InvIdx && x.OK-z.From(x, o.By()) > o.Inv
			if x != nil && !behind && x.GoesOn() && z.Room("S8") && len(x.Rarely().Late) < ledger.MaxOverdue {
				x.Rare.Late = append(x.Rare.Late, extended)
			}
		}
		unsent := z.letGo(o) // … or a release turn out never to have been sent
		h.Refuted = func() bool {
			return w.covered || extended.Covered || unsent != nil && unsent != g && w.inv-z.From(unsent, w.by) <= min(unsent.StoppedAt, z.DeadlineFor(unsent, w.inv, w.by))
		}
	case ledger.UseReleased:
		h.Witness, h.From, when = append(h.Witness, g.ReleaseIdx), g.Start, " (at "+words.At(g.ReleasedAt)+")"
		release, told := g.ReleaseIdx, o.Doubt().Told
		if g.TakenTwice() { // the release may turn out to have been an inner one
			g.Pin()
		}
		h.Refuted = func() bool {
			return w.covered || z.goneOn(g, w.inv, w.by) || !told && z.unsent[release]
		}
		if !told {
			z.unlessSent(f, release)
		}
	case ledger.UseLost:
		h.Witness, h.From, when = append(append(h.Witness, g.LostIdx), o.Doubt().Words...), g.Start, " (at "+words.At(g.LostAt)+")"
		h.Stamp = rule.Stamped(g.LostAt, o.Inv, o.Inv-g.LostAt-z.From(g, o.By()), o.Has&history.HasBegan != 0, o.Process == g.LostBy)
	case ledger.UseDenied:
		no := o.Doubts.No
		h.Witness, h.From, when = append(append(h.Witness, no.Idx), o.Doubts.Words...), g.Start, " (at "+words.At(no.T)+")"
		h.Stamp = rule.Stamped(no.T, o.Inv, o.Inv-no.T-z.From(g, o.By()), o.Has&history.HasBegan != 0, o.Process == no.By)
	}
	text := fmt.Sprintf("%s wrote %q to %s at %s, and the store accepted it, although %s %s%s.",
		o.Holder.Owner, o.Value, f.Key.Name, words.At(o.Inv), o.Holder.Owner, unheldText[o.Use], when)
	h.Text = func() string { return text }
	if p := o.Holder.Prior; o.Use == ledger.UseReleased && g.Rare != nil && g.Rare.MayBeInner && !o.Doubt().Told && p != nil && p.GoesOn() { // it may have been an inner release
		z.Suspect(h)
		return
	}
	z.found = true
	z.Violate(h)
}

// unlessSent keeps f's write, behind a release of unknown outcome, if it was late as
// well: should the release turn out never to have been sent, it was that.
func (z *Zombies) unlessSent(f *ledger.Fact, release int) {
	o, g := f.Op, f.Op.Grant
	fenced := z.Header.Fenced && o.Fence != 0
	if (g.ReleaseOK == ledger.Never || g.ReleasedOnceMoreBehind(o, z.From(g, o.By()))) && !fenced && o.Inv-z.Past(g, o.By()) > z.due(o) {
		z.Withhold(release, z.unfenced(f.Key, f.Landing))
	}
}

// due is until when o could be issued in time: that which was known then, when it was
// late by that already.
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
			z.Suspect(z.hit(k, l, "the store had seen no newer token yet, and so accepted it"))
		}
	case o.Inv-eps > due:
		z.Violate(z.unfenced(k, l))
	case o.Inv >= due-eps && o.Inv-eps <= due:
		z.Suspect(z.hit(k, l, "the clocks do not tell whether that was in time"))
	}
}

// unfenced is a late write, until a renewal turns out to have been under way when it
// was issued.
func (z *Zombies) unfenced(k *ledger.Key, l *ledger.Landing) *rule.Candidate {
	h, w, g := z.hit(k, l, "the store accepted it, since no fence compares tokens there"), &ledger.LateWrite{Inv: l.Op.Inv, Idx: l.Op.InvIdx, By: l.Op.By(), Own: l.Op.SaysBegan()}, l.Op.Grant
	if known := l.Op.Overdue(); known != nil {
		w = known
	}
	other, again := z.letGo(l.Op), z.takenOnceMore(l.Op)
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

// letGo is another lease of o's owner that goes on, or whose release may turn out never
// to have been sent, or to have begun only later, so that o was issued under it; or nil.
func (z *Zombies) letGo(o *ledger.Op) *ledger.Grant {
	for x := range o.Holder.Leases {
		stands := x.ReleasedAt == ledger.Never && x.GoesOn() && x.DeadlineIdx < o.InvIdx && o.Inv <= ledger.Later(z.From(x, o.By()), x.Deadline) || x.ReleasedAt != ledger.Never && (x.ReleaseOK == ledger.Never || x.ReleasedBy != o.Process)
		if stands && x != o.Grant && !x.RefusedTo(o.Process, o.InvIdx) && x.OK <= o.Inv && (o.Fence == 0 || x.Bears(o.Fence)) {
			x.Pin()
			return x
		}
	}
	return nil
}

// takenOnceMore says whether o may have been issued under another lease of its owner's, of
// which clocks do not tell whether it was taken once more behind the word that ended it.
func (z *Zombies) takenOnceMore(o *ledger.Op) bool {
	for _, x := range [...]*ledger.Grant{o.Holder.Grant, o.Holder.Prior} {
		if x != nil && x != o.Grant && x.TakenTwice() && x.ReleasedAt == ledger.Never && x.StoppedAt != ledger.Never && z.MayBeTakenSince(x, o) && o.Inv <= x.Deadline && (o.Fence == 0 || x.Bears(o.Fence)) {
			return true
		}
	}
	return false
}

// covered looks at the late writes again when a renewal, which is told of when
// it has ended, has moved the deadline.
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

func (z *Zombies) hit(k *ledger.Key, l *ledger.Landing, outcome string) *rule.Candidate {
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

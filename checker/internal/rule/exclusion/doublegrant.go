package exclusion

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// DoubleGrants decides S1, no two owners hold one key at the same time, and S10 as a root cause
// of it.
type DoubleGrants struct {
	*rule.Env
	Stored   *Sampled // what nodes were seen to store; nil when nobody looks
	pending  checks
	order    int
	scratch  check
	unjudged map[*ledger.Grant]*check  // of a grant, not judged yet
	waiting  map[[2]*ledger.Grant]bool // pairs that an extension made, not judged yet
	untold   int                       // grants, or what made them last, told behind others that are forgotten, and that they may have met
	brief    bool                      // no check that is left is known to have lasted
	unclear  int                       // holds among very many that ended within the clock uncertainty of some who stamped them, and not of others
}

// A pair is two definite holds that overlap from an instant on, for how long is not known yet.
type pair struct {
	a, b *ledger.Grant
	from time.Duration
	idx  int // an extension, of a's, that made them overlap; 0 is none

	told, until time.Duration // when the extension was answered, and until when it made the lease last
}

func (*DoubleGrants) IDs() []string { return []string{"S1", "S10"} }
func (*DoubleGrants) Wants() []ledger.Kind {
	return []ledger.Kind{ledger.Granted, ledger.Extended, ledger.Reentered, ledger.Postponed, ledger.Unknown, ledger.Ticked}
}

func (d *DoubleGrants) Observe(f *ledger.Fact) {
	switch f.Kind {
	case ledger.Ticked:
		d.judgeDue()
	case ledger.Granted:
		d.met(f)
	case ledger.Extended, ledger.Reentered, ledger.Postponed:
		if g := f.Grant; f.Old < d.Now && !g.MetNobody(f.Op) && g.MetForgotten(max(f.Old, g.OK), g.End()) {
			d.untold++
			g.Ambiguous = true
		}
		for _, x := range f.Key.Held {
			if ledger.Conflicts(x, f.Grant) && f.Old < f.Grant.Deadline {
				d.stretched(x, f)
				if f.Kind == ledger.Postponed && x.OK > f.Grant.OK && f.Old-d.Apart(f.Grant, x) <= x.OK { // else it has been looked at
					d.early(f.Grant, x)
				}
			}
		}
	case ledger.Unknown:
		if o := f.Op; o.Action == history.Release && o.Grant != nil && !o.Inner {
			d.unsure(f)
		}
	}
}

// unsure handles a release of unknown outcome: should it never have been sent, its lease
// overlaps the grants of the key since.
func (d *DoubleGrants) unsure(f *ledger.Fact) {
	g := f.Op.Grant
	for _, x := range f.Key.Held {
		if g.ReleaseIdx == f.Op.InvIdx && ledger.Conflicts(g, x) {
			d.unlessSent(g, x)
		}
	}
}

// givenUp says whether g's lease was over by t, and surely given up.
func givenUp(g *ledger.Grant, t time.Duration) bool {
	return g.End() <= t && g.ReleasedAt != ledger.Never && !g.ReleaseUnknown
}

// judgeDue judges the pending checks that are older than the clock uncertainty.
func (d *DoubleGrants) judgeDue() {
	for len(d.pending) > 0 && d.Now > d.pending[0].from+d.Header.Epsilon {
		d.judge(heap.Pop(&d.pending).(*check))
	}
	if len(d.pending) > 0 {
		d.Due = min(d.Due, d.pending[0].from+d.Header.Epsilon)
	}
}

// Finish judges the checks that are left. A history that broke off within the clock uncertainty
// of a check does not decide it: the next event may have been a release.
func (d *DoubleGrants) Finish() {
	d.brief = d.Truncated
	for len(d.pending) > 0 {
		d.judge(heap.Pop(&d.pending).(*check))
	}
}

// Unplaced says what was not judged, for want of memory.
func (d *DoubleGrants) Unplaced() string {
	var out []string
	if d.untold > 0 {
		out = append(out, fmt.Sprintf("%s grants, or extensions or releases of theirs, were told so late that others, which may have held the key beside them, are no longer remembered: whether they met (S1, S6, S10) is not decided.", words.Thousands(d.untold)))
	}
	if d.unclear > 0 {
		out = append(out, fmt.Sprintf("Of %s holds, each beside more than %d others of its key, it depends on who stamped them whether they overlapped another's (S1): that is not decided.",
			words.Thousands(d.unclear), ledger.MostHeld))
	}
	return strings.Join(out, " ")
}

// met compares a fresh grant with the grants that its key remembers.
func (d *DoubleGrants) met(f *ledger.Fact) {
	g, k := f.Grant, f.Key
	if g.OK < d.Now && g.MetForgotten(g.OK, g.End()) {
		d.untold++
	}
	m := &d.scratch
	*m = check{of: g, from: g.OK, others: m.others[:0]}
	for _, x := range k.Held {
		if x.ReleaseUnknown && ledger.Conflicts(x, g) {
			d.unlessSent(x, g)
		}
		if !givenUp(x, g.OK) && ledger.Conflicts(x, g) {
			x.MeetWhileLeft(g)
			d.compare(m, x)
		}
	}
	if k.OverflowUntil() > g.OK && len(k.Overflow.Members) > 0 {
		m.joined = len(k.Overflow.Members)
		if own := g.Holder.Grant; own != nil && own.Place != 0 { // of another mode, and live
			m.own = own
		}
		k.Overflow.Awaiting++
	}
	if len(m.others) > 0 || m.joined > 0 {
		kept := *m
		kept.others = slices.Clone(m.others)
		if d.unjudged == nil {
			d.unjudged = make(map[*ledger.Grant]*check)
		}
		d.unjudged[g] = &kept
		d.pend(&kept)
	}
}

// unlessSent withholds the pair of x, whose release is of unknown outcome, and a later grant:
// both held if the release turns out never to have been sent.
func (d *DoubleGrants) unlessSent(x, g *ledger.Grant) {
	if g.OK >= x.ReleasedAt && g.OK < x.Deadline {
		x.Rarely().MetSince = true
	}
	if x.StoppedAt != x.ReleasedAt || g.OK < x.ReleasedAt || min(x.Deadline, g.End())-g.OK <= d.Apart(x, g) {
		return
	}
	x.Pin()
	g.Pin()
	d.Withhold(x.ReleaseIdx, d.candidate(pair{a: x, b: g, from: g.OK}))
}

// compare compares the grant of m, which is fresh, with x, another grant of its key.
func (d *DoubleGrants) compare(m *check, x *ledger.Grant) {
	g := m.of
	from, length := ledger.Overlap(x, g)
	switch {
	case length > 0 && from == m.from:
		m.others = append(m.others, x)
	case length > 0: // g is told of late
		d.pend(&check{of: g, others: []*ledger.Grant{x}, from: from})
	case x.ReleasedAt == ledger.Never && x.StoppedAt > from && from >= x.Latest() && g.OK < ledger.Later(x.Start, d.Header.TTL):
		d.suspect(x, g, "the lease, counted from the first byte of its acquire, had not run out, though its holder no longer relied on it")
	default:
		d.early(x, g)
	}
}

// stretched looks for an overlap that results from an extension, or from a release that began
// later than it seemed.
func (d *DoubleGrants) stretched(x *ledger.Grant, f *ledger.Fact) {
	g := f.Grant
	from, length := ledger.Overlap(x, g)
	before := min(x.End(), f.Old, g.StoppedAt) - from
	if length <= 0 || before > d.Farthest(x, g) || d.waits(x, g) || before > 0 && d.listed(x, g) {
		return
	}
	p := pair{a: g, b: x, from: from, idx: f.Op.OKIdx, told: f.Op.OK, until: g.Deadline}
	d.pend(&check{of: x, from: from, stretched: &p})
}

// listed says whether a double grant of a and b is among the violations kept, and not refuted so far.
func (d *DoubleGrants) listed(a, b *ledger.Grant) bool {
	return slices.ContainsFunc(d.Violations.Kept, func(h *rule.Candidate) bool {
		return h.ID == "S1" && (h.Pair == [2]*ledger.Grant{a, b} || h.Pair == [2]*ledger.Grant{b, a}) && d.Proved(h)
	})
}

// judgePair reports a violation where the overlap is beyond the clock uncertainty, else a
// suspicion.
func (d *DoubleGrants) judgePair(p pair) {
	_, length := ledger.Overlap(p.a, p.b)
	h, eps := d.candidate(p), d.Apart(p.a, p.b)
	switch {
	case !(d.brief && d.Now <= p.from+eps) && d.Together(p.a, p.b):
		d.Violate(h)
	case length > 0:
		d.Suspect(h)
	}
	if p.idx == 0 {
		d.early(p.a, p.b)
	}
}

func (d *DoubleGrants) candidate(p pair) *rule.Candidate {
	a, b := p.a, p.b
	if b.OK < a.OK {
		a, b = b, a
	}
	h := &rule.Candidate{
		ID: "S1", Key: a.Holder.Key, Owners: words.Owners(a.Owner(), b.Owner()), Witness: []int{a.OKIdx, a.AcquiredAt(b.Process), b.OKIdx}, Blame: rule.BlameServer,
		From: a.Start, To: p.from, Pair: [2]*ledger.Grant{a, b},
	}
	h.Length = func() time.Duration {
		_, length := ledger.Overlap(a, b)
		return length
	}
	h.Refuted = func() bool { return !d.Together(a, b) }
	h.Stamp = rule.Shared(a, b, p.from, d.Apart(a, b))
	h.Witness = slices.AppendSeq(h.Witness, a.Reentries)
	h.Witness = slices.AppendSeq(h.Witness, b.Reentries)
	if p.idx != 0 {
		h.Witness = append(h.Witness, p.idx)
	}
	if a.FirstDeadline <= p.from || a.TwoTokens() {
		h.Witness = append(h.Witness, a.DeadlineIdx)
	}
	late := unansweredBefore(a)
	h.Text = func() string {
		if p.idx != 0 {
			return p.prolonged(h.Length())
		}
		return fmt.Sprintf("Two holders of %s for at least %s. %s was granted it%s at %s and could rely on it until %s%s; %s was granted it%s at %s, while that time had not run out and no release had been sent. "+
			"The lock belonged to both.%s",
			a.Holder.Key.Name, words.Span(h.Length()), mode(a), words.Token(a.Fence), words.At(a.OK), words.At(a.Deadline), promise(a), mode(b), words.Token(b.Fence), words.At(b.OK), late)
	}
	return h
}

// unansweredBefore says which release of g's holder may have ended g, though it was of the lease before: it was of unknown
// outcome. It is empty where there is none.
func unansweredBefore(g *ledger.Grant) string {
	before := g.Holder.Prior
	if g.Holder.Grant != g || before == nil || !before.ReleaseUnknown {
		return ""
	}
	return fmt.Sprintf(" The release of %s's lease before that, sent at %s, was of unknown outcome: it may have arrived while the next one lasted.", g.Owner(), words.At(before.ReleasedAt))
}

// prolonged is the text of a finding where an extension made two holds overlap.
func (p pair) prolonged(length time.Duration) string {
	return fmt.Sprintf("Two holders of %s for at least %s. %s was granted it%s at %s. %s was granted it%s at %s and held it until %s. And yet at %s %s was told that its lease goes on, until %s, as if it had held the key all the time.",
		p.a.Holder.Key.Name, words.Span(length), mode(p.a), words.Token(p.a.Fence), words.At(p.a.OK), mode(p.b), words.Token(p.b.Fence), words.At(p.b.OK), words.At(p.b.End()), words.At(p.told), p.a.Owner(), words.At(p.until))
}

// early reports S10: g was granted before x's lease had run out, and a fault that makes nodes
// forget explains that, or a quorum was seen to have stored x's lease for longer. It is no harm
// where x's holder had been told of its loss before.
func (d *DoubleGrants) early(x, g *ledger.Grant) {
	eps := d.Apart(x, g)
	ok, idx, one := g.OK, g.OKIdx, x.Process == g.Process
	sent := func() bool { // a release, perhaps, before g
		return x.ReleasedAt-eps <= ok && !(one && x.ReleasedAt == ok && x.ReleaseIdx > idx)
	}
	if sent() || g.OK >= x.Deadline-eps || !one && ok <= x.OK+eps && eps > 0 { // perhaps g was first
		return
	}
	witness, how := []int{x.OKIdx, g.OKIdx}, "A fault by which nodes may forget was in force meanwhile."
	if nodes, idx := d.stored(x, g); len(nodes) > 0 {
		witness = append(witness, idx)
		how = fmt.Sprintf("%s had been seen to store it for longer than until then, and stored it no more.", strings.Join(nodes, ", "))
	} else if !d.Nemesis.Forgot(x.Start, g.OK) {
		return
	}
	told := func() bool { // that it was gone, before g
		return x.StoppedAt < ok || x.StoppedAt == ok && !(one && x.StopIdx > idx)
	}
	if told() && d.Suspicious.Full("S10") {
		return
	}
	witness = slices.AppendSeq(witness, x.Reentries) // that it was held by then may rest on a re-entry
	text := fmt.Sprintf("%s was granted %s%s at %s, %s before the lease of %s (granted%s at %s) could run out, and nobody had released it. %s",
		g.Owner(), g.Holder.Key.Name, words.Token(g.Fence), words.At(g.OK), words.Span(x.Deadline-g.OK), x.Owner(), words.Token(x.Fence), words.At(x.OK), how)
	h := &rule.Candidate{
		ID: "S10", Key: x.Holder.Key, Owners: words.Owners(x.Owner(), g.Owner()), Witness: witness, Blame: rule.BlameServer,
		From: x.Start, To: g.OK, Text: func() string { return text },
	}
	h.Stamp = rule.Shared(x, x, g.OK, 0)
	if told() { // nobody relied on the lease any more
		d.Suspect(h)
		return
	}
	x.Pin()
	h.Refuted = func() bool { return told() || sent() } // as the history told late
	d.Violate(h)
}

// stored lists the nodes that are known to have stored x for longer than until g.
func (d *DoubleGrants) stored(x, g *ledger.Grant) (nodes []string, idx int) {
	if d.Stored == nil {
		return nil, 0
	}
	return d.Stored.Bore(x, g)
}

func (d *DoubleGrants) suspect(x, g *ledger.Grant, why string) {
	if d.Suspicious.Full("S1") {
		return
	}
	text := fmt.Sprintf("%s may have held %s still (granted%s at %s) when %s was granted it%s at %s: %s.",
		x.Owner(), x.Holder.Key.Name, words.Token(x.Fence), words.At(x.OK), g.Owner(), words.Token(g.Fence), words.At(g.OK), why)
	d.Suspect(&rule.Candidate{
		ID: "S1", Key: x.Holder.Key, Owners: words.Owners(x.Owner(), g.Owner()), Witness: []int{x.OKIdx, g.OKIdx},
		From: x.Start, To: g.OK, Text: func() string { return text },
	})
}

func mode(g *ledger.Grant) string {
	if g.Mode == history.Shared {
		return g.Owner() + " (reader)"
	}
	return g.Owner()
}

func promise(g *ledger.Grant) string {
	if g.Assumed {
		return " (the lock promises no deadline: its TTL less drift stands in)"
	}
	return ""
}

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

// renewing is what may refute that f's grant is out of order with r, an earlier grant of the
// same owner's with the same token: an extension under way may turn out to have kept that
// lease, so that f's grant re-entered it. It is nil where nothing can.
func (t *Tokens) renewing(f *ledger.Fact, r ledger.TokenGrant) func() bool {
	if r.Fence != f.Grant.Fence || int(r.Owner) != f.Grant.Holder.OwnerNo {
		return nil
	}
	for p := range f.Grant.Holder.Leases {
		if p.OKIdx == r.Idx && t.MayBeExtending(p) && !t.OverBefore(p, f.Op) {
			o := *f.Op
			p.Pin()
			return func() bool { return t.MayReenter(p, &o) }
		}
	}
	return nil
}

// unlessCarriedOut withholds the finding that f's acquire was given the token of p again: only
// an extension of unknown outcome would make it a re-entry, since without one the servers kept
// p until served. That extension may turn out never to have been sent.
func (t *Tokens) unlessCarriedOut(f *ledger.Fact, p *ledger.Grant, served time.Duration) {
	o := f.Op
	if p.Rare == nil || p.Rare.VagueExtensions == 0 || p.Extending > 0 || p.Fence != o.Fence || o.Inv <= ledger.Later(t.From(p, o.By()), served) || len(t.unmoved[p]) == maxUnmoved {
		return
	}
	p.Pin()
	if t.unmoved == nil {
		t.unmoved = make(map[*ledger.Grant][]*unmovedLease)
	}
	t.unmoved[p] = append(t.unmoved[p], &unmovedLease{o.OKIdx, p.Rare.VagueExtensions, t.twice(p.Token(), *o)})
}

// unlessAnyCarriedOut does the same for each earlier lease of f's owner with that token.
func (t *Tokens) unlessAnyCarriedOut(f *ledger.Fact) {
	seen := map[*ledger.Grant]bool{f.Grant: true}
	for p := range f.Op.Holder.Leases {
		if !seen[p] {
			seen[p] = true
			t.unlessCarriedOut(f, p, p.ServedUntil)
		}
	}
}

// An unmovedLease is a lease whose token was given again, unless one of its extensions, all of
// unknown outcome, kept it until then.
type unmovedLease struct {
	by        int // the event of the second grant
	vague     int // extensions before it that may have been carried out
	candidate *rule.Candidate
}

// notCarriedOut reports those unmoved leases of g that no extension can have kept, now that the
// extension that was invoked at an event is known never to have been sent.
func (t *Tokens) notCarriedOut(g *ledger.Grant, invoked int) {
	if len(t.unmoved[g]) == 0 {
		return
	}
	t.unmoved[g] = slices.DeleteFunc(t.unmoved[g], func(u *unmovedLease) bool {
		if invoked < u.by {
			u.vague--
		}
		if u.vague == 0 {
			t.Violate(u.candidate)
		}
		return u.vague == 0
	})
}

// maxUnmoved is how many unmoved leases are kept per lease.
const maxUnmoved = 4

// reenteredLate reports that a re-entry got another token than the lease, where the lease is
// not its owner's latest, or the history tells of it only after its release.
func (t *Tokens) reenteredLate(f *ledger.Fact) {
	o := f.Op
	if o.MayReenter {
		return
	}
	for _, p := range f.Key.Held {
		if p.Holder != o.Holder || o.OK >= p.End() || p.Mode != o.Mode || p.Fence == 0 || p.Bears(o.Fence) {
			continue
		}
		if p.AcquiredByBefore(o.Process, o.InvIdx) || p.OK+t.From(p, o.By()) < o.Inv {
			p.Pin()
			ok := o.OK
			t.renamed(f, p, "took it once more while it held it", func() bool { return ok >= p.End() })
			return
		}
	}
}

// overLate reports that g's owner was given g's token again, where the history tells only later
// that g was over by then, so that it was no re-entry.
func (t *Tokens) overLate(f *ledger.Fact) {
	g := f.Grant
	if o, found := g.Again(); found && f.Op.Outcome == history.Fail && g.Fence != 0 && g.Mode == history.Exclusive && !g.TwoTokens() && o.Inv > ledger.Later(t.From(g, o.By()), f.Op.OK) {
		t.Violate(t.twice(g.Token(), o))
	}
	for x := range g.Holder.Leases {
		if x == g || x.Fence == 0 || x.Fence != g.Fence || x.Mode == history.Shared && g.Mode == history.Shared || x.OKIdx < g.OKIdx {
			continue
		}
		if o := acquireOf(x); t.OverBefore(g, &o) && (o.Inv <= ledger.Later(t.From(g, o.By()), g.ServedUntil) || g.Rare != nil && g.Rare.VagueExtensions > 0) {
			t.Violate(t.twice(g.Token(), o))
			return
		}
	}
}

// heldOn reports the first re-entry into g that got another token, where the history tells only
// later that g was still held by then.
func (t *Tokens) heldOn(f *ledger.Fact) {
	g := f.Grant
	var first *ledger.Grant
	for x := range g.Holder.Leases {
		if t.tookHeld(g, x, f.Old) && (first == nil || x.OKIdx < first.OKIdx) {
			first = x
		}
	}
	if first == nil {
		return
	}
	o := acquireOf(first)
	g.Pin()
	late := *f
	late.Op = &o
	t.renamed(&late, g, "took it once more while it held it", func() bool { return o.OK >= g.End() })
}

// tookHeld says whether g's owner re-entered it by x, with another token, while it surely held
// it: had it held only until old, as it had seemed, x would be no re-entry.
func (t *Tokens) tookHeld(g, x *ledger.Grant, old time.Duration) bool {
	if x == g || x.Fence == 0 || g.Fence == 0 || g.Bears(x.Fence) || x.Mode != g.Mode || x.OK < old {
		return false
	}
	held := x.OK < g.End() && (!g.Extended || g.DeadlineIdx < x.OKIdx)
	return held && (g.AcquiredByBefore(x.Process, x.InvIdx) || g.OK+t.From(g, x.By()) < x.Inv)
}

// acquireOf is the acquire by which g was granted.
func acquireOf(g *ledger.Grant) ledger.Op {
	return ledger.Op{Action: history.Acquire, Holder: g.Holder, Fence: g.Fence, Mode: g.Mode, Process: g.Process, Host: g.Host, Inv: g.Inv, InvIdx: g.InvIdx, OK: g.OK, OKIdx: g.OKIdx}
}

func (t *Tokens) duplicate(f *ledger.Fact, s *tokenState, again bool) {
	g := f.Grant
	for r := range g.Holder.Key.Tokens.Recent.Latest {
		if r.Fence != g.Fence || r.Mode == history.Shared && g.Mode == history.Shared || again && int(r.Owner) == g.Holder.OwnerNo {
			continue
		}
		h := t.twice(r, *f.Op)
		h.Refuted = t.renewing(f, r)
		t.Violate(h)
		return
	}
	if g.Holder.Key.Tokens.Recent.Dropped(g.Mode, func(c *ledger.DroppedTokens) bool {
		return g.Fence >= c.Low && g.Fence <= c.High && c.Ok+t.Header.Epsilon >= g.Inv
	}) {
		t.lost++
	}
}

// twice is the finding that o was given the token of an earlier grant r.
func (t *Tokens) twice(r ledger.TokenGrant, o ledger.Op) *rule.Candidate {
	h, from := o.Holder, t.Names.Called[r.Owner]
	text := fmt.Sprintf("Token %d of %s was given out twice: to %s at %s and to %s at %s. No store can tell the two holders apart by it.",
		o.Fence, h.Key.Name, from, words.At(r.Ok), h.Owner, words.At(o.OK))
	return &rule.Candidate{
		ID: "S4b", Key: h.Key, Owners: words.Owners(from, h.Owner), Witness: []int{r.Idx, o.OKIdx}, Blame: rule.BlameTokens, From: r.From, To: o.OK,
		Text: func() string { return text },
	}
}

// changed reports a re-entry or an extension that was answered with another token than the
// lease's.
func (t *Tokens) changed(f *ledger.Fact) {
	how := "extended its lease"
	if f.Kind == ledger.Reentered {
		how = "took it once more while it held it"
	}
	t.renamed(f, f.Grant, how, nil)
}

// renamed reports that f gave the lease g another token.
func (t *Tokens) renamed(f *ledger.Fact, g *ledger.Grant, how string, refuted func() bool) {
	text := fmt.Sprintf("%s was granted %s with token %d at %s, and was told another token, %d, when it %s at %s. "+
		"Writes of one lease then carry two tokens, and the store may reject its own holder.",
		g.Owner(), f.Key.Name, g.Fence, words.At(g.OK), f.Op.Fence, how, words.At(f.Op.OK))
	witness := []int{g.OKIdx, f.Op.OKIdx}
	if again := g.AcquiredBefore(f.Op.OKIdx); again != g.OKIdx { // that it held it by then may rest on a re-entry
		witness = []int{g.OKIdx, again, f.Op.OKIdx}
	}
	t.Violate(&rule.Candidate{
		ID: "S4b", Key: f.Key, Owners: []string{g.Owner()}, Witness: witness, Blame: rule.BlameLibrary,
		From: g.Inv, To: f.Op.OK, Text: func() string { return text }, Refuted: refuted,
	})
}

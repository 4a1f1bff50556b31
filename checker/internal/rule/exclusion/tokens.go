package exclusion

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// Tokens decides S4 and S4b: tokens grow from grant to grant, and no two grants have the same.
type Tokens struct {
	*rule.Env
	lost int // grants that may share a token with one that was dropped

	keys  rule.Table[tokenState]
	peaks rule.Table[[2]ledger.TokenGrant] // by holder: its process's highest tokens, by mode, within the clock uncertainty

	outranked []outranked // the latest

	unmoved map[*ledger.Grant][]*unmovedLease // tokens given twice, should no extension of unknown outcome have been sent
}

// tokenState is one key's tokens.
type tokenState struct {
	top       uint64    // the highest of all
	givenBack givenBack // the highest token of exclusive leases that were given back
	tops                // … as they rose; on hosts with a clock bound of their own, those of events without one
	hosts     []tops    // by host, from 1: what one clock cannot tell apart, another may
}

// tops are the grants by which the highest token of a key rose.
type tops struct {
	all   []ledger.TokenGrant // as of when each was answered
	mixed bool                // there were readers; until then excl would be all
	excl  []ledger.TokenGrant // the same among exclusive grants

	dropped uint64 // the highest token of those that every acquire then open came after
}

// of is the tops for grants that a host stamped.
func (s *tokenState) of(h ledger.Host) *tops {
	if h == 0 {
		return &s.tops
	}
	for len(s.hosts) < int(h) {
		s.hosts = append(s.hosts, tops{})
	}
	return &s.hosts[h-1]
}

// rivals are the tops among grants that exclude one of mode m.
func (c *tops) rivals(m history.Mode) []ledger.TokenGrant {
	if m == history.Shared && c.mixed {
		return c.excl
	}
	return c.all
}

func (*Tokens) IDs() []string            { return []string{"S4", "S4b"} }
func (*Tokens) Remembers() ledger.Memory { return ledger.TokensGiven }

func (*Tokens) Wants() []ledger.Kind {
	return []ledger.Kind{ledger.Granted, ledger.Reentered, ledger.Extended, ledger.Settled, ledger.Answered, ledger.Postponed, ledger.Rejected}
}
func (*Tokens) Finish() {}

func (t *Tokens) Observe(f *ledger.Fact) {
	switch f.Kind {
	case ledger.Granted:
		if f.Grant.Fence != 0 {
			t.grant(f)
		}
	case ledger.Settled:
		if o := f.Op; o.Action == history.Extend && !o.Executed && o.Settled == ledger.ByLink {
			for g := range o.Holder.Leases {
				if g != o.Grant && o.MayBeOf(g) {
					t.notCarriedOut(g, o.InvIdx)
				}
			}
			t.notCarriedOut(o.Grant, o.InvIdx)
		}
	case ledger.Answered:
		if f.Op.OK < f.Event.Time {
			t.overLate(f)
		}
		t.returned(f)
	case ledger.Rejected:
		t.turnedAway(f.Op)
	case ledger.Postponed:
		t.heldOn(f)
	case ledger.Reentered, ledger.Extended:
		switch g := f.Grant; {
		case f.Op.Fence == 0:
		case f.Op.Fence != g.Fence:
			t.changed(f)
		case f.Kind == ledger.Reentered && g.Rare != nil:
			t.unlessCarriedOut(f, g, g.Rare.ServedBefore)
		}
	}
}

func (t *Tokens) grant(f *ledger.Fact) {
	g, s := f.Grant, t.keys.At(f.Key.No)
	own := s.of(g.Host)
	if g.Mode == history.Shared && !own.mixed {
		own.mixed, own.excl = true, slices.Clone(own.all)
	}
	// It may be a re-entry, in another mode or after a loss that the servers did not know of.
	again := f.Op.MayReenter
	t.reenteredLate(f)
	t.follow(g)
	if g.Fence <= s.top {
		t.outrank(g, s)
		t.order(f, s, again)
		t.duplicate(f, s, again)
		if again {
			t.unlessAnyCarriedOut(f)
		}
	}
	s.top = max(s.top, g.Fence)
	me := g.Token()
	if g.OK < t.Now {
		t.observeLate(g, s)
	}
	bound := t.Now
	if o := f.Key.Open.Head; o != nil {
		bound = min(bound, o.Inv)
	}
	own.all = t.keepHighest(own, own.all, me, bound)
	if own.mixed && g.Mode == history.Exclusive {
		own.excl = t.keepHighest(own, own.excl, me, bound)
	}
}

// dropSteps is how many old tops are dropped at a time.
const dropSteps = 16

// keepHighest adds a grant whose token is the highest so far, or was when it was answered, and
// drops the ones before which no open acquire can have been asked for.
func (t *Tokens) keepHighest(of *tops, s []ledger.TokenGrant, me ledger.TokenGrant, bound time.Duration) []ledger.TokenGrant {
	n := len(s)
	switch {
	case n == 0 || me.Fence > s[n-1].Fence:
		s = append(s, me)
	case me.Ok < s[n-1].Ok: // told late
		i, _ := slices.BinarySearchFunc(s, me.Fence, func(x ledger.TokenGrant, fence uint64) int { return cmp.Compare(x.Fence, fence) })
		if !slices.ContainsFunc(s[i:], func(x ledger.TokenGrant) bool { return x.Ok <= me.Ok }) {
			s = slices.Insert(s, i, me)
		}
	}
	if len(s) <= dropSteps || s[dropSteps].Ok+t.Header.Epsilon >= bound {
		return s
	}
	past := dropSteps
	for past+1 < len(s) && s[past+1].Ok+t.Header.Epsilon < bound {
		past++
	}
	of.dropped = max(of.dropped, s[past-1].Fence)
	return s[:copy(s, s[past:])]
}

// order compares the token of f's grant with the highest that was given before it was asked
// for.
func (t *Tokens) order(f *ledger.Fact, s *tokenState, again bool) {
	g := f.Grant
	var high ledger.TokenGrant // of those that exclude g
	beyond := false            // it may have been asked for before those that are dropped
	for i := range len(s.hosts) + 1 {
		rivals := s.of(ledger.Host(i)).rivals(g.Mode)
		if n := len(rivals); n == 0 || g.Fence > rivals[n-1].Fence {
			continue
		} else if rivals[n-1].Fence > high.Fence {
			high = rivals[n-1]
		}
		r, out := t.outBefore(g, rivals)
		beyond = beyond || f.Op.Late && !out && g.Fence <= s.of(ledger.Host(i)).dropped
		if out && g.Fence <= r.Fence &&
			!(again && r.Fence == g.Fence && int(r.Owner) == g.Holder.OwnerNo) {
			t.wentBack(g, r, r, g.Token(), "", t.renewing(f, r))
			return
		}
	}
	if beyond {
		t.lost++
	}
	if high.Fence == 0 {
		return
	}
	if p, found := t.peaked(g); found && !again && g.Fence <= p.Fence {
		t.wentBack(g, p, p, g.Token(), "", t.renewing(f, p))
		return
	}
	if r := high; g.Fence < r.Fence {
		t.Suspect(t.candidate("S4", r, g, fmt.Sprintf(
			"The acquires of %s by %s and %s overlapped in time, and the one answered later, at %s, has the lower token (%d after %d).",
			g.Holder.Key.Name, t.Names.Called[r.Owner], g.Owner(), words.At(g.OK), g.Fence, r.Fence)))
	}
}

// outBefore is the latest of rivals that was answered before g was asked for.
func (t *Tokens) outBefore(g *ledger.Grant, rivals []ledger.TokenGrant) (r ledger.TokenGrant, out bool) {
	for _, r := range slices.Backward(rivals) {
		if r.By.Process == g.Process || r.Ok+t.Clocks.Apart(r.By, g.By()) < g.Inv {
			return r, true
		}
	}
	return r, false
}

// observeLate looks for grants that were asked for after g was granted, and of which the
// history tells before g.
func (t *Tokens) observeLate(g *ledger.Grant, s *tokenState) {
	for r := range g.Holder.Key.Tokens.Recent.Latest {
		if r.Mode == history.Shared && g.Mode == history.Shared ||
			r.By.Process == g.Process || g.OK+t.Clocks.Apart(g.By(), r.By) >= r.From || r.Fence > g.Fence {
			continue
		}
		if int(r.Owner) == g.Holder.OwnerNo && t.MayReenter(g, &ledger.Op{Fence: r.Fence, Inv: r.From, Process: r.By.Process, Host: r.By.Host}) { // that may have been a re-entry
			continue
		}
		t.wentBack(g, r, g.Token(), r, ", as the history tells late", nil)
	}
	if g.Holder.Key.Tokens.Recent.Dropped(g.Mode, func(c *ledger.DroppedTokens) bool {
		return c.Low <= g.Fence && g.OK+t.Clocks.Narrowest < c.From
	}) {
		t.lost++
	}
}

// wentBack reports that of two grants, g's and r, the second's token is not higher than the
// first's.
func (t *Tokens) wentBack(g *ledger.Grant, r, first, second ledger.TokenGrant, how string, refuted func() bool) {
	called := t.Names.Called
	h := t.candidate("S4", r, g, fmt.Sprintf(
		"%s was granted %s with token %d at %s%s. %s asked for it only after that, and was granted it at %s with token %d, which is not higher. "+
			"A store that compares tokens takes the later holder for the stale one.",
		called[first.Owner], g.Holder.Key.Name, first.Fence, words.At(first.Ok), how, called[second.Owner], words.At(second.Ok), second.Fence))
	h.Refuted = refuted
	t.Violate(h)
}

// Unplaced says what was not judged, for want of memory.
func (t *Tokens) Unplaced() string {
	if t.lost == 0 {
		return ""
	}
	return fmt.Sprintf("%s grants had been waited for while more than %s others were answered on their keys, or began long before anybody was told: whether they share a token with one of those (S4b) or are out of order (S4) is not decided.",
		words.Thousands(t.lost), words.Thousands(ledger.MostTokens))
}

func (t *Tokens) candidate(id string, r ledger.TokenGrant, g *ledger.Grant, text string) *rule.Candidate {
	return &rule.Candidate{
		ID: id, Key: g.Holder.Key, Owners: words.Owners(t.Names.Called[r.Owner], g.Owner()), Witness: []int{r.Idx, g.OKIdx},
		Blame: rule.BlameTokens, From: r.From, To: g.OK, Text: func() string { return text },
	}
}

// follow notes the highest tokens that g's process was granted for the same owner within the
// clock uncertainty; what is older is compared by time.
func (t *Tokens) follow(g *ledger.Grant) {
	p := g.Holder.Prior
	if p == nil || p.OK+t.Header.Epsilon < g.Inv || p.Process != g.Process {
		if peaks := t.peaks.Get(g.Holder.ID); peaks != nil {
			*peaks = [2]ledger.TokenGrant{}
		}
		return
	}
	if top := &t.peaks.At(g.Holder.ID)[p.Mode]; p.Fence >= top.Fence {
		*top = p.Token()
	}
}

// peaked is the highest of those tokens, which g's must exceed.
func (t *Tokens) peaked(g *ledger.Grant) (top ledger.TokenGrant, found bool) {
	peaks := t.peaks.Get(g.Holder.ID)
	if peaks == nil {
		return top, false
	}
	top = peaks[history.Exclusive]
	if r := peaks[history.Shared]; g.Mode == history.Exclusive && r.Fence > top.Fence {
		top = r
	}
	return top, top.Fence != 0
}

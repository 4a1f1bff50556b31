package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locktorture/workload/history"
)

// tokens decides S4 and S4b: tokens grow from grant to grant, and no two
// grants share one.
type tokens struct {
	j    *Judge
	lost int // grants that may share a token with one that was dropped
}

// tokenState is one key's tokens.
type tokenState struct {
	top    uint64 // the highest of all
	tops          // … as they rose; on hosts with a clock bound of their own, those of events without one
	hosts  []tops // by host, from 1: what one clock cannot tell apart, another may
	recent recency

	renamed []step // tokens that re-entries and extensions changed to, the latest
}

// tops are how the highest token of any grant rose.
type tops struct {
	all   []step // as of when each was answered
	mixed bool   // there were readers; until then excl would be all
	excl  []step // the same among exclusive grants
}

// of are the tops of a host's grants.
func (s *tokenState) of(h host) *tops {
	if h == 0 {
		return &s.tops
	}
	for len(s.hosts) < int(h) {
		s.hosts = append(s.hosts, tops{})
	}
	return &s.hosts[h-1]
}

// rivals are those that exclude a grant of mode m.
func (c *tops) rivals(m history.Mode) []step {
	if m == history.Shared && c.mixed {
		return c.excl
	}
	return c.all
}

// A step is a grant as the token rules see it. It points to nothing, so that
// moving many of them costs little.
type step struct {
	ok    time.Duration
	from  time.Duration
	fence uint64
	idx   int
	by    int // the process that was granted it
	owner int32
	mode  history.Mode
	host  host
}

// step is g as the token rules see it.
func (g *grant) step() step {
	return step{g.ok, g.start, g.fence, g.okIdx, g.by, int32(g.holder.no), g.mode, g.host}
}

func (*tokens) ids() []string { return []string{"S4", "S4b"} }
func (*tokens) wants() []what { return []what{granted, reentered, extended} }
func (*tokens) finish()       {}

func (t *tokens) see(f *fact) {
	switch f.what {
	case granted:
		if f.grant.fence != 0 {
			t.grant(f)
		}
	case reentered, extended:
		switch g := f.grant; {
		case f.op.fence == 0:
		case f.op.fence != g.fence:
			t.changed(f)
		case f.what == reentered && g.trouble != nil:
			t.unlessCarriedOut(f, g, g.trouble.kept)
		}
	}
}

func (t *tokens) grant(f *fact) {
	g, s := f.grant, &f.key.tok
	own := s.of(g.host)
	if g.mode == history.Shared && !own.mixed {
		own.mixed, own.excl = true, slices.Clone(own.all)
	}
	// It may be a re-entry, in another mode or after a loss that the servers did not know of.
	again := f.op.again
	t.reenteredLate(f)
	g.holder.follow(g, t.j.h.Epsilon)
	if g.fence <= s.top {
		t.order(f, s, again)
		t.duplicate(f, s, again)
		if p := g.holder.prior; again && p != nil {
			t.unlessCarriedOut(f, p, p.served)
		}
	}
	s.top = max(s.top, g.fence)
	me := g.step()
	if g.ok < t.j.now {
		t.toldLate(g, s)
	}
	bound := t.j.now
	if o := f.key.leases.head; o != nil {
		bound = min(bound, o.inv)
	}
	s.recent.add(me, func(x step) bool { return x.ok+t.j.h.Epsilon < bound })
	own.all = t.climb(own.all, me, bound)
	if own.mixed && g.mode == history.Exclusive {
		own.excl = t.climb(own.excl, me, bound)
	}
}

// dropSteps is how many steps are dropped at a time.
const dropSteps = 16

// climb adds a grant that carries the highest token so far, or did when it was
// answered, and drops the steps that every acquire still open came after.
func (t *tokens) climb(s []step, me step, bound time.Duration) []step {
	n := len(s)
	switch {
	case n == 0 || me.fence > s[n-1].fence:
		s = append(s, me)
	case me.ok < s[n-1].ok: // told late
		i, _ := slices.BinarySearchFunc(s, me.fence, func(x step, fence uint64) int { return cmp.Compare(x.fence, fence) })
		if !slices.ContainsFunc(s[i:], func(x step) bool { return x.ok <= me.ok }) {
			s = slices.Insert(s, i, me)
		}
	}
	if len(s) <= dropSteps || s[dropSteps].ok+t.j.h.Epsilon >= bound {
		return s
	}
	past := dropSteps
	for past+1 < len(s) && s[past+1].ok+t.j.h.Epsilon < bound {
		past++
	}
	return s[:copy(s, s[past:])]
}

// order looks for the highest token that was out before g was asked for.
func (t *tokens) order(f *fact, s *tokenState, again bool) {
	g := f.grant
	var high step // of those that exclude g
	for i := range len(s.hosts) + 1 {
		rivals := s.of(host(i)).rivals(g.mode)
		if n := len(rivals); n == 0 || g.fence > rivals[n-1].fence {
			continue
		} else if rivals[n-1].fence > high.fence {
			high = rivals[n-1]
		}
		if r, out := t.outBefore(g, rivals); out && t.j.test.outOfOrder(g.fence, r.fence) &&
			!(again && r.fence == g.fence && int(r.owner) == g.holder.no) {
			t.wentBack(g, r, r, g.step(), "", t.renewing(f, r))
			return
		}
	}
	if high.fence == 0 {
		return
	}
	if p, found := g.holder.peaked(g); found && !again && t.j.test.outOfOrder(g.fence, p.fence) {
		t.wentBack(g, p, p, g.step(), "", t.renewing(f, p))
		return
	}
	if r := high; g.fence < r.fence {
		t.j.suspect(t.hit("S4", r, g, fmt.Sprintf(
			"The acquires of %s by %s and %s overlapped in time, and the one answered later, at %s, has the lower token (%d after %d).",
			g.holder.key.name, t.j.names.called[r.owner], g.owner(), at(g.ok), g.fence, r.fence)))
	}
}

// outBefore is the latest of rivals that was answered before g was asked for.
func (t *tokens) outBefore(g *grant, rivals []step) (r step, out bool) {
	for _, r := range slices.Backward(rivals) {
		if r.by == g.by || t.j.test.precedes(r.ok, g.inv, t.j.clock.apart(r.host, g.host)) {
			return r, true
		}
	}
	return r, false
}

// toldLate looks for grants that were asked for after g, and told of before.
func (t *tokens) toldLate(g *grant, s *tokenState) {
	for _, r := range s.recent.latest() {
		if r.mode == history.Shared && g.mode == history.Shared ||
			!t.j.test.precedes(g.ok, r.from, t.j.clock.apart(g.host, r.host)) || !t.j.test.outOfOrder(r.fence, g.fence) {
			continue
		}
		if int(r.owner) == g.holder.no && t.j.lingers(g, &op{fence: r.fence, inv: r.from, process: r.by, host: r.host}) { // that may have been a re-entry
			continue
		}
		t.wentBack(g, r, g.step(), r, ", as the history tells late", nil)
	}
	if s.recent.dropped(g.mode, func(c *droppedTokens) bool {
		return c.low <= g.fence && t.j.test.precedes(g.ok, c.from, t.j.clock.narrowest)
	}) {
		t.lost++
	}
}

// wentBack reports that the token of the second of two grants, g's and r, is not
// higher than that of the first.
func (t *tokens) wentBack(g *grant, r, first, second step, how string, refuted func() bool) {
	called := t.j.names.called
	h := t.hit("S4", r, g, fmt.Sprintf(
		"%s was granted %s with token %d at %s%s. %s asked for it only after that, and was granted it at %s with token %d, which is not higher. "+
			"A store that compares tokens takes the later holder for the stale one.",
		called[first.owner], g.holder.key.name, first.fence, at(first.ok), how, called[second.owner], at(second.ok), second.fence))
	h.refuted = refuted
	t.j.violate(h)
}

// renewing is what may refute that f's grant came out of order behind r, its owner's
// grant before with the same token: an extension under way may turn out to have kept
// that lease, so that f's is a re-entry. It is nil when nothing can.
func (t *tokens) renewing(f *fact, r step) func() bool {
	p := f.grant.holder.prior
	if p == nil || p.extends == 0 || p.okIdx != r.idx || r.fence != f.grant.fence || t.j.overBefore(p, f.op) {
		return nil
	}
	o := *f.op
	t.j.tie(tieRenewed, p)
	return func() bool { return t.j.lingers(p, &o) }
}

// unlessCarriedOut keeps that f's acquire was given the token of p once more, when nothing
// but an extension of unknown outcome makes it a re-entry, since the servers kept p until
// served: that may turn out never to have been sent.
func (t *tokens) unlessCarriedOut(f *fact, p *grant, served time.Duration) {
	o := f.op
	if p.trouble == nil || p.trouble.vague == 0 || p.extends > 0 || p.fence != o.fence || o.inv <= later(t.j.from(p, o.host), served) || len(p.trouble.unmoved) == maxUnmoved {
		return
	}
	t.j.tie(tieRenewed, p)
	p.trouble.unmoved = append(p.trouble.unmoved, t.twice(p.step(), o))
}

// maxUnmoved is how many grants are kept that share their token with one lease, which an
// extension of unknown outcome may have kept.
const maxUnmoved = 4

// reenteredLate reports that a re-entry, of which the history tells only when the lease
// has been given back, came with another token.
func (t *tokens) reenteredLate(f *fact) {
	p, o := f.grant.holder.prior, f.op
	if p == nil || p.goesOn() || o.ok >= p.end() || p.mode != o.mode || p.fence == 0 || p.fence == o.fence {
		return
	}
	if p.by == o.process && p.okIdx < o.invIdx || t.j.test.precedes(p.ok, o.inv, t.j.from(p, o.host)) {
		t.j.tie(tieRenewed, p)
		ok := o.ok
		t.renamed(f, p, "took it once more while it held it", func() bool { return ok >= p.end() })
	}
}

func (t *tokens) duplicate(f *fact, s *tokenState, again bool) {
	g := f.grant
	for _, r := range s.recent.latest() {
		if r.fence != g.fence || r.mode == history.Shared && g.mode == history.Shared || again && int(r.owner) == g.holder.no {
			continue
		}
		h := t.twice(r, f.op)
		h.refuted = t.renewing(f, r)
		t.j.violate(h)
		return
	}
	if s.recent.dropped(g.mode, func(c *droppedTokens) bool {
		return g.fence >= c.low && g.fence <= c.high && !t.j.test.precedes(c.ok, g.inv, t.j.h.Epsilon)
	}) {
		t.lost++
	}
}

// twice says that o was given the token of an earlier grant r.
func (t *tokens) twice(r step, o *op) *hit {
	h, from := o.holder, t.j.names.called[r.owner]
	text := fmt.Sprintf("Token %d of %s was given out twice: to %s at %s and to %s at %s. No store can tell the two holders apart by it.",
		o.fence, h.key.name, from, at(r.ok), h.owner, at(o.ok))
	return &hit{
		id: "S4b", key: h.key, owners: owners(from, h.owner), witness: []int{r.idx, o.okIdx}, blame: blameServer, from: r.from, to: o.ok,
		text: func() string { return text },
	}
}

// unplaced says what was not judged, for want of memory.
func (t *tokens) unplaced() string {
	if t.lost == 0 {
		return ""
	}
	return fmt.Sprintf("%s grants had been waited for while more than %s others were answered on their keys: whether they share a token with one of those (S4b) or are out of order (S4) is not decided.",
		thousands(t.lost), thousands(mostTokens))
}

// changed reports a re-entry or an extension that came back with another token.
func (t *tokens) changed(f *fact) {
	how := "extended its lease"
	if f.what == reentered {
		how = "took it once more while it held it"
	}
	f.key.tok.rename(step{ok: f.op.ok, fence: f.op.fence, idx: f.op.okIdx, owner: int32(f.grant.holder.no)})
	t.renamed(f, f.grant, how, nil)
}

// renamed reports that f gave the lease g another token.
func (t *tokens) renamed(f *fact, g *grant, how string, refuted func() bool) {
	text := fmt.Sprintf("%s was granted %s with token %d at %s, and was told another token, %d, when it %s at %s. "+
		"Writes of one lease then carry two tokens, and the store may reject its own holder.",
		g.owner(), f.key.name, g.fence, at(g.ok), f.op.fence, how, at(f.op.ok))
	t.j.violate(&hit{
		id: "S4b", key: f.key, owners: []string{g.owner()}, witness: []int{g.okIdx, f.op.okIdx}, blame: blameLibrary,
		from: g.inv, to: f.op.ok, text: func() string { return text }, refuted: refuted,
	})
}

// mostRenamed is how many tokens of a key are remembered that a re-entry or an
// extension changed to.
const mostRenamed = 64

// rename notes another token that a lease was given.
func (s *tokenState) rename(x step) {
	if len(s.renamed) == mostRenamed {
		s.recent.drop(s.renamed[0].fence)
		s.renamed = s.renamed[:copy(s.renamed, s.renamed[1:])]
	}
	s.renamed = append(s.renamed, x)
}

func (t *tokens) hit(id string, r step, g *grant, text string) *hit {
	return &hit{
		id: id, key: g.holder.key, owners: owners(t.j.names.called[r.owner], g.owner()), witness: []int{r.idx, g.okIdx},
		blame: blameServer, from: r.from, to: g.ok, text: func() string { return text },
	}
}

// owners lists the owners of a finding, each once.
func owners(names ...string) []string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// follow books the highest tokens that g's process was granted by the same owner's
// name since its stamps were further apart than the clocks may be: what lies before
// is compared by time.
func (h *holder) follow(g *grant, eps time.Duration) {
	p := h.prior
	if p == nil || p.by != g.by || p.ok+eps < g.inv {
		if h.detail != nil {
			h.detail.peaks = [2]step{}
		}
		return
	}
	if top := &h.more().peaks[p.mode]; p.fence >= top.fence {
		*top = p.step()
	}
}

// peaked is the highest of those tokens that g must exceed.
func (h *holder) peaked(g *grant) (top step, found bool) {
	if h.detail == nil {
		return top, false
	}
	top = h.detail.peaks[history.Exclusive]
	if r := h.detail.peaks[history.Shared]; g.mode == history.Exclusive && r.fence > top.fence {
		top = r
	}
	return top, top.fence != 0
}

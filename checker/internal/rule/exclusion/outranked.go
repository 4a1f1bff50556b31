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

// Of two acquires that overlapped in time nobody knows which was granted first, and their tokens may be
// in either order. But one that is answered when the other's lease has been given back was granted behind
// it, or both held the key at once. If its token is the lower one, and a store that compares tokens
// rejects what its owner writes within the lease, then the order of the tokens is wrong in either case.

// givenBack is a lease that was given back, with success.
type givenBack struct {
	ledger.TokenGrant
	at  time.Duration // when that was answered
	by  ledger.Stamper
	idx int // the event
}

// outranked is a lease with a lower token than one that had been given back when it was granted.
type outranked struct {
	grant  int // its event
	higher givenBack
}

// returned notes a lease that was given back.
func (t *Tokens) returned(f *ledger.Fact) {
	g, o := f.Grant, f.Op
	if s := t.keys.At(g.Holder.Key.No); o.Outcome == history.OK && g.Mode == history.Exclusive && g.Fence > s.givenBack.Fence {
		s.givenBack = givenBack{g.Token(), o.OK, o.By(), o.OKIdx}
	}
}

// outrank notes g if its token is lower than that of a lease that was given back before g was granted.
func (t *Tokens) outrank(g *ledger.Grant, s *tokenState) {
	higher := s.givenBack
	if g.Mode == history.Exclusive && g.Fence < higher.Fence && int(higher.Owner) != g.Holder.OwnerNo && higher.at+t.Clocks.Apart(higher.by, g.By()) < g.OK {
		t.outranked = rule.AppendLatest(t.outranked, outranked{g.OKIdx, higher})
	}
}

// turnedAway reports the first write that the store rejected of the owner of such a lease.
func (t *Tokens) turnedAway(o *ledger.Op) {
	g := o.Grant
	if g == nil || g.Fence != o.Fence || !t.Rightful(o) {
		return
	}
	i := slices.IndexFunc(t.outranked, func(x outranked) bool { return x.grant == g.OKIdx })
	if i < 0 {
		return
	}
	x := t.outranked[i].higher
	t.outranked = slices.Delete(t.outranked, i, i+1)
	called, key := t.Names.Called[x.Owner], g.Holder.Key.Name
	text := fmt.Sprintf("%s was granted %s with token %d at %s, when %s, whose token was %d, had given it back, by %s. So the store, which compares tokens, took %s for the stale one, "+
		"and rejected a write that was issued at %s, within the lease.",
		g.Owner(), key, g.Fence, words.At(g.OK), called, x.Fence, words.At(x.at), g.Owner(), words.At(o.Inv))
	h := t.candidate("S4", x.TokenGrant, g, text)
	h.Witness, h.To = append(h.Witness, x.idx, o.OKIdx), o.OK
	h.Remedy = "issue the token in the step that takes the lock, not in one before it."
	t.Violate(h)
}

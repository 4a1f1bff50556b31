package ledger

import (
	"slices"
	"time"

	"locktorture/workload/history"
)

// Of a key's grants, the latest are compared with each one that is out of order,
// and as many more as an acquire that is still open may share a token with. An
// older one that shares a token is out of order as well, and found as such (S4).
const (
	RecentTokens = 64
	MostTokens   = 4096
)

// tokens are the tokens of a key, and to whom they were given.
type tokens struct {
	Recent  recentGrants
	renamed []TokenGrant // tokens that re-entries and extensions changed to, the latest
}

// A TokenGrant is what the token rules need of a grant. It has no pointers, so that moving many
// of them is cheap.
type TokenGrant struct {
	Ok    time.Duration
	From  time.Duration
	Fence uint64
	Idx   int
	By    Stamper
	Owner int32
	Mode  history.Mode
}

// Token is g as a TokenGrant.
func (g *Grant) Token() TokenGrant {
	return TokenGrant{g.OK, g.Start, g.Fence, g.OKIdx, g.By(), int32(g.Holder.OwnerNo), g.Mode}
}

// mostRenamed is how many tokens of a key are remembered that leases were given by a re-entry
// or an extension.
const mostRenamed = 64

// rename notes that a re-entry or an extension gave a lease another token.
func (s *tokens) rename(x TokenGrant) {
	if len(s.renamed) == mostRenamed {
		s.Recent.drop(s.renamed[0].Fence)
		s.renamed = s.renamed[:copy(s.renamed, s.renamed[1:])]
	}
	s.renamed = append(s.renamed, x)
}

// Given is the latest remembered grant of k with this token, preferably one of h's.
func (k *Key) Given(fence uint64, h *Holder) (of TokenGrant, found bool) {
	look := func(x TokenGrant) {
		if x.Fence == fence && (!found || int(of.Owner) != h.OwnerNo) {
			of, found = x, true
		}
	}
	for x := range k.Tokens.Recent.Latest {
		look(x)
	}
	for _, x := range k.Tokens.renamed {
		look(x)
	}
	for _, x := range k.Held {
		if x.Fence == fence && (!found || x.Holder == h) {
			of, found = x.Token(), true
		}
	}
	return of, found
}

// Forgot says whether h may have been granted a lease with a token that none of its
// remembered leases bears.
func (h *Holder) Forgot(fence uint64) bool {
	r, known := &h.Key.Tokens.Recent, false
	for x := range r.Latest {
		if x.Fence == fence && int(x.Owner) == h.OwnerNo {
			return true
		}
		known = known || x.Fence == fence
	}
	return !known && r.Forgets(fence)
}

// issue notes the token of a fresh grant.
func (l *Ledger) issue(g *Grant) {
	if g.Fence == 0 || l.Memory&TokensGiven == 0 {
		return
	}
	k, bound := g.Holder.Key, l.Now
	if o := k.Open.Head; o != nil {
		bound = min(bound, o.Inv)
	}
	k.Tokens.Recent.add(g.Token(), func(x *TokenGrant) bool { return x.Ok+l.Header.Epsilon < bound })
}

// A recentGrants is a ring of the latest grants of a key, in the order in which the history
// tells of them.
type recentGrants struct {
	ring       []TokenGrant
	first      int              // the place of the oldest one in the ring …
	count      int              // … and how many there are
	lowest     uint64           // of the tokens that are no longer looked at; 0 is none …
	highest    uint64           // … and the highest
	overflowed [2]DroppedTokens // by mode: what was dropped although an open acquire may share a token with it
}

// DroppedTokens summarises grants that were dropped from a ring.
type DroppedTokens struct {
	count     int
	Low, High uint64        // their tokens
	From, Ok  time.Duration // when the last of them was asked for, and answered
}

// Latest yields the grants in the ring, the oldest first.
func (r *recentGrants) Latest(yield func(TokenGrant) bool) {
	for i := range r.count {
		if !yield(r.ring[(r.first+i)%len(r.ring)]) {
			return
		}
	}
}

// add adds a grant, and drops the oldest ones for which passed says that no open acquire can
// share their token.
func (r *recentGrants) add(me TokenGrant, passed func(*TokenGrant) bool) {
	for r.count >= RecentTokens {
		first := &r.ring[r.first]
		if !passed(first) {
			if r.count < MostTokens {
				break
			}
			r.overflowed[first.Mode].add(*first)
		}
		r.drop(first.Fence)
		r.first = (r.first + 1) % len(r.ring)
		r.count--
	}
	if r.count == len(r.ring) {
		ring := slices.AppendSeq(make([]TokenGrant, 0, max(fewTokens, 2*r.count)), r.Latest)
		r.ring, r.first = ring[:cap(ring)], 0
	}
	r.ring[(r.first+r.count)%len(r.ring)] = me
	r.count++
}

// fewTokens is the initial size of a ring.
const fewTokens = 4

// drop notes that a grant with this token has been dropped.
func (r *recentGrants) drop(fence uint64) {
	if r.lowest == 0 || fence < r.lowest {
		r.lowest = fence
	}
	r.highest = max(r.highest, fence)
}

// Forgets says whether a grant with this token may have been dropped.
func (r *recentGrants) Forgets(fence uint64) bool {
	return r.lowest != 0 && fence >= r.lowest && fence <= r.highest
}

// Dropped says whether is holds for any dropped tokens of grants that exclude one of mode m.
func (r *recentGrants) Dropped(m history.Mode, is func(*DroppedTokens) bool) bool {
	for mode := range r.overflowed {
		if s := &r.overflowed[mode]; s.count > 0 && (m == history.Exclusive || mode == int(history.Exclusive)) && is(s) {
			return true
		}
	}
	return false
}

func (s *DroppedTokens) add(x TokenGrant) {
	if s.count == 0 {
		s.Low, s.High, s.From, s.Ok = x.Fence, x.Fence, x.From, x.Ok
	}
	s.count++
	s.Low, s.High = min(s.Low, x.Fence), max(s.High, x.Fence)
	s.From, s.Ok = max(s.From, x.From), max(s.Ok, x.Ok)
}

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

// turnedAway reports R4: the store rejected the write of the holder of the newest token.
func (b *bookkeeping) turnedAway(o *ledger.Op, g *ledger.Grant) {
	k := o.Holder.Key
	text := fmt.Sprintf("%s held %s with token %d from %s until %s, and nobody had been given a higher one; and yet the store rejected its write %q, issued at %s.",
		g.Owner(), k.Name, o.Fence, words.At(g.OK), words.At(g.Deadline), o.Value, words.At(o.Inv))
	order, seq, fence, ok, idx, by := &k.Log.Order, o.Seq, o.Fence, o.OK, o.OKIdx, o.By()
	g.Pin()
	b.j.Violate(&rule.Candidate{
		ID: "R4", Key: k, Owners: []string{g.Owner()}, Witness: []int{g.OKIdx, o.OKIdx}, Blame: rule.BlameBooks, From: b.j.Now, To: b.j.Now,
		Text: func() string { return text }, Refuted: func() bool { return order.Before(seq) > fence || !b.j.LastsBeyond(g, ok, idx, by) },
	})
}

// borrowed reports R5: an accepted write had a token that only other owners were given.
func (b *bookkeeping) borrowed(f *ledger.Fact) {
	o, g := f.Op, f.Op.Grant
	if o.Fence == 0 || g != nil && g.Bears(o.Fence) || o.Holder.Prior != nil && o.Holder.Prior.Bears(o.Fence) {
		return
	}
	of, found := f.Key.Given(o.Fence, o.Holder)
	switch {
	case !found:
		if f.Key.Tokens.Recent.Forgets(o.Fence) {
			b.unowned++
		}
		return
	case int(of.Owner) == o.Holder.OwnerNo:
		return
	}
	owner := b.j.Names.Called[of.Owner]
	text := fmt.Sprintf("%s wrote %q to %s with token %d, which had been given to %s, at %s, and not to %s. The fence takes it for that one.", o.Holder.Owner, o.Value, f.Key.Name, o.Fence, owner, words.At(of.Ok), o.Holder.Owner)
	w := b.borrow(o)
	b.j.Violate(&rule.Candidate{
		ID: "R5", Key: f.Key, Owners: words.Owners(o.Holder.Owner, owner), Witness: []int{of.Idx, f.Landing.Idx}, Blame: rule.BlameBooks, From: b.j.Now, To: b.j.Now,
		Text: func() string { return text }, Refuted: func() bool { return w.owned },
	})
}

// tokenWrites are writes of an owner's that may have to be judged again.
type tokenWrites struct {
	refused  []*refusedWrite // by the store, while an acquire was under way
	borrowed []*borrowing    // reported as written with another's token
}

// A refusedWrite is a write that the store rejected while an acquire of its owner's was under
// way: that acquire may turn out to have been answered before the write, with its token.
type refusedWrite struct{ ledger.Op }

// early keeps such a write.
func (b *bookkeeping) early(o *ledger.Op) {
	rightful := b.j.Header.Fenced && o.Settled == 0 && o.Fence != 0 && o.Fence >= o.Holder.Key.Newest && o.Mode == history.Exclusive && o.Has&history.HasBase == 0
	g := o.Grant
	edge := g != nil && g.Bears(o.Fence) && o.Use == ledger.UseHeld && g.StoppedAt == ledger.Never && o.Inv < g.Deadline // it may turn out to have been extended
	if !rightful || !edge && !o.Holder.Asking(o) {
		return
	}
	b.listen()
	d := b.owners.At(o.Holder.ID)
	if len(d.refused) == ledger.MaxOverdue {
		b.untold++
		return
	}
	w := &refusedWrite{*o}
	w.Forget()
	d.refused = append(d.refused, w)
}

// observeLate looks again at the refused writes of an owner that was granted the key, as the
// history tells only now.
func (b *bookkeeping) observeLate(f *ledger.Fact) {
	g, o, d := f.Grant, f.Op, b.owners.Get(f.Grant.Holder.ID)
	if d == nil {
		return
	}
	for _, w := range d.refused {
		eps := b.j.From(g, w.By())
		if o.Process != w.Process && o.OKIdx > w.OKIdx && w.Fence == o.Fence && o.OK+eps < w.Inv && ledger.Later(eps, w.OK) < g.End() && w.Fence >= f.Key.Newest {
			b.turnedAway(&w.Op, g)
		}
	}
	if f.Key.Open.Head == nil {
		d.refused = nil
	}
}

// extendedLate judges the refused writes again whose lease turns out to have been extended
// before it ended.
func (b *bookkeeping) extendedLate(f *ledger.Fact) {
	g, d := f.Grant, b.owners.Get(f.Grant.Holder.ID)
	if d == nil || f.Op.OK >= f.Old {
		return
	}
	for _, w := range d.refused {
		eps := b.j.From(g, w.By())
		if g.Bears(w.Fence) && g.OKIdx < w.InvIdx && (g.Process == w.Process || g.OK+eps < w.Inv) && w.Inv < f.Old && ledger.Later(eps, w.OK) < g.End() && w.Fence >= f.Key.Newest {
			b.turnedAway(&w.Op, g)
		}
	}
	d.refused = slices.DeleteFunc(d.refused, func(w *refusedWrite) bool { return g.Bears(w.Fence) && f.Key.Open.Head == nil })
}

// A borrowing is a write that was reported (R5). Its owner may turn out to have been given the
// token.
type borrowing struct {
	fence uint64
	ok    time.Duration
	idx   int
	by    ledger.Stamper
	owned bool
}

// listen makes b observe grants, re-entries and extensions from here on.
func (b *bookkeeping) listen() {
	if !b.awake {
		b.awake = true
		b.j.Wake(b, ledger.Granted, ledger.Reentered, ledger.Extended)
	}
}

func (b *bookkeeping) borrow(o *ledger.Op) *borrowing {
	b.listen()
	w := &borrowing{fence: o.Fence, ok: o.OK, idx: o.OKIdx, by: o.By()}
	if b.j.Room("R5") {
		d := b.owners.At(o.Holder.ID)
		d.borrowed = append(d.borrowed, w)
	}
	return w
}

// owned marks the borrowings whose owner turns out to have been given their token before.
func (b *bookkeeping) owned(f *ledger.Fact) {
	o := f.Op
	d := b.owners.Get(o.Holder.ID)
	if d == nil {
		return
	}
	for _, w := range d.borrowed {
		after := o.Process == w.by.Process && o.InvIdx > w.idx || o.Process != w.by.Process && o.Inv > ledger.Later(w.ok, b.j.Clocks.Apart(o.By(), w.by))
		w.owned = w.owned || o.Fence == w.fence && !after
	}
}

package writes

import (
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
)

// unsettledWrites are writes of an owner's that may have to be judged again.
type unsettledWrites struct {
	unheld []*unheldWrite      // reported as without a lease
	late   []*ledger.LateWrite // reported as late while an acquire was under way

	open []*ledger.Op // of unknown outcome, issued without a lease, while an acquire was under way

	meanwhile []heldWrite   // accepted while a release or an extension was under way …
	unkept    time.Duration // … when the last one was issued that is not kept any more; 0 is none
}

// An unheldWrite is a write that was reported (S8). An acquire of its owner's may turn out to
// have been answered before it.
type unheldWrite struct {
	inv     time.Duration
	idx     int // of its invocation
	by      ledger.Stamper
	covered bool // by a grant that was told late
	write   ledger.Op
	land    ledger.Landing
}

// unsure keeps a write that is reported where a grant that is told of later may cover it.
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

// grantedLate judges those writes again when their owner is granted the key.
func (z *Zombies) grantedLate(f *ledger.Fact) {
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
		if !w.covered && told(w.by, w.idx, w.write.HasBegan(), w.inv) {
			w.covered = true
			w.write.Grant, w.land.Op = f.Grant, &w.write
			z.late(f.Key, &w.land) // it was under this lease, then
		}
	}
}

// keptOpen is how many writes of unknown outcome are kept for when their owner is granted the
// key.
const keptOpen = 64

// givenUp keeps o, a write of unknown outcome without a lease, while an acquire of its owner's
// is under way: that may turn out to have been answered before o.
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

// withoutLease says whether o's owner had no lease when it issued o, and had none that ended.
func withoutLease(o *ledger.Op) bool {
	return o.Use == ledger.UseNever || o.Use == ledger.UseRefused || o.Use == ledger.UseUnknown
}

// coverOpen notes that writes of unknown outcome were issued under g, of which the history
// tells late: when they land, g may be forgotten.
func (z *Zombies) coverOpen(g *ledger.Grant, d *unsettledWrites) {
	cover := func(w *ledger.Op) {
		if withoutLease(w) && z.reportedLate(w, g) {
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

// reentered notes for the writes under way that their owner has re-entered g: when they land,
// only a later re-entry may be remembered.
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

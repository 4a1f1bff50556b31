package writes

import (
	"fmt"
	"strings"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
)

// A heldWrite is a write that was accepted under a lease while another operation under that
// lease was under way, such as a release or an extension: its answer, when it is told, may
// prove that the lease had ended before the write.
type heldWrite struct {
	lease int // its grant, by its event
	inv   time.Duration
	ok    time.Duration
	idx   int // of its invocation …
	proof int // … and the event that proves it
	by    ledger.Stamper
	fence uint64
	value string
	late  *ledger.LateWrite // as which it was reported (S3z); nil when it was not
}

// keptMeanwhile is how many of an owner's writes are kept while it releases or extends.
const keptMeanwhile = 16

// meanwhile keeps a write that was accepted while another operation under its lease was under
// way.
func (z *Zombies) meanwhile(f *ledger.Fact) {
	o, g := f.Op, f.Op.Grant
	if withoutLease(o) || g == nil {
		return
	}
	last := z.lastWrite(o.Holder)
	if last.process != o.Process {
		last.process, last.at, last.others = o.Process, 0, max(last.others, last.at)
	}
	last.at = max(last.at, o.Inv)
	if acting(o.Holder) < 2 { // nothing but o
		return
	}
	d := z.owners.At(o.Holder.ID)
	if len(d.meanwhile) == keptMeanwhile {
		d.unkept = max(d.unkept, d.meanwhile[0].inv)
		d.meanwhile = d.meanwhile[:copy(d.meanwhile, d.meanwhile[1:])]
	}
	d.meanwhile = append(d.meanwhile, heldWrite{g.OKIdx, o.Inv, o.OK, o.InvIdx, f.Landing.Idx, o.By(), o.Fence, o.Value, o.Overdue()})
}

// lastWrite is when h wrote last.
func (z *Zombies) lastWrite(h *ledger.Holder) *lastWrite {
	if h.ID >= len(z.writers) {
		z.writers = append(z.writers, make([]lastWrite, h.ID+1-len(z.writers))...)
	}
	return &z.writers[h.ID]
}

// acting is how many operations act under the two latest leases of h.
func acting(h *ledger.Holder) (n int32) {
	for _, x := range [...]*ledger.Grant{h.Grant, h.Prior} {
		if x != nil {
			n += x.Acting
		}
	}
	return n
}

// endsLease says whether o, an answer about g, ended the lease that began at the event lease: g
// itself, or another lease that o's refusal applies to as well.
func endsLease(o *ledger.Op, g *ledger.Grant, lease int) bool {
	for _, x := range [...]*ledger.Grant{g.Holder.Grant, g.Holder.Prior} {
		if x == nil || x == g || x.OKIdx != lease {
			continue
		}
		for no := x.Refused(); no != nil; no = no.Next {
			if no.Idx == o.OKIdx {
				return true
			}
		}
	}
	return lease == g.OKIdx
}

// overdueToo notes on the kept write o, if it is one, that it is reported as late.
func (z *Zombies) overdueToo(o *ledger.Op, w *ledger.LateWrite) {
	d := z.owners.Get(o.Holder.ID)
	if d == nil {
		return
	}
	for i := range d.meanwhile {
		if m := &d.meanwhile[i]; m.idx == o.InvIdx {
			m.late = w
		}
	}
}

// answered judges the kept writes of an owner again when a release or a refusal is told of,
// which was answered earlier.
func (z *Zombies) answered(f *ledger.Fact) {
	o, g := f.Op, f.Grant
	if o.Late {
		if last := z.lastWrite(g.Holder); last.others > o.OK || last.at > o.OK && last.process != o.Process {
			z.behindAll++
		}
	}
	d := z.owners.Get(g.Holder.ID)
	if d == nil || len(d.meanwhile) == 0 {
		return
	}
	if o.OK < f.Event.Time {
		for _, w := range d.meanwhile {
			if endsLease(o, g, w.lease) && w.by.Process != o.Process && w.inv-z.From(g, w.by) > o.OK && g.Concerns(o.Fence, w.fence) {
				z.behind(f, w)
			}
		}
		if d.unkept > o.OK {
			z.lost++
		}
	}
	if acting(g.Holder) < 2 {
		d.meanwhile, d.unkept = d.meanwhile[:0], 0
	}
}

// behind reports S8: a write that was issued after an answer that ended its lease, and that is
// told of only later.
func (z *Zombies) behind(f *ledger.Fact, w heldWrite) {
	h, g, o := f.Grant.Holder, f.Grant, f.Op
	text := fmt.Sprintf("%s wrote %q to %s at %s, and the store accepted it, although %s had been answered at %s that its lease was over.",
		h.Owner, w.value, f.Key.Name, words.At(w.inv), h.Owner, words.At(o.OK))
	z.found = true
	if w.late != nil { // its owner knew: that it was late as well says nothing more
		w.late.Cover(ledger.Never)
	}
	z.Violate(&rule.Candidate{
		ID: "S8", Key: f.Key, Owners: []string{h.Owner}, Witness: []int{w.proof, o.OKIdx}, Blame: rule.BlameClient, From: g.Start, To: max(o.OK, w.ok),
		Text: func() string { return text },
	})
}

// Unplaced says what was not judged, for want of memory.
func (z *Zombies) Unplaced() string {
	var out []string
	if z.lost > 0 {
		out = append(out, fmt.Sprintf("%s times a release or an extension was told late, after more than %d writes of its owner's: whether those came behind it (S8) is not decided.",
			words.Thousands(z.lost), keptMeanwhile))
	}
	if z.behindAll > 0 {
		out = append(out, fmt.Sprintf("%s releases or extensions began before anybody was told that they had, and before writes of their owner's that were judged meanwhile: whether those came behind them (S8) is not decided.",
			words.Thousands(z.behindAll)))
	}
	if z.unkept > 0 {
		out = append(out, fmt.Sprintf("%s times more than %d writes were not settled when their owner was granted the key: whether the later ones were issued under that lease (S3z, S8) is not decided.",
			words.Thousands(z.unkept), keptOpen))
	}
	if z.unheard > 0 {
		out = append(out, fmt.Sprintf("%s writes were issued when more than %d processes of their owner's had been told that its lease was gone: whether their own had been, too (S8), is not decided.",
			words.Thousands(z.unheard), ledger.MaxDenials))
	}
	if z.AheadOfKnown > 0 {
		out = append(out, fmt.Sprintf("%s writes were issued, by their own stamps, before every lease of their owner's that is remembered: whether it had one by then (S3z, S8) is not decided.",
			words.Thousands(z.AheadOfKnown)))
	}
	if z.EntrantsForgotten > 0 {
		out = append(out, fmt.Sprintf("%s processes had re-entered a lease of an owner with two of them, before %d others did: of which one later words of theirs are (S3z, S8) is not decided.",
			words.Thousands(z.EntrantsForgotten), ledger.MostEntrants))
	}
	return strings.Join(out, " ")
}

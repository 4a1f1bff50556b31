package writes

import (
	"fmt"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
)

// StaleWrites decides S2: a fenced store accepts no token lower than one that it accepted
// before on the same key. Where the store numbers its writes this needs no clock; writes
// without a number are in the order of their events.
type StaleWrites struct {
	*rule.Env
	lost int // writes that came too late to be placed
	told map[[2]int]bool
}

func (*StaleWrites) IDs() []string        { return []string{"S2"} }
func (*StaleWrites) Wants() []ledger.Kind { return []ledger.Kind{ledger.Landed} }
func (*StaleWrites) Finish()              {}

// Unplaced says what was not judged, for want of memory.
func (s *StaleWrites) Unplaced() string {
	if s.lost == 0 {
		return ""
	}
	return fmt.Sprintf("%d writes were told so late that more than %d higher tokens had been accepted on their keys: whether they were stale (S2) is not decided.", s.lost, ledger.TokenSteps/2)
}

func (s *StaleWrites) Observe(f *ledger.Fact) {
	l := f.Landing
	switch {
	case f.Kind != ledger.Landed || !s.Header.Fenced || f.Op.Fence == 0:
	case l.Late:
		s.late(f)
	case l.Seq == 0 && f.Op.Fence < l.Top:
		s.reportAccepted(f, l.High, l.Top)
	case l.Seq == 0:
		if f.Op.OK < f.Event.Time {
			s.observeLate(f)
		}
	case l.Lost:
		s.lost++
	case f.Op.Fence < l.Top:
		s.reportAccepted(f, l.High, l.Top)
	default:
		s.overtaken(f, l.Below)
	}
}

// observeLate looks for writes without a sequence number that the store accepted after f's
// write although their token is lower, and of which the history tells before f.
func (s *StaleWrites) observeLate(f *ledger.Fact) {
	o, log := f.Op, &f.Key.Log
	for _, m := range log.Recent {
		before := m.By.Process == o.Process && o.InvIdx < m.InIdx || o.OK+s.Clocks.Apart(o.By(), m.By) < m.Inv
		if before && m.Fence < o.Fence {
			text := fmt.Sprintf("%s wrote %q to %s with token %d, and was answered at %s, as the history tells late; the store then took a write with the lower token %d, issued at %s. "+
				"The fence let a stale write through.",
				o.Holder.Owner, o.Value, f.Key.Name, o.Fence, words.At(o.OK), m.Fence, words.At(m.Inv))
			s.report(f, ledger.Mark{Seq: 0, Idx: m.Idx}, text)
			return
		}
	}
	if log.Dropped {
		s.lost++
	}
}

// late places a write whose outcome had been unknown among the others.
func (s *StaleWrites) late(f *ledger.Fact) {
	o, l, log := f.Op, f.Landing, &f.Key.Log
	switch {
	case !l.Lost && o.Fence < l.Top:
		s.reportAccepted(f, l.High, l.Top)
	case o.Behind(l.Seq):
		s.reportAccepted(f, o.Newer().Mark, o.Newer().Fence)
	case o.Fence < log.LateTop && log.LateHigh.Seq < l.Seq:
		s.reportAccepted(f, log.LateHigh, log.LateTop)
	case l.Lost && o.Newer().Seq == 0:
		s.lost++
	}
	below := l.Below
	if below.Seq == 0 && o.Doubt().Below.Seq > l.Seq {
		below = o.Doubts.Below
	}
	s.overtaken(f, below)
}

// overtaken reports that the store accepted, after f's write, one with a lower token, of which
// the history told before f.
func (s *StaleWrites) overtaken(f *ledger.Fact, below ledger.TokenMark) {
	if below.Seq == 0 {
		return
	}
	o, heard := f.Op, "was told so only later"
	if f.Landing.Late {
		heard = "never heard what became of it"
	}
	text := fmt.Sprintf("%s wrote %q to %s with token %d and %s: the store had accepted it as write number %d, and then took one with the lower token %d, as number %d. "+
		"The fence let a stale write through.",
		o.Holder.Owner, o.Value, f.Key.Name, o.Fence, heard, f.Landing.Seq, below.Fence, below.Seq)
	s.report(f, below.Mark, text)
}

func (s *StaleWrites) reportAccepted(f *ledger.Fact, before ledger.Mark, top uint64) {
	o := f.Op
	text := fmt.Sprintf("At %s %s wrote %q to %s with token %d, and the store accepted it%s, although it had accepted token %d before%s. "+
		"A later holder's work is overwritten by an earlier one's.",
		words.At(o.Inv), o.Holder.Owner, o.Value, f.Key.Name, o.Fence, asNumber(f.Landing.Seq), top, asNumber(before.Seq))
	s.report(f, before, text)
}

func (s *StaleWrites) report(f *ledger.Fact, other ledger.Mark, text string) {
	pair := [2]int{min(other.Idx, f.Landing.Idx), max(other.Idx, f.Landing.Idx)}
	if s.told[pair] {
		return
	}
	if s.told == nil {
		s.told = make(map[[2]int]bool)
	}
	if len(s.told) <= s.Limit() {
		s.told[pair] = true
	}
	from := f.Op.Inv
	if f.Op.Grant != nil {
		from = f.Op.Grant.Start
	}
	s.Violate(&rule.Candidate{
		ID: "S2", Key: f.Key, Owners: words.Owners(f.Op.Holder.Owner), Witness: []int{other.Idx, f.Landing.Idx}, Blame: rule.BlameStore,
		From: from, To: f.Op.OK, Text: func() string { return text },
	})
}

func asNumber(seq uint64) string {
	if seq == 0 {
		return ""
	}
	return fmt.Sprintf(", as number %d", seq)
}

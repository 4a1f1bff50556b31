package exclusion

import (
	"fmt"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// Stillborn decides S7: a grant is answered before its lease has run out.
type Stillborn struct{ *rule.Env }

func (*Stillborn) IDs() []string        { return []string{"S7"} }
func (*Stillborn) Wants() []ledger.Kind { return []ledger.Kind{ledger.Granted, ledger.Reentered} }
func (*Stillborn) Finish()              {}

func (s *Stillborn) Observe(f *ledger.Fact) {
	g, o := f.Grant, f.Op
	switch {
	case o.Waits && !o.Promises(): // when it asked for the lease that it waited for, nobody says
	case o.OK >= g.Deadline:
		h := s.candidate(o, fmt.Sprintf("its lease had ended by then, at %s. A holder that trusts the answer works without a lock.", words.At(g.Deadline)))
		h.Stamp = rule.Stamped(o.Inv, o.OK, o.OK-g.Deadline, o.Has&history.HasEnded != 0, false)
		s.Violate(h)
	case float64(g.Deadline-o.OK)*100 < float64(s.Header.TTL):
		s.Suspect(s.candidate(o, fmt.Sprintf("only %s of its lease were left.", words.Span(g.Deadline-o.OK))))
	}
}

func (s *Stillborn) candidate(o *ledger.Op, what string) *rule.Candidate {
	h := o.Holder
	text := fmt.Sprintf("%s asked for %s at %s and was told at %s that it holds it%s: %s",
		h.Owner, h.Key.Name, words.At(o.Inv), words.At(o.OK), words.Token(o.Fence), what)
	return &rule.Candidate{
		ID: "S7", Key: h.Key, Owners: []string{h.Owner}, Witness: []int{o.OKIdx}, Blame: rule.BlameLibrary,
		From: o.Inv, To: o.OK, Text: func() string { return text },
	}
}

package checker

import (
	"fmt"

	"locktorture/workload/history"
)

// stillborn decides S7: a grant is answered while there is time left in it.
type stillborn struct{ j *Judge }

func (*stillborn) ids() []string { return []string{"S7"} }
func (*stillborn) wants() []what { return []what{granted, reentered} }
func (*stillborn) finish()       {}

func (s *stillborn) see(f *fact) {
	g, o := f.grant, f.op
	switch {
	case s.j.test.stillborn(o.ok, g.d):
		h := s.hit(o, fmt.Sprintf("its lease had ended by then, at %s. A holder that trusts the answer works without a lock.", at(g.d)))
		h.stamp = stamped(o.inv, o.ok, o.ok-g.d, o.has&history.HasEnded != 0)
		s.j.violate(h)
	case s.j.test.scarce(g.d-o.ok, s.j.h.TTL):
		s.j.suspect(s.hit(o, fmt.Sprintf("only %s of its lease were left.", span(g.d-o.ok))))
	}
}

func (s *stillborn) hit(o *op, what string) *hit {
	h := o.holder
	text := fmt.Sprintf("%s asked for %s at %s and was told at %s that it holds it%s: %s",
		h.owner, h.key.name, at(o.inv), at(o.ok), token(o.fence), what)
	return &hit{
		id: "S7", key: h.key, owners: []string{h.owner}, witness: []int{o.okIdx}, blame: blameLibrary,
		from: o.inv, to: o.ok, text: func() string { return text },
	}
}

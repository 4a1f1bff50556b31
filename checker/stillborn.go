package checker

import "fmt"

// stillborn decides S7: a grant is answered while there is time left in it.
type stillborn struct{ j *Judge }

func (*stillborn) ids() []string { return []string{"S7"} }
func (*stillborn) wants() []what { return []what{granted} }
func (*stillborn) finish()       {}

func (s *stillborn) see(f *fact) {
	if f.what != granted {
		return
	}
	g := f.grant
	switch {
	case s.j.test.stillborn(g.ok, g.d):
		s.j.violate(s.hit(g, fmt.Sprintf("its lease had ended by then, at %s. A holder that trusts the answer works without a lock. "+
			"Remedy: refuse a grant that was decided too late, and give back what was taken.", at(g.d))))
	case s.j.test.scarce(g.d-g.ok, s.j.h.TTL):
		s.j.suspect(s.hit(g, fmt.Sprintf("only %s of its lease were left.", span(g.d-g.ok))))
	}
}

func (s *stillborn) hit(g *grant, what string) *hit {
	text := fmt.Sprintf("%s asked for %s at %s and was told at %s that it holds it%s: %s",
		g.owner(), g.holder.key.name, at(g.inv), at(g.ok), token(g.fence), what)
	return &hit{
		id: "S7", key: g.holder.key, owners: []string{g.owner()}, witness: []int{g.okIdx}, blame: blameLibrary,
		from: g.inv, to: g.ok, text: func() string { return text },
	}
}

package checker

import (
	"fmt"
	"time"

	"locktorture/workload/history"
)

// losses decides S11 and L5: a loss is reported when there is one, and not
// long after.
type losses struct{ j *Judge }

func (*losses) ids() []string { return []string{"S11", "L5"} }
func (*losses) wants() []what { return []what{lost} }
func (*losses) finish()       {}

func (l *losses) see(f *fact) {
	g := f.grant
	if g.rel != never {
		return
	}
	if by := g.intruders(); len(by) > 0 && by[0].ok < said(f.e) {
		l.late(f, by[0])
		return
	}
	if !l.j.phases.told || l.j.nemesis.since(g.start) {
		return // nobody says that nothing was wrong
	}
	switch t := said(f.e); {
	case t < g.d:
		l.causeless(f, fmt.Sprintf("%s before the lease could run out", span(g.d-t)))
	case g.renewed:
		l.causeless(f, "after its automatic renewal had stopped")
	}
}

// late judges a report that came after another's grant.
func (l *losses) late(f *fact, x *grant) {
	g, told := f.grant, said(f.e)
	declared, documented := l.j.h.Bounds[boundLoss]
	bound := time.Duration(declared)
	eps := l.j.clock.apart(x.host, l.j.host(f.e))
	if !l.j.test.lateLoss(told, x.ok, bound, eps) || !documented && l.j.suspicious.full("S11") {
		return
	}
	promise := "The library documents no bound for that."
	if documented {
		promise = fmt.Sprintf("The library promises it within %s.", span(bound))
	}
	text := fmt.Sprintf("%s held %s%s from %s. %s was granted it at %s, so it was gone for %s by then; the library said so only at %s, %s later. %s",
		g.owner(), f.key.name, token(g.fence), at(g.ok), x.owner(), at(x.ok), g.owner(), at(told), span(told-x.ok), promise)
	h := &hit{
		id: "S11", key: f.key, owners: owners(g.owner(), x.owner()), witness: []int{g.okIdx, x.okIdx, f.e.Index}, blame: blameLibrary,
		from: g.inv, to: f.e.Time, text: func() string { return text },
	}
	h.stamp = stamped(x.ok, told, told-x.ok-bound-eps, f.e.HasAll(history.HasBegan))
	if documented && !l.j.stoodStill(g.owner(), x.ok, told) { // a client that stands still can be told nothing
		l.j.violate(h)
	} else {
		l.j.suspect(h)
	}
}

func (l *losses) causeless(f *fact, when string) {
	g := f.grant
	text := fmt.Sprintf("%s was told at %s that its lease on %s%s was lost, %s, although no fault had been in force since %s and nobody else was granted it.",
		g.owner(), at(said(f.e)), f.key.name, token(g.fence), when, at(g.start))
	l.j.violate(&hit{
		id: "L5", key: f.key, owners: []string{g.owner()}, witness: []int{g.dIdx, f.e.Index}, blame: blameLibrary,
		from: g.start, to: f.e.Time, text: func() string { return text },
	})
}

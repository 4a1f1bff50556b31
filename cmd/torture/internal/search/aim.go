package search

import (
	"math/rand/v2"
	"slices"

	"locktorture/faults"
	"locktorture/faults/watch"
	"locktorture/workload"
	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
)

// An aim is what leads to a phase of the lock's life: the moments that are in it or
// just before it, and the load without which there is none.
type aim struct {
	moments []watch.Moment
	waiter  bool // the client in question waits
	load    func(r *Round, rng *rand.Rand)
}

var aims = map[coverage.Phase]aim{
	coverage.AcquireSent:    {moments: []watch.Moment{watch.AcquireSent}},
	coverage.AcquireReplied: {moments: []watch.Moment{watch.AcquireReplied}},
	coverage.InSection:      {moments: []watch.Moment{watch.InSection}},
	coverage.RenewalDue:     {moments: []watch.Moment{watch.RenewalDue, watch.NextRenewalDue}, load: renewing},
	coverage.RenewalSent:    {moments: []watch.Moment{watch.RenewalDue, watch.NextRenewalDue, watch.RenewalSent, watch.LateRenewal}, load: renewing},
	coverage.RenewalReplied: {moments: []watch.Moment{watch.RenewalDue, watch.NextRenewalDue, watch.RenewalSent, watch.LateRenewal}, load: renewing},
	coverage.Expiry:         {moments: []watch.Moment{watch.Expiry, watch.InSection, watch.LateRelease, watch.LateRenewal}, load: outlasting},
	coverage.ReleaseSent:    {moments: []watch.Moment{watch.ReleaseSent, watch.LateRelease}},
	coverage.ReleaseReplied: {moments: []watch.Moment{watch.ReleaseSent, watch.LateRelease, watch.ReleaseReplied}},
	coverage.Waiting:        {moments: []watch.Moment{watch.InSection, watch.AcquireSent}, waiter: true, load: queueing},
	coverage.Woken:          {moments: []watch.Moment{watch.ReleaseSent, watch.ReleaseReplied}, waiter: true, load: queueing},
}

// renewing has leases renewed, by the lock or by hand.
func renewing(r *Round, rng *rand.Rand) {
	l := &r.Load
	if rng.IntN(3) == 0 {
		l.LongHold, l.Renew = pick(rng, []float64{0.2, 0.5}), rng.IntN(2) == 0
		return
	}
	l.Renew, l.Hold = true, workload.Fixed(min(share(r.TTL, pick(rng, []float64{1.2, 1.7, 3, 4.5})), r.Duration/2))
}

// outlasting has clients hold about as long as a lease lasts.
func outlasting(r *Round, rng *rand.Rand) {
	r.Load.Hold = workload.Fixed(min(share(r.TTL, pick(rng, []float64{0.8, 0.95, 1.7})), r.Duration/2))
	r.Load.Renew = rng.IntN(3) == 0
}

// queueing has clients wait for few keys.
func queueing(r *Round, rng *rand.Rand) {
	l := &r.Load
	l.Wait, l.Hold = share(r.TTL, pick(rng, []float64{0.5, 1, 3})), workload.Fixed(share(r.TTL, pick(rng, []float64{0.03, 0.1, 0.3})))
	r.Clients = max(r.Clients, 3)
	if l.Mode != workload.ModeMulti {
		l.Keys = 1
	}
}

// aimed draws a round that is meant to reach one or two cells of phase × fault
// class, the rarer so far the likelier, and each class as likely as any other,
// though some matter in more phases: each is what a directed fuzzer would call a
// target or waypoint. rounds says how often each cell was reached.
func (s *Space) aimed(rng *rand.Rand, rounds func(cell string) int) Round {
	r := Round{Seed: drawSeed(rng), Origin: Aimed}
	s.drawShape(&r, rng)
	cells := s.cells()
	if len(cells) == 0 {
		return r
	}
	phases := map[coverage.Class]int{} // in which a class has cells
	for _, c := range cells {
		phases[c.Class]++
	}
	of := make([]float64, len(cells))
	for i, c := range cells {
		of[i] = 1 / float64((1+rounds(c.String()))*phases[c.Class])
	}
	calm := rng.IntN(3) == 0
	for range 1 + rng.IntN(2) {
		c := cells[draw(rng, of)]
		if a := aims[c.Phase]; a.load != nil {
			a.load(&r, rng)
		}
		for range 1 + rng.IntN(3) {
			x := s.aimedStep(r, c, calm, rng)
			if s.forgets(c.Class) && rng.IntN(2) == 0 {
				bareQuorum(&r, &x, rng)
			}
			r.Steps = append(r.Steps, x)
		}
	}
	return s.fitted(r)
}

// cells are those that faults of the space can reach.
func (s *Space) cells() (all []coverage.Cell) {
	for _, p := range coverage.Phases() {
		for _, class := range coverage.Classes() {
			if c := (coverage.Cell{Phase: p, Class: class}); coverage.Matters(c) && len(s.of(class)) > 0 {
				all = append(all, c)
			}
		}
	}
	return all
}

// of are the space's faults of a class. Those that cut nodes off belong to one class
// or another by whom they hit.
func (s *Space) of(class coverage.Class) (names []string) {
	if class == coverage.MinorityCut && s.Nodes < 3 {
		return nil
	}
	for _, name := range s.Faults {
		c, ok := coverage.ClassOf(name, nil, history.Header{})
		if ok && (c == class || c == coverage.MajorityCut && class == coverage.MinorityCut) {
			names = append(names, name)
		}
	}
	return names
}

// aimedStep draws a step that reaches a cell: at the phase's moment, on the client
// that is in it, and mostly for about a lease, or for a moment where the round is to
// be calm.
func (s *Space) aimedStep(r Round, c coverage.Cell, calm bool, rng *rand.Rand) faults.Spec {
	a := aims[c.Phase]
	p := profile{faults: s.of(c.Class), moments: a.moments, calm: calm}
	x := s.step(r, p, rng)
	if rng.IntN(6) > 0 {
		x.On = pick(rng, a.moments)
	}
	if x.On == watch.RenewalDue || x.On == watch.NextRenewalDue {
		x.Then = share(r.TTL, pick(rng, []float64{-0.04, -0.08, -0.15, 0, 0.1}))
	} else if !x.On.Foreseen() {
		x.Then = max(0, x.Then)
	}
	if takes(x.Fault, "client") && rng.IntN(4) > 0 {
		x.Client = faults.RoleHolder
		if c.Phase == coverage.AcquireSent {
			x.Client = pick(rng, []string{faults.RoleAny, faults.RoleTaker})
		} else if c.Phase >= coverage.ReleaseSent {
			x.Client = faults.RoleAny // who releases holds no more
		}
		if a.waiter {
			x.Client = faults.RoleWaiter
		}
	}
	if takes(x.Fault, "node") && rng.IntN(3) > 0 {
		x.Node = s.aimedNodes(c.Class, rng)
	}
	if !calm && rng.IntN(3) > 0 {
		x.For = share(r.TTL, pick(rng, []float64{0.35, 0.6, 0.9, 0.95, 1.1, 1.7, 2.5}))
	}
	if s.Elected && restarts(c.Class) && rng.IntN(2) == 0 {
		x.For = pick(rng, soon)
	}
	return x
}

// restarts reports whether a class of faults has nodes killed and started again. A master
// that is back before anybody has missed it stays one, whatever it has lost.
func restarts(class coverage.Class) bool {
	return class >= coverage.NodeRestarted && class <= coverage.NodeLate
}

// forgets reports whether a class of faults has one node of several forget what it
// granted, or think that it is over.
func (s *Space) forgets(class coverage.Class) bool {
	return s.Nodes >= 3 && slices.Contains(s.Faults, "cut") && (class == coverage.NodeEmpty || class == coverage.NodeRestarted || class == coverage.ClockShifted)
}

// bareQuorum cuts a client off from as many nodes as the quorum can spare before x hits
// one of the others, once that client is granted a key, for which others ask: what one
// node forgets can matter only to a lease that rests on no more than a quorum.
func bareQuorum(r *Round, x *faults.Spec, rng *rand.Rand) {
	name := victim(rng)
	x.Times, x.Every, x.Within, x.Else, x.Until = 0, 0, 0, "", ""
	x.On, x.By, x.Node, x.Then = watch.AcquireReplied, name, faults.RoleSwing, 0
	if takes(x.Fault, "client") {
		x.Client = name
	}
	r.Steps = append(r.Steps, faults.Spec{
		Fault: "cut", At: x.At, On: faults.AtTime, For: 2 * r.TTL,
		Params: faults.Params{Client: faults.JoinRole(faults.RoleAny, name), Node: faults.RoleMinority},
	})
	r.Load.Hold, r.Load.Mode, r.Load.Readers = workload.Fixed(min(share(r.TTL, pick(rng, []float64{0.3, 0.6})), r.Duration/2)), workload.ModeExclusive, 0
	r.Clients, r.Load.Keys = max(r.Clients, 3), min(r.Load.Keys, 2)
}

// aimedNodes are as many nodes as make a fault one of its class.
func (s *Space) aimedNodes(class coverage.Class, rng *rand.Rand) string {
	switch {
	case s.Elected:
		return pick(rng, []string{faults.RoleMaster, faults.RoleMaster, faults.RoleAll})
	case s.Nodes < 3:
		return faults.RoleAll
	case class == coverage.MinorityCut:
		return pick(rng, []string{faults.RoleMinority, faults.RoleSwing})
	case class == coverage.MajorityCut:
		return pick(rng, []string{faults.RoleMajority, faults.RoleMajority, faults.RoleAll})
	case restarts(class):
		return pick(rng, []string{faults.RoleSwing, faults.RoleSwing, faults.RoleMajority, faults.RoleAll})
	}
	return pick(rng, []string{faults.RoleAll, faults.RoleAll, faults.RoleMajority, faults.RoleSwing})
}

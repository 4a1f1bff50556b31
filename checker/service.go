package checker

import (
	"fmt"
	"strings"
	"time"

	"locktorture/workload/history"
)

// service decides L3, L4 and L6, each only where the header declares a bound.
// L4 and L6 are breaches of service, never violations.
type service struct {
	j        *Judge
	breaches listing
	healed   time.Duration // the last heal that no grant followed yet; 0 is none
	healIdx  int
	fault    string // which was healed then
	phase    string
	asked    int
	answered int
}

// A wait is one owner's, from its first attempt to its next grant.
type wait struct {
	on   bool
	from time.Duration
	idx  int
	last time.Duration // its latest attempt ended; never while one is open
}

func (*service) ids() []string { return []string{"L3", "L4", "L6"} }
func (*service) wants() []what {
	return []what{phased, nemesised, asked, refused, granted, reentered, unknown}
}

func (s *service) see(f *fact) {
	switch {
	case f.what == phased:
		s.turn(f.e)
	case f.what == nemesised:
		if f.e.Op == history.Heal && f.e.Kind == history.OK {
			s.healed, s.healIdx, s.fault = f.e.Time, f.e.Index, strings.Clone(f.e.Fault)
		}
	case f.op.what == history.Acquire:
		s.attempt(f)
	}
}

func (s *service) attempt(f *fact) {
	w := &f.op.holder.more().wait
	switch f.what {
	case asked:
		s.asked++
		if !w.on || w.last != never && f.op.inv > later(w.last, later(s.j.retry(), s.j.h.TTL)) {
			w.on, w.from, w.idx = true, f.op.inv, f.op.invIdx
		}
		w.last = never
	case granted, reentered:
		s.answered++
		s.waited(f.op.holder, f.op.ok, f.op.okIdx)
		*w = wait{}
		s.recovered(f.op.ok)
	case refused:
		s.answered++
		w.last = f.op.ok
	default:
		w.last = f.op.ok
	}
}

// waited reports L3. Waits that a fault touched are nobody's fault.
func (s *service) waited(h *holder, until time.Duration, idx int) {
	bound, ok := s.j.h.Bounds[boundWait]
	w := h.more().wait
	if !ok || !s.j.test.waitedBeyond(until-w.from, time.Duration(bound)) || s.j.nemesis.since(w.from) {
		return
	}
	text := fmt.Sprintf("%s asked for %s from %s on and had waited %s by %s, longer than the bound of %s, while no fault was in force. %s", h.owner, h.key.name, at(w.from), span(until-w.from), at(until), span(time.Duration(bound)), served(h, w.from))
	s.j.violate(&hit{
		id: "L3", key: h.key, owners: []string{h.owner}, witness: []int{w.idx, idx}, blame: blameProgress, from: w.from, to: until,
		text: func() string { return text },
	})
}

// served says who was granted the key while h was waiting for it.
func served(h *holder, since time.Duration) string {
	g := h.key.last
	if g == nil || g.holder == h || g.ok <= since {
		return "Nobody else was granted it meanwhile."
	}
	return fmt.Sprintf("Others were served meanwhile, the last of them %s, at %s.", g.owner(), at(g.ok))
}

// recovered closes the wait for the first grant after a heal.
func (s *service) recovered(t time.Duration) {
	bound, ok := s.j.h.Bounds[boundRecovery]
	if ok && s.healed > 0 && s.j.test.waitedBeyond(t-s.healed, time.Duration(bound)) {
		s.breach("L4", s.healIdx, "The fault %s was healed at %s, and until %s, %s later, nobody was granted anything; the scenario allows %s.",
			s.fault, at(s.healed), at(t), span(t-s.healed), span(time.Duration(bound)))
	}
	s.healed = 0
}

// turn ends a phase.
func (s *service) turn(e *history.Event) {
	floor, ok := s.j.h.Bounds[boundAvailability]
	if ok && s.asked > 0 && int64(s.answered)*100 < floor*int64(s.asked) {
		phase := ""
		if s.phase != "" {
			phase = fmt.Sprintf(" in the phase %q,", s.phase)
		}
		s.breach("L6", e.Index, "Of %d acquires%s until %s, %d got a definite answer: %.1f %%, below the floor of %d %%.",
			s.asked, phase, at(e.Time), s.answered, 100*float64(s.answered)/float64(s.asked), floor)
	}
	s.phase, s.asked, s.answered = e.Value, 0, 0
}

func (s *service) breach(id string, idx int, format string, a ...any) {
	s.breaches.add(id, idx, format, a...)
}

// finish judges the waits that never ended.
func (s *service) finish() {
	s.recovered(s.j.now)
	if _, ok := s.j.h.Bounds[boundWait]; !ok {
		return
	}
	for _, k := range s.j.sortedKeys() {
		for _, h := range k.sortedHolders() {
			if w := h.more().wait; w.on {
				s.waited(h, min(w.last, s.j.now), w.idx)
			}
		}
	}
}

package liveness

import (
	"fmt"
	"strings"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// Service decides L3, L4 and L6, each only where the header declares a bound. L4 and L6 are
// breaches of service, never violations.
type Service struct {
	*rule.Env
	Breaches rule.Listing
	healed   time.Duration // the last heal that no grant followed yet; 0 is none
	healIdx  int
	fault    string // which was healed then
	phase    string
	asked    int
	answered int
	waits    rule.Table[wait]          // by holder
	several  rule.Table[time.Duration] // by owner: until when it waited for several keys at once, the last time that was reported
}

// A wait is the time from an owner's first attempt to its next grant.
type wait struct {
	on   bool
	from time.Duration
	idx  int
	last time.Duration // its latest attempt ended; never while one is open

	several bool // that asked for other keys too
}

func (*Service) IDs() []string { return []string{"L3", "L4", "L6"} }
func (*Service) Wants() []ledger.Kind {
	return []ledger.Kind{ledger.Phased, ledger.Nemesised, ledger.Asked, ledger.Refused, ledger.Granted, ledger.Reentered, ledger.Unknown}
}

func (s *Service) Observe(f *ledger.Fact) {
	switch {
	case f.Kind == ledger.Phased:
		s.endPhase(f.Event)
	case f.Kind == ledger.Nemesised:
		if f.Event.Op == history.Heal && f.Event.Kind == history.OK {
			s.healed, s.healIdx, s.fault = f.Event.Time, f.Event.Index, strings.Clone(f.Event.Fault)
		}
	case f.Op.Action == history.Acquire:
		s.attempt(f)
	}
}

func (s *Service) attempt(f *ledger.Fact) {
	w := s.waits.At(f.Op.Holder.ID)
	switch f.Kind {
	case ledger.Asked:
		s.asked++
		if !w.on || w.last != ledger.Never && f.Op.Inv > ledger.Later(w.last, ledger.Later(s.Retry(), s.Header.TTL)) {
			w.on, w.from, w.idx = true, f.Op.Inv, f.Op.InvIdx
		}
		w.last, w.several = ledger.Never, f.Op.Several
	case ledger.Granted, ledger.Reentered:
		s.answered++
		s.waited(f.Op.Holder, f.Op.OK, f.Op.OKIdx)
		*w = wait{}
		s.recovered(f.Op.OK)
	case ledger.Refused:
		s.answered++
		w.last = f.Op.OK
	default:
		w.last = f.Op.OK
	}
}

// waited reports L3. It ignores waits during which a fault was in force.
func (s *Service) waited(h *ledger.Holder, until time.Duration, idx int) {
	bound, ok := s.Header.Bounds[history.BoundWait]
	w := s.waits.At(h.ID)
	if !ok || until-w.from <= time.Duration(bound) || s.Nemesis.MayBeSince(w.from) {
		return
	}
	if w.several { // it waited for all of them together, once
		reported := s.several.At(h.OwnerNo)
		if w.from < *reported {
			return
		}
		*reported = until
	}
	text := fmt.Sprintf("%s asked for %s from %s on and had waited %s by %s, longer than the bound of %s, while no fault was in force. %s", h.Owner, h.Key.Name, words.At(w.from), words.Span(until-w.from), words.At(until), words.Span(time.Duration(bound)), served(h, w.from))
	s.Violate(&rule.Candidate{
		ID: "L3", Key: h.Key, Owners: []string{h.Owner}, Witness: []int{w.idx, idx}, Blame: rule.BlameProgress, From: w.from, To: until,
		Text: func() string { return text },
	})
}

// served says who was granted the key while h was waiting for it.
func served(h *ledger.Holder, since time.Duration) string {
	g := h.Key.Last
	if g == nil || g.Holder == h || g.OK <= since {
		return "Nobody else was granted it meanwhile."
	}
	return fmt.Sprintf("Others were served meanwhile, the last of them %s, at %s.", g.Owner(), words.At(g.OK))
}

// recovered ends the wait for the first grant after a heal.
func (s *Service) recovered(t time.Duration) {
	bound, ok := s.Header.Bounds[history.BoundRecovery]
	if ok && s.healed > 0 && t-s.healed > time.Duration(bound) {
		s.breach("L4", s.healIdx, "The fault %s was healed at %s, and until %s, %s later, nobody was granted anything; the scenario allows %s.",
			s.fault, words.At(s.healed), words.At(t), words.Span(t-s.healed), words.Span(time.Duration(bound)))
	}
	s.healed = 0
}

// endPhase judges the availability of the phase that e ends, and begins the next.
func (s *Service) endPhase(e *history.Event) {
	floor, ok := s.Header.Bounds[history.BoundAvailability]
	if ok && s.asked > 0 && int64(s.answered)*100 < floor*int64(s.asked) {
		phase := ""
		if s.phase != "" {
			phase = fmt.Sprintf(" in the phase %q,", s.phase)
		}
		s.breach("L6", e.Index, "Of %d acquires%s until %s, %d got a definite answer: %.1f %%, below the floor of %d %%.",
			s.asked, phase, words.At(e.Time), s.answered, 100*float64(s.answered)/float64(s.asked), floor)
	}
	s.phase, s.asked, s.answered = e.Value, 0, 0
}

func (s *Service) breach(id string, idx int, format string, a ...any) {
	s.Breaches.Add(id, idx, format, a...)
}

// Finish judges the waits that never ended.
func (s *Service) Finish() {
	s.recovered(s.Now)
	if _, ok := s.Header.Bounds[history.BoundWait]; !ok {
		return
	}
	for _, k := range s.SortedKeys() {
		for _, h := range k.SortedHolders() {
			if w := s.waits.Get(h.ID); w != nil && w.on {
				s.waited(h, min(w.last, s.Now), w.idx)
			}
		}
	}
}

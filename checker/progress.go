package checker

import (
	"fmt"
	"time"

	"locktorture/workload/history"
)

// progress decides L1, L2 and L7: whether a key can be taken, once every fault
// is healed and a healthy final phase has begun. Before that it costs nothing.
type progress struct {
	j     *Judge
	final bool
	from  time.Duration // when the final phase began
}

const (
	orphanTries   = 3  // failing attempts that make an orphan
	idleLeases    = 3  // leases' length without a grant that make no progress
	livelockTurns = 10 // lost rounds that make a livelock, unless the header says otherwise
)

// progressState is one key's, in the final phase.
type progressState struct {
	tries  int // attempts of the round under way
	failed int // of those, refused
	begun  time.Duration

	orphan []int // refused attempts in a row, each alone or deciding alone
	turns  int   // rounds in a row that nobody won
	turn   []int // their last refusals

	since   time.Duration // attempts have been coming since …
	sinceIx int           // … this event
	last    time.Duration // the last attempt's end
	tried   int
	stuck   bool // L2 was reported for this wait
}

func (*progress) ids() []string { return []string{"L1", "L2", "L7"} }
func (*progress) wants() []what { return []what{phased} }

func (p *progress) see(f *fact) {
	switch {
	case f.what == phased:
		if f.e.Value == history.PhaseFinal && !p.final {
			p.final, p.from = true, f.e.Time
			p.waiting(f.e.Time)
			p.j.wake(p, nemesised, asked, refused, granted, reentered, unknown)
		}
		return
	case f.what == nemesised:
		p.from = max(p.from, f.e.Time)
		return
	case f.op == nil || f.op.what != history.Acquire:
		return
	}
	s := &f.key.prog
	switch f.what {
	case asked:
		p.attempt(f, s)
	case refused:
		s.failed++
		p.refusal(f, s)
	case granted:
		p.idle(f.key, s, f.op.ok, f.op.okIdx)
		*s = progressState{}
		if f.key.leases.head != nil {
			s.since, s.sinceIx = f.op.ok, f.op.okIdx
		}
	default:
		s.orphan, s.turns = nil, 0
		p.ended(f, s)
	}
}

// waiting books the attempts that are under way when the final phase begins.
func (p *progress) waiting(t time.Duration) {
	for _, k := range p.j.names.keys {
		for o := k.leases.head; o != nil; o = o.next {
			k.prog.since, k.prog.sinceIx = t, k.leases.head.invIdx
			k.prog.tried++
		}
	}
}

func (p *progress) attempt(f *fact, s *progressState) {
	if f.op.prev == nil {
		s.tries, s.failed, s.begun = 0, 0, f.op.inv
	}
	s.tries++
	if s.since == 0 || f.op.prev == nil && f.op.inv > later(s.last, p.patience()) {
		s.since, s.sinceIx, s.tried = f.op.inv, f.op.invIdx, 0
	}
	s.tried++
}

// ended closes an attempt, and with the last one the round.
func (p *progress) ended(f *fact, s *progressState) {
	s.last = f.op.ok
	p.idle(f.key, s, f.op.ok, f.op.okIdx)
}

// refusal counts refused attempts by rounds: attempts that overlap. A round
// that all lost while nobody held is nobody's fault but the lock's.
func (p *progress) refusal(f *fact, s *progressState) {
	defer p.ended(f, s)
	if f.key.leases.head != nil {
		return // the round goes on
	}
	if s.failed < s.tries || s.begun < p.free(f.key) {
		s.orphan, s.turns, s.turn = nil, 0, nil
		return
	}
	if s.tries == 1 || p.j.h.Quorum <= 1 {
		if len(s.orphan) < orphanTries {
			if s.orphan = append(s.orphan, f.op.okIdx); len(s.orphan) == orphanTries {
				p.orphaned(f, s)
			}
		}
	}
	if s.tries > 1 && p.j.h.Quorum > 1 {
		if want := int(p.j.bound(boundRounds, livelockTurns)); s.turns < want {
			s.turns++
			if s.turn = append(s.turn, f.op.okIdx); s.turns == want {
				p.livelocked(f, s)
			}
		}
	}
}

// free is from when on nobody can hold k any more, whatever was unknown.
func (p *progress) free(k *key) time.Duration {
	if p.j.nemesis.unhealed > 0 {
		return never
	}
	slack := p.j.h.Drift + p.j.retry() + p.j.h.Epsilon
	t := later(max(p.from, k.unsure)+slack, max(p.j.h.TTL, p.j.longest))
	if k.lasts() > p.j.now {
		return never
	}
	for _, g := range k.held {
		if g.extends > 0 {
			return never
		}
		t = max(t, later(slack, g.end()), later(slack, g.unreleased(p.j.h.TTL)))
	}
	if k.ghost.holder != nil {
		t = max(t, later(slack, k.ghost.until))
	}
	return t
}

// unreleased is until when a lease that was never given up for certain may
// stay with the servers.
func (g *grant) unreleased(ttl time.Duration) time.Duration {
	if g.relOK != never {
		return 0
	}
	return max(g.d, later(g.start, ttl))
}

// patience is how long a key may stay without a grant.
func (p *progress) patience() time.Duration { return later(p.j.retry(), p.j.h.TTL) }

// quiet says since when no fault is in force.
func (p *progress) quiet() string {
	if len(p.j.nemesis.faults) == 0 {
		return "No fault was in force"
	}
	return "Every fault was healed by " + at(p.from)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// idle reports L2 when attempts came for long, nobody held, and none won.
func (p *progress) idle(k *key, s *progressState, t time.Duration, idx int) {
	from := max(s.since, p.from)
	from = max(from, k.lasts())
	for _, g := range k.held {
		from = max(from, g.end())
	}
	bound := never
	if one := p.patience(); one < never/idleLeases {
		bound = idleLeases * one
	}
	if s.stuck || s.since == 0 || p.j.nemesis.unhealed > 0 || !p.j.test.waitedBeyond(t-from, bound) {
		return
	}
	s.stuck = true
	text := fmt.Sprintf("%s, and nobody held %s from %s on; yet nobody was granted it until %s, for %s and longer than %d × (TTL + retry) = %s, though it was asked for %s. "+
		"A majority was there to be had.",
		p.quiet(), k.name, at(from), at(t), span(t-from), idleLeases, span(bound), times(s.tried))
	p.j.violate(&hit{
		id: "L2", key: k, witness: []int{s.sinceIx, idx}, blame: blameProgress, from: from, to: t, text: func() string { return text },
	})
}

func (p *progress) orphaned(f *fact, s *progressState) {
	last, left := "", ""
	g, x := f.key.last, f.key.ghost
	if g != nil {
		last = fmt.Sprintf(" (the last one, %s's, at %s)", g.owner(), at(g.end()))
	}
	if x.holder != nil && (g == nil || x.inv > g.ok) {
		left = fmt.Sprintf(" An acquire by %s, begun at %s, was of unknown outcome: it may have left that behind.", x.holder.owner, at(x.inv))
	}
	text := fmt.Sprintf("%s, every lease of %s had ended%s and had run out on the servers too, and still %d attempts in a row were refused, the last one, by %s, at %s. "+
		"Something holds the key that nobody owns.%s",
		p.quiet(), f.key.name, last, len(s.orphan), f.op.holder.owner, at(f.op.ok), left)
	p.j.violate(&hit{
		id: "L1", key: f.key, owners: []string{f.op.holder.owner}, witness: append([]int(nil), s.orphan...), blame: blameProgress,
		from: p.from, to: f.op.ok, text: func() string { return text },
	})
}

func (p *progress) livelocked(f *fact, s *progressState) {
	text := fmt.Sprintf("In %d rounds in a row everybody who asked for %s got less than a quorum, the last time at %s, and nobody held it. The contenders split the nodes among themselves again and again.", s.turns, f.key.name, at(f.op.ok))
	p.j.violate(&hit{
		id: "L7", key: f.key, witness: append([]int(nil), s.turn...), blame: blameProgress, from: p.from, to: f.op.ok,
		text: func() string { return text },
	})
}

// finish looks at attempts that are still waiting, or were when it all ended.
func (p *progress) finish() {
	if !p.final {
		return
	}
	for _, k := range p.j.sortedKeys() {
		t := k.prog.last
		if k.leases.head != nil {
			t = p.j.now
		}
		p.idle(k, &k.prog, t, k.prog.sinceIx)
	}
}

package liveness

import (
	"fmt"
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// Progress decides L1, L2 and L7: once every fault is healed and a healthy final phase has
// begun, a key can be acquired. Before that phase it does nothing.
//
// It goes by attempts for one key alone. An attempt for several keys at once may be refused
// because of another key, and until then it may have had this one, so that the key was neither
// held nor free.
type Progress struct {
	*rule.Env
	Independence *Independence

	final bool
	from  time.Duration // when the final phase began
	keys  rule.Table[progressState]
}

const (
	orphanTries   = 3  // failing attempts that make an orphan
	idleLeases    = 3  // leases' length without a grant that make no progress
	releaseShare  = 10 // part of a TTL that a release may take behind its answer to have its effect
	livelockTurns = 10 // lost rounds that make a livelock, unless the header says otherwise
)

// A streak is of attempts in one mode that were refused in a row, each alone or deciding alone.
type streak struct {
	orphan []int           // the first of them
	proof  *rule.Candidate // that they are one; each that follows strengthens it
	passed bool            // the other mode was granted meanwhile
}

// progressState is the state of one key in the final phase.
type progressState struct {
	sinceGrant

	refused [2]streak               // by mode
	asked   [2]bool                 // whether anybody has asked in that mode
	inLine  map[place]time.Duration // when who was not granted the key there since was refused last
	back    time.Duration           // the last answer to a release
	several time.Duration           // the last attempt's end that asked for other keys too
	unknown time.Duration           // until when attempts that were given up as of unknown outcome may have taken it
}

// A place in line is one that a lock may keep for whoever was refused, as the reader or the writer
// that he asked as.
type place struct {
	*ledger.Holder
	history.Mode
}

// sinceGrant is what begins anew with each grant.
type sinceGrant struct {
	tries  int // attempts of the round under way
	failed int // of those, refused
	begun  time.Duration
	shared bool // one of them asks for other keys too

	turns int   // rounds in a row that nobody won
	turn  []int // their last refusals

	since   time.Duration // attempts have been coming since …
	sinceIx int           // … this event
	last    time.Duration // the last attempt's end
	tried   int
	stuck   *rule.Candidate // L2, of this wait
}

func (*Progress) Finish()              {}
func (*Progress) IDs() []string        { return []string{"L1", "L2", "L7"} }
func (*Progress) Wants() []ledger.Kind { return []ledger.Kind{ledger.Phased} }

func (p *Progress) Observe(f *ledger.Fact) {
	switch {
	case f.Kind == ledger.Phased:
		if f.Event.Value == history.PhaseFinal && !p.final {
			p.final, p.from = true, f.Event.Time
			p.waiting(f.Event.Time)
			p.Wake(p, ledger.Nemesised, ledger.Asked, ledger.Refused, ledger.Granted, ledger.Reentered, ledger.Unknown, ledger.Answered)
		}
		return
	case f.Kind == ledger.Nemesised:
		p.from = max(p.from, f.Event.Time)
		return
	case f.Op == nil:
		return
	}
	s := p.keys.At(f.Key.No)
	if f.Op.Action != history.Acquire {
		if f.Kind == ledger.Answered {
			s.back = f.Op.OK
		}
		return
	}
	switch f.Kind {
	case ledger.Asked:
		p.attempt(f, s)
	case ledger.Refused:
		s.failed++
		p.refusal(f, s)
	case ledger.Granted:
		p.attemptEnded(f, s)
		s.sinceGrant = sinceGrant{}
		s.granted(f.Op)
		if alone(f.Key) != nil {
			s.since, s.sinceIx = f.Op.OK, f.Op.OKIdx
		}
	default:
		s.refused, s.turns = [2]streak{}, 0
		p.attemptEnded(f, s)
		if f.Kind == ledger.Unknown { // one that has waited in vain for too long itself is no excuse
			s.unknown = max(s.unknown, ledger.Later(f.Op.OK, max(p.Header.TTL, p.Longest)))
		}
	}
}

// waiting notes the attempts that are under way when the final phase begins.
func (p *Progress) waiting(t time.Duration) {
	for _, k := range p.Names.Keys {
		if k.LastUnknown.Holder != nil {
			p.keys.At(k.No).unknown = k.LastUnknown.Until
		}
		for o := k.Open.Head; o != nil; o = o.Next {
			if s := p.keys.At(k.No); !o.Several {
				s.since, s.sinceIx = t, alone(k).InvIdx
				s.tried++
			}
		}
	}
}

// alone is the first attempt under way that asks for k and no other key.
func alone(k *ledger.Key) *ledger.Op {
	o := k.Open.Head
	for o != nil && o.Several {
		o = o.Next
	}
	return o
}

func (p *Progress) attempt(f *ledger.Fact, s *progressState) {
	if f.Op.Prev == nil {
		s.tries, s.failed, s.begun, s.shared = 0, 0, f.Op.Inv, false
	}
	s.tries++
	s.asked[f.Op.Mode] = true
	if f.Op.Several {
		s.shared = true
		return
	}
	if s.since == 0 || alone(f.Key) == f.Op && f.Op.Inv > ledger.Later(s.last, patience(p.Env)) {
		s.since, s.sinceIx, s.tried = f.Op.Inv, f.Op.InvIdx, 0
	}
	s.tried++
}

// attemptEnded closes an attempt, and with the last one the round. An attempt that asked for
// other keys too may have had this one since it began.
func (p *Progress) attemptEnded(f *ledger.Fact, s *progressState) {
	if !f.Op.Several {
		s.last = f.Op.OK
		p.idle(f.Key, s, f.Op.OK, f.Op.OKIdx)
		return
	}
	if alone(f.Key) != nil {
		p.idle(f.Key, s, f.Op.Inv, f.Op.InvIdx)
	}
	s.several = max(s.several, f.Op.OK)
}

// refusal counts refused attempts by rounds, which are attempts that overlap. A round that all
// lost while nobody held is the lock's fault.
func (p *Progress) refusal(f *ledger.Fact, s *progressState) {
	defer p.attemptEnded(f, s)
	if s.inLine == nil {
		s.inLine = map[place]time.Duration{}
	}
	s.inLine[place{f.Op.Holder, f.Op.Mode}] = f.Op.OK
	if f.Key.Open.Head != nil || history.Unanswered(f.Event.Err) {
		return // the round goes on, or nodes were not reached, of whatever cause
	}
	if s.shared || s.several > 0 && s.begun <= ledger.Later(s.several, p.Header.Drift+p.Header.Epsilon) {
		return // it shows nothing: somebody may have had the key while he tried to take another one too, or not undone it yet
	}
	free := p.free(f.Key)
	if s.failed < s.tries || s.begun < free {
		s.refused, s.turns, s.turn = [2]streak{}, 0, nil
		return
	}
	if row := &s.refused[f.Op.Mode]; s.tries == 1 || p.Header.Quorum <= 1 {
		if free = max(free, p.passed(f, s)); s.begun >= free && p.Independence.shows(f.Key, s.begun, f.Op.OK) {
			p.extend(row, f, s.begun, free)
		}
	}
	if s.tries > 1 && p.Header.Quorum > 1 {
		if want := int(p.Bound(history.BoundRounds, livelockTurns)); s.turns < want {
			s.turns++
			if s.turn = append(s.turn, f.Op.OKIdx); s.turns == want {
				p.livelocked(f, s)
			}
		}
	}
}

// extend adds an attempt to those that were refused in a row.
func (p *Progress) extend(row *streak, f *ledger.Fact, begun, free time.Duration) {
	if row.proof == nil {
		if row.orphan = append(row.orphan, f.Op.OKIdx); len(row.orphan) == orphanTries {
			p.orphaned(f, row, free)
		}
	}
	if row.proof != nil { // the longer the key stays, the longer a harness must have stood still to have kept it
		row.proof.Margin, row.proof.To = p.Beyond(begun-row.proof.Moot), f.Op.OK
	}
}

// granted ends the attempts in a row that were refused in o's mode. Those in the other one are
// in a row all the same: that somebody reads and leaves lets nobody write, if what readers leave
// behind keeps writers out.
func (s *progressState) granted(o *ledger.Op) {
	s.refused[o.Mode] = streak{}
	s.refused[o.Mode.Other()].passed = true
	delete(s.inLine, place{o.Holder, o.Mode})
}

// passed is from when on no lease that was given back can keep f out, nor, where some read and
// others write, the place in line of whoever was refused: a lock that does not let readers pass
// writers for ever may keep it for as long as a lease, though nobody waits there.
func (p *Progress) passed(f *ledger.Fact, s *progressState) time.Duration {
	slack := p.Header.Drift + p.Header.Epsilon + p.Header.TTL/releaseShare // … which a release may take to have its effect
	t := ledger.Later(s.back, slack)
	if !s.asked[history.Shared] || !s.asked[history.Exclusive] {
		return t
	}
	for other, refused := range s.inLine {
		if other != (place{f.Op.Holder, f.Op.Mode}) {
			t = max(t, ledger.Later(refused, max(ledger.Later(slack, max(p.Header.TTL, p.Longest)), p.wake())))
		}
	}
	return t
}

// free is from when on nobody can hold k any more, whatever the unknown outcomes were.
func (p *Progress) free(k *ledger.Key) time.Duration {
	if p.Nemesis.Unhealed > 0 {
		return ledger.Never
	}
	if k.OverflowUntil() > p.Now || slices.ContainsFunc(k.Held, func(g *ledger.Grant) bool { return g.Extending > 0 }) {
		return ledger.Never
	}
	slack := p.Header.Drift + p.Retry() + p.Header.Epsilon
	t := max(ledger.Later(p.from+slack, max(p.Header.TTL, p.Longest)), ledger.Later(slack, p.kept(k)))
	if k.LastUnknown.Holder != nil {
		t = max(t, ledger.Later(max(slack, p.wake()), k.LastUnknown.Until))
	}
	return t
}

// wake is by when a waiter has a key that is free, as the lock declares it, whoever stands in line before it
// and is no more; 0 where it declares nothing.
func (p *Progress) wake() time.Duration { return time.Duration(p.Header.Bounds[history.BoundWake]) }

// kept is until when somebody may hold k, or servers may keep it for somebody who held it,
// leases that were given back aside.
func (p *Progress) kept(k *ledger.Key) time.Duration {
	t := k.OverflowUntil()
	if k.UnknownExtension > 0 {
		t = max(t, ledger.Later(k.UnknownExtension, max(p.Header.TTL, p.Longest)))
	}
	for _, g := range k.Held {
		if !givenBack(g) {
			t = max(t, g.End(), unreleased(g, p.Header.TTL))
		}
	}
	return t
}

// givenBack says whether g was surely given back: nothing of it is left behind the answer.
func givenBack(g *ledger.Grant) bool { return g.ReleaseOK != ledger.Never && g.Rare == nil }

// unreleased is until when servers may keep a lease that was not surely released.
func unreleased(g *ledger.Grant, ttl time.Duration) time.Duration {
	if g.ReleaseOK != ledger.Never {
		return 0
	}
	return max(g.Deadline, ledger.Later(g.Start, ttl))
}

// patience is how long a key may stay without a grant.
func patience(e *rule.Env) time.Duration { return ledger.Later(e.Retry(), e.Header.TTL) }

// idleBound is how long any key may stay without a grant, whatever the lock declares.
func idleBound(e *rule.Env) time.Duration {
	return idleLeases * min(patience(e), ledger.Never/idleLeases)
}

// quiet is a text that says since when no fault has been in force.
func (p *Progress) quiet() string {
	if len(p.Nemesis.Faults) == 0 {
		return "No fault was in force"
	}
	return "Every fault was healed by " + words.At(p.from)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// idle reports L2 when there were attempts for long, nobody held, and none was granted.
func (p *Progress) idle(k *ledger.Key, s *progressState, t time.Duration, idx int) {
	from := max(s.since, p.from, s.several, s.unknown, s.back, p.kept(k))
	bound := max(idleBound(p.Env), p.wake())
	lasted := t - from
	if s.since == 0 || p.Nemesis.Unhealed > 0 || lasted <= bound {
		return
	}
	for o := k.Open.Head; o != nil; o = o.Next {
		if o.Several && o.Inv-from <= bound {
			return
		}
	}
	first := s.stuck == nil
	if first {
		s.stuck = &rule.Candidate{ID: "L2", Key: k, Blame: rule.BlameProgress}
	}
	// The longer it lasts, the longer a harness must have stood still to have brought it about.
	x, tried, quiet := s.stuck, s.tried, p.quiet()
	x.Witness, x.From, x.To, x.Margin = []int{s.sinceIx, idx}, from, t, p.Beyond(lasted-bound)
	x.Text = func() string {
		allowed := fmt.Sprintf("%d × (TTL + retry) = %s", idleLeases, words.Span(bound))
		if bound == p.wake() {
			allowed = fmt.Sprintf("the %s within which the lock says that a waiter is served", words.Span(bound))
		}
		return fmt.Sprintf("%s, and nobody held %s from %s on; yet nobody was granted it until %s, for %s and longer than %s, though it was asked for %s. "+
			"A majority was there to be had.",
			quiet, k.Name, words.At(from), words.At(t), words.Span(lasted), allowed, times(tried))
	}
	if first {
		p.Violate(x)
	}
}

// orphaned reports L1. Whatever stands still once the key is free on the servers, it gives nobody
// a lease: who is refused from then on was refused by the lock.
func (p *Progress) orphaned(f *ledger.Fact, row *streak, free time.Duration) {
	last, left, to := "", "", ""
	if row.passed {
		to = " to write"
		if f.Op.Mode == history.Shared {
			to = " to read"
		}
	}
	g, x := f.Key.Last, f.Key.LastUnknown
	if g != nil {
		last = fmt.Sprintf(" (the last one, %s's, at %s)", g.Owner(), words.At(g.End()))
	}
	if x.Holder != nil && (g == nil || x.Inv > g.OK) {
		left = fmt.Sprintf(" An acquire by %s, begun at %s, was of unknown outcome: it may have left that behind.", x.Holder.Owner, words.At(x.Inv))
	}
	if row.passed {
		left += " Whoever asked for it in the other mode meanwhile was granted it, and gave it back."
	}
	text := fmt.Sprintf("%s, every lease of %s had ended%s and had run out on the servers too, and still %d attempts%s in a row were refused, the last one, by %s, at %s. "+
		"Something holds the key that nobody owns.%s",
		p.quiet(), f.Key.Name, last, len(row.orphan), to, f.Op.Holder.Owner, words.At(f.Op.OK), left)
	row.proof = &rule.Candidate{
		ID: "L1", Key: f.Key, Owners: []string{f.Op.Holder.Owner}, Witness: append([]int(nil), row.orphan...), Blame: rule.BlameProgress,
		From: p.from, To: f.Op.OK, Moot: free, Text: func() string { return text },
	}
	p.Violate(row.proof)
}

func (p *Progress) livelocked(f *ledger.Fact, s *progressState) {
	text := fmt.Sprintf("In %d rounds in a row everybody who asked for %s got less than a quorum, the last time at %s, and nobody held it. The contenders split the nodes among themselves again and again.", s.turns, f.Key.Name, words.At(f.Op.OK))
	p.Violate(&rule.Candidate{
		ID: "L7", Key: f.Key, Witness: append([]int(nil), s.turn...), Blame: rule.BlameProgress, From: p.from, To: f.Op.OK,
		Text: func() string { return text },
	})
}

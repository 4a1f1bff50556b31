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

// Samples judges by samples of what nodes store during the run: a key that stores a lease of
// nobody's for longer than undo and release may take (L8), and a waiter that is not served
// although a quorum does not store the key (L2).
//
// A history does not say which owner a stored value belongs to: locks store random names. But
// whoever set it had asked for the key before it was first seen. When each such acquire was
// refused, or its lease is over, nobody owns a value that is still there.
type Samples struct {
	*rule.Env
	Idle   *Idle
	awake  bool
	reused int // texts that came back after they had gone: they do not tell leases apart
	keys   map[*ledger.Key]*sampledKey

	heard   int                             // of the nemesis' faults
	unmet   []*ledger.Fault                 // those of nodes behind which nobody has asked for anything yet
	met     map[*ledger.Fault]time.Duration // when somebody first did behind the others
	lastMet time.Duration                   // the last of these times

	inError []int // releases that ended in an error and gave nothing back, up to those that are L8
}

// A sampledKey is a key of which there are samples.
type sampledKey struct {
	blind  bool // somebody had asked for it before anybody looked
	asked  int  // acquires so far
	newest int  // of those that were granted or of unknown outcome, the last to be asked for
	open   map[int]author
	leases map[*ledger.Holder]author
	kept   map[*ledger.Holder]author // of leases that ran out and were not given back yet
	late   []author                  // of unknown outcome, or given up without a release
	over   moment                    // when the last of those that are over was
	last   time.Duration             // when somebody last asked for something, or was answered
	gone   time.Duration             // when the last lease ended
	given  returned                  // the release that ended it, where one did
	tried  map[string]time.Duration  // when an owner last asked for something, or was answered
	waits  map[int]moment            // acquires under way that wait inside the lock, by process
	gaveUp time.Duration             // a waiter did last, and nobody who began to wait later was granted the key since: it may still stand in line

	views map[string]*sampledView // by node and name
	names map[string]struct{}     // under which nodes store it
	stuck *lasting                // L2, of the waiter that waits longest

	vain   inVain   // the attempts that were refused since somebody was granted the key
	barred *lasting // L2, of those

	inError *releaseInError // nil: none, or it was looked into
}

// A returned is the release of a key's last lease; 0 is none.
type returned struct{ asked, answered time.Duration } // the release; 0 is none

// A lasting is a finding that grows while the condition lasts.
type lasting struct {
	*rule.Candidate
	idx  int // of the waiter
	now  moment
	why  string // L2, of attempts that were refused: what keeps them out, as far as they were told
	idle *proof // L8: that somebody was granted the key all the same
}

// A moment is a time and the event that proves it.
type moment struct {
	t   time.Duration
	idx int
}

// A sampledView is what one node stores under one name.
type sampledView struct {
	node  string
	there bool
	shown bool // it was once
	text  string
	lo    time.Duration // its expiry lies between …
	hi    time.Duration // … these; never without one
	first moment        // it was seen there as it is
	other time.Duration // the last look before that, which showed another value or none; Never: there was none
	upTo  int           // acquires that had been asked for by then
	by    []string      // owners who may have set it
	over  moment        // when the last of those was over
	free  time.Duration // since when it has not been there
	seen  time.Duration // the last look's beginning
	left  *lasting      // L8, of what is there

	proof  *proof        // of what was there at a grant, while nobody has looked since
	proved time.Duration // by that grant

	life lifetime
	was  string // the text that went last
}

func (*Samples) IDs() []string        { return []string{"L8", "L2"} }
func (*Samples) Wants() []ledger.Kind { return []ledger.Kind{ledger.Witnessed} }
func (*Samples) Finish()              {}

func (s *Samples) Observe(f *ledger.Fact) {
	if f.Kind == ledger.Witnessed {
		if rule.IsSample(f.Event) {
			s.addSample(f.Event)
		}
		return
	}
	k := s.of(f.Key)
	k.tried[f.Op.Holder.Owner] = f.Event.Time
	switch f.Kind {
	case ledger.Asked:
		s.meets(f.Event.Time)
		s.asks(k, f)
	case ledger.Refused:
		s.closes(k, f, f.Event.Time)
		s.refuses(k, f)
	case ledger.Granted, ledger.Reentered:
		s.grants(k, f)
		k.vain, k.barred = inVain{}, nil
	case ledger.Extended, ledger.Unmoved:
		s.prolongs(k, f)
	case ledger.Answered:
		s.releases(k, f)
	case ledger.Unknown:
		s.doubts(k, f)
	}
	k.last = f.Event.Time
}

// addSample notes a sample of what a node stores.
func (s *Samples) addSample(e *history.Event) {
	if !s.awake {
		s.awake = true
		s.keys, s.met = map[*ledger.Key]*sampledKey{}, map[*ledger.Fault]time.Duration{}
		s.Wake(s, ledger.Asked, ledger.Refused, ledger.Granted, ledger.Reentered, ledger.Extended, ledger.Unmoved, ledger.Answered, ledger.Unknown)
	}
	if e.Kind != history.OK {
		s.falls(e.Node)
		return
	}
	if !e.HasAll(history.HasPTTL) {
		return
	}
	key := s.Key(e.Key)
	k := s.of(key)
	v := k.view(e)
	s.update(k, v, e)
	s.expire(k, v.seen)
	s.leftover(key, k, v, e)
	s.revived(key, k, v, e)
	s.unreturned(key, k, v, e)
	s.unserved(key, k, e)
	s.bars(key, k, e)
}

// falls notes that a node does not answer: of what it stores when it answers again, nobody
// knows when it was set.
func (s *Samples) falls(node string) {
	for _, k := range s.keys {
		for _, v := range k.views {
			if v.node == node {
				v.there, v.text, v.free, v.life, v.proof = false, "", ledger.Never, lifetime{}, nil
			}
		}
	}
}

func (s *Samples) of(k *ledger.Key) *sampledKey {
	x := s.keys[k]
	if x == nil {
		x = &sampledKey{
			blind: k.Answered > 0 || k.Open.Head != nil, open: map[int]author{}, leases: map[*ledger.Holder]author{}, kept: map[*ledger.Holder]author{},
			tried: map[string]time.Duration{}, waits: map[int]moment{}, views: map[string]*sampledView{}, names: map[string]struct{}{},
		}
		s.keys[k] = x
	}
	return x
}

func (k *sampledKey) view(e *history.Event) *sampledView {
	id := e.Node + " " + e.Note
	v := k.views[id]
	if v == nil {
		v = &sampledView{node: strings.Clone(e.Node), free: ledger.Never}
		k.views[id] = v
		k.names[strings.Clone(e.Note)] = struct{}{}
	}
	return v
}

// expiryTick is twice the resolution of servers' expiries.
const expiryTick = 2 * time.Millisecond

// update notes in v what a sample says. A value that was set anew, or whose expiry has moved,
// counts as seen for the first time.
func (s *Samples) update(k *sampledKey, v *sampledView, e *history.Event) {
	began := e.Time
	if e.HasAll(history.HasBegan) {
		began = min(e.Began, e.Time)
	}
	before := v.seen
	v.seen = began
	lo, hi := ledger.Never, ledger.Never
	if e.PTTL > rule.WithoutExpiry {
		lo, hi = began+rule.TimeLeft(e)-expiryTick, ledger.Later(e.Time, rule.TimeLeft(e))+expiryTick
	}
	s.reviews(v, e, lo)
	if e.PTTL < rule.WithoutExpiry {
		if v.there || v.free == ledger.Never {
			v.free = e.Time
		}
		if v.there {
			v.was = v.text
		}
		v.there, v.text = false, ""
		return
	}
	lives, told := v.there && v.text == e.Holder, v.there || v.free != ledger.Never
	v.shown = true
	if lives && lo <= v.hi && v.lo <= hi {
		return
	}
	if lives && lo > v.hi && lo != ledger.Never {
		v.life.rose = before
	}
	v.there, v.text, v.lo, v.hi = true, strings.Clone(e.Holder), lo, hi
	v.first, v.upTo, v.over, v.left = moment{e.Time, e.Index}, k.asked, k.over, nil
	if v.other = ledger.Never; told {
		v.other = before
	}
	v.by = s.authors(k, before, e.Time)
	if !lives {
		s.comes(k, v)
	}
}

// declared says whether the lock declares how long undo and release may take.
func (s *Samples) declared() bool { _, ok := s.Header.Bounds[history.BoundUndo]; return ok }

// undo is how long undo and release may take: as declared, or half a TTL.
func (s *Samples) undo() time.Duration {
	return time.Duration(s.Bound(history.BoundUndo, int64(s.Header.TTL/2)))
}

// leftover reports L8.
func (s *Samples) leftover(key *ledger.Key, k *sampledKey, v *sampledView, e *history.Event) {
	bound := s.undo() + s.Header.Epsilon
	if k.blind || !v.there || v.upTo == 0 || k.owned(v.upTo) || stays(s.Env, v.first.t, v.lo) && s.Idle.Has(v.text) {
		return
	}
	from := max(v.over.t, v.first.t)
	if s.declared() {
		hurt, free := s.affected(v.node, from, v.seen, v.byThose)
		if from = max(from, hurt); !free {
			return
		}
	} else {
		if s.undoMayBeLost(v) {
			return
		}
		from = max(from, s.repliesLost(v))
	}
	if v.seen-from <= bound {
		return
	}
	if v.left == nil {
		v.left = s.left(key, v, from, moment{v.seen, e.Index})
		s.Violate(v.left.Candidate)
	}
	v.left.grow(moment{v.seen, e.Index}, v.seen-from-bound)
}

// grow extends a finding to now.
func (o *lasting) grow(now moment, margin time.Duration) {
	o.now, o.To, o.Margin = now, now.t, max(o.Margin, margin)
}

func (s *Samples) left(key *ledger.Key, v *sampledView, from time.Duration, now moment) *lasting {
	o := &lasting{now: now}
	first, over, node, text, bound := v.first, v.over, v.node, v.text, s.undo()
	forGood := stays(s.Env, v.first.t, v.lo)
	o.Candidate = &rule.Candidate{
		ID: "L8", Key: key, Witness: []int{first.idx, now.idx}, Blame: rule.BlameLibrary, From: from,
		Refuted: func() bool { return o.idle != nil && !o.idle.void || forGood && s.Idle.Has(text) },
		Remedy:  "give back what a failed attempt may have taken on every node that it was sent to, behind the attempt itself.",
		Text: func() string {
			return fmt.Sprintf("Until %s node %s stored %q for %s, first seen there at %s. Whoever had asked before that was refused or had given the lease back by %s, "+
				"and nothing was in the way of that node since %s: nobody owned it, for longer than the %s that undo and release may take.",
				words.At(o.now.t), node, text, key.Name, words.At(first.t), words.At(over.t), words.At(from), words.Span(bound))
		},
	}
	if over.idx != rule.NoWitness {
		o.Witness = append(o.Witness, over.idx)
	}
	return o
}

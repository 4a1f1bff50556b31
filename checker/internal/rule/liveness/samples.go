package liveness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// Samples judges what nodes were seen to store while the run went on: a key that
// bears the lease of nobody for longer than undo and release may take (L8), and a
// waiter that is not served although the key is free at a quorum (L2).
//
// Whose lease a text bears, the history does not say: locks store random names. But
// whoever set it had asked before it was first seen there. When every such acquire
// was refused, or its lease is over, nobody owns what is still there.
type Samples struct {
	*rule.Env
	awake  bool
	reused int // texts that came back after they had gone: they do not tell leases apart
	keys   map[*ledger.Key]*sampledKey
	silent map[string]bool // nodes that do not answer
}

// A sampledKey is a key whose nodes are looked at.
type sampledKey struct {
	blind  bool // somebody had asked for it before anybody looked
	asked  int  // acquires so far
	newest int  // of those that were granted or of unknown outcome, the last to be asked for
	open   map[int]author
	leases map[*ledger.Holder]author
	kept   map[*ledger.Holder]author // of leases that ran out and were not given back yet
	late   []author                  // of unknown outcome, or given up without a release
	over   moment                    // when the last of those that are over was
	gone   time.Duration             // when the last lease ended
	given  returned                  // the release that ended it, where one did
	tried  map[string]time.Duration  // when an owner's last attempt or release was answered
	waits  map[int]moment            // acquires under way that wait inside the lock, by process
	gaveUp time.Duration             // a waiter did last, and nobody who began to wait later was granted the key since: it may still stand in line

	views map[string]*sampledView // by node and name
	names map[string]bool         // under which nodes store it
	stuck *lasting                // L2, of the waiter that waits longest

	vain   inVain   // the attempts that were refused since somebody was granted the key
	barred *lasting // L2, of those
}

// A returned key is one whose last lease was given back, and that nobody was granted since.
type returned struct{ asked, answered time.Duration } // the release; 0 is none

// A lasting is a finding that grows while it lasts.
type lasting struct {
	*rule.Candidate
	idx int // of the waiter
	now moment
}

// An author may have set what a node stores.
type author struct {
	number int           // of its acquire, from 1
	owner  string        // of one that is under way
	until  time.Duration // when it is over by itself
}

// A moment is an instant and the event that proves it.
type moment struct {
	t   time.Duration
	idx int
}

// A sampledView is what one node stores under one name.
type sampledView struct {
	node  string
	there bool
	text  string
	lo    time.Duration // its expiry lies between …
	hi    time.Duration // … these; never without one
	first moment        // it was seen there as it is
	upTo  int           // acquires that had been asked for by then
	by    []string      // owners who may have set it
	over  moment        // when the last of those was over
	free  time.Duration // since when it has not been there
	seen  time.Duration // the last look's beginning
	left  *lasting      // L8, of what is there

	life lifetime
	was  string // the text that went last
}

func (*Samples) IDs() []string        { return []string{"L8", "L2"} }
func (*Samples) Wants() []ledger.Kind { return []ledger.Kind{ledger.Witnessed} }
func (*Samples) Finish()              {}

func (s *Samples) Observe(f *ledger.Fact) {
	if f.Kind == ledger.Witnessed {
		if rule.IsSample(f.Event) {
			s.look(f.Event)
		}
		return
	}
	if f.Op != nil && f.Op.Action == history.Read || f.Key == nil {
		return
	}
	k := s.of(f.Key)
	switch f.Kind {
	case ledger.Asked:
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
}

// look takes what a node was seen to store.
func (s *Samples) look(e *history.Event) {
	if !s.awake {
		s.awake = true
		s.keys, s.silent = map[*ledger.Key]*sampledKey{}, map[string]bool{}
		s.Wake(s, ledger.Asked, ledger.Refused, ledger.Granted, ledger.Reentered, ledger.Extended, ledger.Unmoved, ledger.Answered, ledger.Unknown)
	}
	if e.Kind != history.OK {
		s.falls(e.Node)
		return
	}
	if !e.HasAll(history.HasPTTL) {
		return
	}
	delete(s.silent, e.Node)
	key := s.Key(e.Key)
	k := s.of(key)
	v := k.view(e)
	s.take(k, v, e)
	s.settle(k, v.seen)
	s.leftover(key, k, v, e)
	s.revived(key, k, v, e)
	s.unserved(key, k, e)
	s.bars(key, k, e)
}

// falls notes that a node does not answer: what it stores when it does again was
// not seen to come.
func (s *Samples) falls(node string) {
	s.silent[node] = true
	for _, k := range s.keys {
		for _, v := range k.views {
			if v.node == node {
				v.there, v.text, v.free, v.life = false, "", ledger.Never, lifetime{}
			}
		}
	}
}

func (s *Samples) of(k *ledger.Key) *sampledKey {
	x := s.keys[k]
	if x == nil {
		x = &sampledKey{
			blind: k.Answered > 0 || k.Open.Head != nil, open: map[int]author{}, leases: map[*ledger.Holder]author{}, kept: map[*ledger.Holder]author{},
			tried: map[string]time.Duration{}, waits: map[int]moment{}, views: map[string]*sampledView{}, names: map[string]bool{},
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
		k.names[strings.Clone(e.Note)] = true
	}
	return v
}

// expiryTick is the resolution of servers' expiries, twice.
const expiryTick = 2 * time.Millisecond

// take notes a look. A text that was set anew, or whose expiry has moved, is seen
// for the first time.
func (s *Samples) take(k *sampledKey, v *sampledView, e *history.Event) {
	began := e.Time
	if e.HasAll(history.HasBegan) && e.Began <= e.Time {
		began = e.Began
	}
	before := v.seen
	v.seen = began
	if e.PTTL < rule.WithoutExpiry {
		if v.there || v.free == ledger.Never {
			v.free = e.Time
		}
		v.goes()
		v.there, v.text = false, ""
		return
	}
	lo, hi := ledger.Never, ledger.Never
	if e.PTTL != rule.WithoutExpiry {
		lo, hi = began+rule.TimeLeft(e)-expiryTick, ledger.Later(e.Time, rule.TimeLeft(e))+expiryTick
	}
	if v.there && v.text == e.Holder && lo <= v.hi && v.lo <= hi {
		return
	}
	lives := v.there && v.text == e.Holder
	if lives && lo > v.hi && lo != ledger.Never {
		v.life.rose = before
	}
	if !lives {
		v.goes()
	}
	v.there, v.text, v.lo, v.hi = true, strings.Clone(e.Holder), lo, hi
	v.first, v.upTo, v.over, v.left = moment{e.Time, e.Index}, k.asked, k.over, nil
	v.by = s.authors(k, before, e.Time)
	if !lives {
		s.comes(k, v)
	}
}

// asks books an acquire: from here on it may have set what is seen.
func (s *Samples) asks(k *sampledKey, f *ledger.Fact) {
	k.asked++
	k.open[f.Op.Process] = author{number: k.asked, owner: f.Op.Holder.Owner, until: ledger.Never}
	if how := f.Event.Note; how == history.AskWait || how == history.AskFair {
		k.waits[f.Op.Process] = moment{f.Event.Time, f.Event.Index}
	}
}

// answers takes an acquire that is over out of those under way.
func (k *sampledKey) answers(f *ledger.Fact) author {
	a := k.open[f.Op.Process]
	switch w, waited := k.waits[f.Op.Process]; {
	case !waited:
	case f.Op.Outcome != history.OK:
		k.gaveUp = f.Event.Time
	case w.t > k.gaveUp:
		k.gaveUp = 0
	}
	delete(k.open, f.Op.Process)
	delete(k.waits, f.Op.Process)
	k.tried[f.Op.Holder.Owner] = f.Event.Time
	return a
}

// closes books that an acquire left nothing behind, as it says.
func (s *Samples) closes(k *sampledKey, f *ledger.Fact, t time.Duration) {
	k.ends(k.answers(f), moment{t, f.Event.Index})
}

// ends books that an author is over.
func (k *sampledKey) ends(a author, at moment) {
	if at.t >= k.over.t {
		k.over = at
	}
	for _, v := range k.views {
		if v.there && a.number <= v.upTo && at.t >= v.over.t {
			v.over = at
		}
		if v.there && a.number <= v.life.upTo && at.t >= v.life.over.t {
			v.life.over = at
		}
	}
}

// grants books a lease, which lasts until its release, and no longer than the
// servers keep it.
func (s *Samples) grants(k *sampledKey, f *ledger.Fact) {
	h := f.Op.Holder
	k.given = returned{}
	a := k.answers(f)
	k.newest = max(k.newest, a.number)
	delete(k.kept, h)
	if was, holds := k.leases[h]; holds && f.Kind == ledger.Reentered {
		a.number = was.number
	} else if holds {
		k.late = append(k.late, was)
	}
	a.until = max(f.Grant.ServedUntil, s.kept(f.Event.Time))
	k.leases[h] = a
}

// kept is until when servers keep what they were asked for by t.
func (s *Samples) kept(t time.Duration) time.Duration {
	return ledger.Later(t, ledger.Later(s.Header.Drift+s.Header.Epsilon, s.Header.TTL))
}

func (s *Samples) prolongs(k *sampledKey, f *ledger.Fact) {
	h := f.Op.Holder
	k.tried[h.Owner] = f.Event.Time
	if a, holds := k.leases[h]; holds {
		a.until = max(a.until, f.Grant.ServedUntil, s.kept(f.Event.Time))
		k.leases[h] = a
	}
}

func (s *Samples) releases(k *sampledKey, f *ledger.Fact) {
	h := f.Op.Holder
	k.tried[h.Owner] = f.Event.Time
	a, holds := k.leases[h]
	delete(k.kept, h)
	if !holds || f.Op.Outcome == history.Info {
		return
	}
	delete(k.leases, h)
	k.gone, k.given = f.Event.Time, returned{}
	if f.Op.Outcome == history.OK && len(k.leases) == 0 {
		k.given = returned{f.Op.Inv, f.Event.Time}
	}
	if f.Op.Outcome == history.Fail && !s.declared() {
		a.until = max(a.until, s.kept(f.Event.Time)) // what is left of a lost lease ends by itself
		k.late = append(k.late, a)
		return
	}
	k.ends(a, moment{f.Event.Time, f.Event.Index})
}

// doubts books an operation of unknown outcome: what it left behind goes within the
// bound that the lock declares, and otherwise with its TTL.
func (s *Samples) doubts(k *sampledKey, f *ledger.Fact) {
	h := f.Op.Holder
	gone := moment{f.Event.Time, f.Event.Index}
	undone := s.declared() && !s.crashed(h.Owner, f.Op.Inv, f.Event.Time)
	switch f.Op.Action {
	case history.Acquire:
		a := k.answers(f)
		k.newest = max(k.newest, a.number)
		if undone {
			k.ends(a, gone)
			return
		}
		a.until = s.kept(f.Event.Time)
		k.vain.taken = max(k.vain.taken, a.until)
		k.late = append(k.late, a)
	case history.Release:
		k.tried[h.Owner] = f.Event.Time
		delete(k.kept, h)
		if a, holds := k.leases[h]; holds {
			delete(k.leases, h)
			k.gone, k.given = f.Event.Time, returned{}
			if undone {
				k.ends(a, gone)
				return
			}
			a.until = max(a.until, s.kept(f.Event.Time))
			k.late = append(k.late, a)
		}
	case history.Extend:
		if a, holds := k.leases[h]; holds {
			a.until = max(a.until, s.kept(f.Event.Time))
			k.leases[h] = a
		}
	}
}

// settle ends what was over by itself by t.
func (s *Samples) settle(k *sampledKey, t time.Duration) {
	for h, a := range k.leases {
		if a.until <= t {
			delete(k.leases, h)
			k.kept[h] = a
			k.gone, k.given = max(k.gone, a.until), returned{}
			k.ends(a, moment{a.until, rule.NoWitness})
		}
	}
	k.late = slices.DeleteFunc(k.late, func(a author) bool {
		if a.until <= t {
			k.ends(a, moment{a.until, rule.NoWitness})
		}
		return a.until <= t
	})
}

// owned says whether somebody may own what one of the first upTo acquires has set.
func (k *sampledKey) owned(upTo int) bool {
	for _, a := range k.open {
		if a.number <= upTo {
			return true
		}
	}
	for _, a := range k.leases {
		if a.number <= upTo {
			return true
		}
	}
	return slices.ContainsFunc(k.late, func(a author) bool { return a.number <= upTo })
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
	if k.blind || !v.there || v.upTo == 0 || v.seen <= bound || k.owned(v.upTo) {
		return
	}
	from := max(v.over.t, v.first.t)
	if v.seen-from <= bound {
		return
	}
	since := from
	if !s.declared() { // it may have lost its undo for good
		since = min(v.first.t, v.over.t) - 2*s.Header.TTL
	}
	hurt, free := s.affected(v.node, since, v.seen, v.byThose)
	from = max(from, hurt)
	if !free || !s.declared() && hurt > 0 || v.seen-from <= bound {
		return
	}
	if v.left == nil {
		v.left = s.left(key, v, from, moment{v.seen, e.Index})
		s.Violate(v.left.Candidate)
	}
	v.left.grow(moment{v.seen, e.Index}, v.seen-from-bound)
}

// grow notes that a finding lasts.
func (o *lasting) grow(now moment, margin time.Duration) {
	o.now, o.To, o.Margin = now, now.t, max(margin, 1)
}

func (s *Samples) left(key *ledger.Key, v *sampledView, from time.Duration, now moment) *lasting {
	o := &lasting{now: now}
	first, over, node, text, bound := v.first, v.over, v.node, v.text, s.undo()
	o.Candidate = &rule.Candidate{
		ID: "L8", Key: key, Witness: []int{first.idx, now.idx}, Blame: rule.BlameLibrary, From: from,
		Text: func() string {
			return fmt.Sprintf("Until %s node %s stored %q for %s, first seen there at %s. Whoever had asked before that was refused or had given the lease back by %s, "+
				"and nothing was in the way of that node since %s: nobody owned it, for longer than the %s that undo and release may take. "+
				"Remedy: give back what a failed attempt may have taken on every node that it was sent to, behind the attempt itself.",
				words.At(o.now.t), node, text, key.Name, words.At(first.t), words.At(over.t), words.At(from), words.Span(bound))
		},
	}
	if over.idx != rule.NoWitness {
		o.Witness = append(o.Witness, over.idx)
	}
	return o
}

// wake is how long a waiter may wait for a key that is free: as declared, or as
// long as any key may stay without a grant.
func (s *Samples) wakeWithin() time.Duration {
	one := s.idle()
	if one == ledger.Never {
		return ledger.Never
	}
	return time.Duration(s.Bound(history.BoundWake, int64(one)))
}

// idle is how long any key may stay without a grant, whatever the lock declares.
func (s *Samples) idle() time.Duration {
	one := patience(s.Env)
	if one >= ledger.Never/idleLeases {
		return ledger.Never
	}
	return idleLeases * one
}

// wokenWithin is how long somebody may wait who waited before at, when the last lease of k
// was given back and nodes were free of it soon: whoever gives a key back wakes who waits
// for it, as declared.
func (s *Samples) wokenWithin(k *sampledKey, at, free time.Duration) time.Duration {
	woken, declared := s.Header.Bounds[history.BoundWoken]
	if bound := time.Duration(woken); declared && at < k.given.asked && free-k.given.answered <= bound/2 {
		return min(bound, s.wakeWithin())
	}
	return s.wakeWithin()
}

// unserved reports L2 when somebody waits for a key that a quorum does not store.
func (s *Samples) unserved(key *ledger.Key, k *sampledKey, e *history.Event) {
	if k.blind || len(k.waits) == 0 || len(k.leases) > 0 || k.gaveUp > 0 {
		return
	}
	first := moment{t: ledger.Never}
	for _, w := range k.waits {
		if w.t < first.t || w.t == first.t && w.idx < first.idx {
			first = w
		}
	}
	free, seen := s.freeAtQuorum(k)
	bound, from := s.wokenWithin(k, first.t, free), max(first.t, free, k.gone)
	if free == ledger.Never || seen-from <= bound+s.Header.Epsilon {
		return
	}
	hurt, quiet := s.affected("", first.t-bound, e.Time, func(f *ledger.Fault) bool { return s.delays(f, k) })
	if hurt > 0 { // what would have woken it may be lost: it has to look again by itself, as anybody would
		bound, from = max(bound, s.idle()), max(from, hurt)
	}
	if !quiet || seen-from <= bound+s.Header.Epsilon {
		return
	}
	if k.stuck == nil || k.stuck.idx != first.idx {
		k.stuck = s.waits(key, first, from, moment{seen, e.Index}, bound)
		s.Violate(k.stuck.Candidate)
	}
	k.stuck.grow(moment{seen, e.Index}, seen-from-bound)
}

func (s *Samples) waits(key *ledger.Key, first moment, from time.Duration, now moment, bound time.Duration) *lasting {
	o := &lasting{idx: first.idx, now: now}
	o.Candidate = &rule.Candidate{
		ID: "L2", Key: key, Witness: []int{first.idx, now.idx}, Blame: rule.BlameProgress, From: from,
		Text: func() string {
			return fmt.Sprintf("From %s on a quorum of the nodes did not store %s and nobody held it. Somebody had waited for it since %s, no fault was in the way, and yet nobody was granted it until %s, "+
				"for longer than the %s within which a waiter is to be served. Remedy: wake the first waiter in the step that frees the key, and let waiters ask again by themselves.",
				words.At(from), key.Name, words.At(first.t), words.At(o.now.t), words.Span(bound))
		},
	}
	return o
}

// A freedom is for how long a node was seen not to store a key.
type freedom struct{ since, seen time.Duration }

// freeAtQuorum is since when a quorum of nodes has not stored k under any name, and
// until when that was seen; since never when it is not so.
func (s *Samples) freeAtQuorum(k *sampledKey) (since, seen time.Duration) {
	var free []freedom
	for _, f := range k.freedoms() {
		if f.since != ledger.Never {
			free = append(free, f)
		}
	}
	quorum := max(s.Header.Quorum, 1)
	if len(free) < quorum {
		return ledger.Never, 0
	}
	slices.SortFunc(free, func(a, b freedom) int { return cmp.Compare(b.seen, a.seen) })
	seen = free[quorum-1].seen
	free = slices.DeleteFunc(free, func(f freedom) bool { return f.seen < seen })
	slices.SortFunc(free, func(a, b freedom) int { return cmp.Compare(a.since, b.since) })
	return free[quorum-1].since, seen
}

// freedoms are those of each node that was asked for all names; since never where
// one of them is there.
func (k *sampledKey) freedoms() map[string]freedom {
	all, asked := map[string]freedom{}, map[string]int{}
	for _, v := range k.views {
		f, known := all[v.node]
		if !known {
			f.seen = ledger.Never
		}
		f.seen = min(f.seen, v.seen)
		if v.there {
			f.since = ledger.Never
		}
		f.since = max(f.since, v.free)
		all[v.node] = f
		asked[v.node]++
	}
	for node, n := range asked {
		if n < len(k.names) {
			delete(all, node)
		}
	}
	return all
}

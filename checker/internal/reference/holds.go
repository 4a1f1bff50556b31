package reference

import (
	"cmp"
	"slices"
	"time"

	"locktorture/workload/history"
)

// A span is the time from (included) to (not included).
type span struct{ from, to time.Duration }

func (s span) overlap(t span) time.Duration { return min(s.to, t.to) - max(s.from, t.from) }

// An ending is an event that ended a lease before its deadline: an acknowledged release, a
// reported loss, a refusal.
type ending struct {
	may, must instant       // its owner may know from here on, and must know from here on
	cut       time.Duration // no reading lets the definite hold last longer
	sure      bool          // it ended this lease, whatever else is open
	unsent    bool          // it ended nothing; its owner acts no more, though
	told      bool          // somebody reported the loss; the servers may know better
	unknown   bool          // a release of unknown outcome
	unheard   bool          // the same, and nothing says that it began: a client that stamps its own writes may not have heard of it
}

// A grant is an acquire that was answered with yes.
type grant struct {
	*operation
	nested   Answer            // Violation: surely a re-entry; Open: perhaps
	into     map[*grant]Answer // the same, by the lease
	alike    []*grant          // of the same hold, perhaps, with the same token
	keeps    Answer            // the same, into a lease with this token
	excused  bool              // into one with this token that no word has ended
	held     []span            // surely held; cut by the endings
	first    time.Duration     // the deadline as it was granted
	beside   time.Duration     // the latest deadline of re-entries that are over
	low      time.Duration
	deadline time.Duration // the latest that any reading grants
	certain  time.Duration // the same as server, but for extensions that may have been of other leases
	server   time.Duration // when the servers' TTL has run out at the latest
	vague    bool          // an extension of unknown outcome may have prolonged the servers' TTL
	endings  []ending
	longer   []extension
	known    time.Duration // until when the history tells what became of it
}

// events are g's, and those of the grants that may be of one hold with it and bear its
// token: which of them a release gave back is nobody's to say, and each shows the hold.
func (g *grant) events() []int {
	events := g.operation.events()
	for _, x := range g.alike {
		events = append(events, x.operation.events()...)
	}
	return events
}

// An extension moved the deadline of a grant.
type extension struct {
	*operation
	until  time.Duration
	newest bool // it was the owner's newest lease that it spoke of
}

// sweep folds the operations, in the order of their completions, into grants.
func (j *judge) sweep() {
	for i := range j.history.Events {
		for _, o := range j.ops {
			if o.Op == history.Release && o.from.index == i {
				j.release(o)
			}
			unanswered := o.to.index == len(j.history.Events)
			if o.Op == history.Extend && unanswered && o.from.index == i {
				j.extend(o)
			}
			if o.to.index != i {
				continue
			}
			switch {
			case o.Op == history.Acquire && o.Kind == history.OK:
				j.grant(o)
			case o.Op == history.Extend:
				j.extend(o)
			case o.Op == history.Release && !o.unsent:
				j.grantedMeanwhile(o)
			case o.Op == history.Lost:
				j.lost(o)
			}
		}
	}
}

func (j *judge) lost(o *operation) {
	at := o.to
	if o.HasAll(history.HasBegan) && o.Began <= at.time {
		at.time = o.Began // its user, who stood still perhaps, heard of it at the event's time
	}
	e := ending{may: at, must: o.to, cut: at.time, told: true}
	spoken := j.spokenOf(o)
	for i, g := range spoken {
		e.sure = oneHold(spoken[i:]) && j.surely(g.to, at) && j.clear(o, g)
		g.addEnding(e)
	}
	j.stray(o, e)
	j.reentered(o, e)
}

// oneHold reports whether each of the grants but the first is surely a re-entry into one
// before it.
func oneHold(grants []*grant) bool {
	for i, g := range grants[1:] {
		if !slices.ContainsFunc(grants[:i+1], func(x *grant) bool { return g.into[x] == Violation && (x.Fence == g.Fence || g.keeps == No) }) {
			return false
		}
	}
	return true
}

// reentered notes that an operation with either of two tokens may be about both leases, where a
// re-entry has changed the token, or may have.
func (j *judge) reentered(o *operation, e ending) {
	e.sure = false
	own := j.of(o.Key, o.Owner)
	nested := slices.ContainsFunc(own, func(g *grant) bool { return g.nested == Violation })
	for _, g := range own {
		one := slices.ContainsFunc(own, func(x *grant) bool { return x.Fence == o.token() && (g.into[x] != No || x.into[g] != No) })
		if (nested || one) && o.token() != 0 && g.Fence != o.token() {
			g.addEnding(e)
		}
	}
}

// stray handles an operation with a token that its owner was never granted: it may be about any
// of its leases, or about none.
func (j *judge) stray(o *operation, e ending) {
	e.sure = false
	if j.strange(o) {
		for _, g := range j.of(o.Key, o.Owner) {
			g.addEnding(e)
		}
	}
}

// strange reports whether an operation bears a token that its owner was never granted.
func (j *judge) strange(o *operation) bool {
	granted := slices.ContainsFunc(j.of(o.Key, o.Owner), func(g *grant) bool { return g.Fence == o.token() })
	return o.token() != 0 && !granted
}

func (j *judge) grant(o *operation) {
	h := j.history.Header
	deadline := o.from.time + h.TTL - h.Drift
	if o.HasAll(history.HasValidUntil) {
		deadline = o.ValidUntil
	}
	g := &grant{operation: o, first: deadline, low: deadline, deadline: deadline, known: j.end, into: map[*grant]Answer{}}
	g.server = o.to.time + max(h.TTL, deadline-o.from.time+h.Drift)
	g.certain = g.server
	g.held = []span{{o.to.time, deadline}}
	for _, before := range j.of(o.Key, o.Owner) {
		is := j.reentry(before, g)
		g.nested, g.into[before] = max(g.nested, is), is
		if is != No && before.Fence == g.Fence && g.Fence != 0 {
			g.alike, before.alike = append(g.alike, before), append(before.alike, g)
		}
		if before.Fence == g.Fence {
			g.keeps = max(g.keeps, is)
			running := before.certain == before.server || g.from.time-before.certain <= j.farthest(before, g.operation)
			g.excused = g.excused || is != No && len(before.endings) == 0 && running && !j.perhapsOfAnother(before, g)
		}
		if is != No {
			before.server, before.certain = max(before.server, g.server), max(before.certain, g.certain)
			before.beside, before.deadline = max(before.beside, deadline), max(before.deadline, deadline)
		}
	}
	j.grants = append(j.grants, g)
	for _, x := range j.ops {
		word := x.Op == history.Release && !x.unsent || x.Op == history.Lost || x.Op == history.Extend && x.Kind == history.Fail
		if word && x.Key == g.Key && x.Owner == g.Owner && x.from.index < g.to.index && j.perhaps(g.to, x.to) && (x.token() == 0 || x.token() == g.Fence) && x.to.index < g.to.index {
			g.addEnding(ending{may: x.from, must: x.to, cut: x.to.time}) // it may have been about g, of which the history tells late
		}
		vague := x.Op == history.Extend && x.Kind == history.Info && !x.unsent && x.to.index < g.to.index
		if vague && x.Key == g.Key && x.Owner == g.Owner && j.perhaps(g.to, x.from) && (x.token() == 0 || x.token() == g.Fence || x.renamed()) {
			g.vague = true
		}
	}
}

// reentry says whether g is a re-entry into the lease before.
func (j *judge) reentry(before, g *grant) Answer {
	for _, e := range before.endings {
		if e.sure && !e.unknown && !e.told && j.surely(e.must, g.from) {
			return No
		}
	}
	server, vague := j.underWay(before, g)
	if !vague && g.from.time-server > j.farthest(before, g.operation) {
		return No
	}
	if before.surelyHeldThrough(g.from.time, g.to.time) && j.surely(before.to, g.from) && before.Mode == g.Mode {
		return Violation
	}
	return Open
}

// farthest is how far apart the stamps of a lease and of an operation may be.
func (j *judge) farthest(g *grant, o *operation) time.Duration {
	host := o.from.host
	if alone(append(g.alike, g)...) && g.process() == o.Process {
		return 0
	}
	widest := j.apart(g.to.host, host)
	for _, x := range g.longer {
		widest = max(widest, j.apart(x.to.host, host))
	}
	for _, x := range g.alike {
		widest = max(widest, j.apart(x.to.host, host))
	}
	return widest
}

// underWay is until when the servers may keep the lease before, and whether that is
// open, by the extensions too that are answered only after g.
func (j *judge) underWay(before, g *grant) (server time.Duration, vague bool) {
	server, vague = before.server, before.vague
	for _, o := range j.ops {
		of := o.Op == history.Extend && o.Key == g.Key && o.Owner == g.Owner && (o.token() == 0 || o.token() == before.Fence || o.renamed() || j.strange(o))
		if !of || o.to.index < g.to.index || o.from.index > g.to.index && !(o.renewal() && j.perhaps(o.from, g.to)) {
			continue
		}
		switch o.Kind {
		case history.OK:
			server = max(server, o.to.time+max(j.history.Header.TTL, j.until(o)-o.from.time+j.history.Header.Drift))
		case history.Info:
			vague = vague || !o.unsent
		}
	}
	return server, vague
}

// perhapsOfAnother reports whether the servers can have kept the lease before only by an
// extension under way that named none, asked for by a process which took another one: of
// which of them it is, is open.
func (j *judge) perhapsOfAnother(before, g *grant) bool {
	if before.vague || g.from.time-before.server <= j.farthest(before, g.operation) {
		return false
	}
	return !slices.ContainsFunc(j.ops, func(o *operation) bool {
		under := o.Op == history.Extend && o.Key == g.Key && o.Owner == g.Owner && o.from.index < g.to.index && o.to.index > g.to.index
		took := slices.ContainsFunc(j.of(g.Key, g.Owner), func(x *grant) bool { return x != before && x.process() == o.Process })
		return under && (o.token() == before.Fence && o.token() != 0 || o.token() == 0 && !took)
	})
}

func (g *grant) surelyHeldThrough(from, to time.Duration) bool {
	return slices.ContainsFunc(g.definite(), func(s span) bool { return s.from <= from && to < s.to })
}

// of returns the grants of an owner, oldest first.
func (j *judge) of(key, owner string) []*grant {
	var found []*grant
	for _, g := range j.grants {
		if g.Key == key && g.Owner == owner {
			found = append(found, g)
		}
	}
	slices.SortStableFunc(found, func(a, b *grant) int { return cmp.Compare(a.to.time, b.to.time) }) // told late, it is not the newest
	return found
}

// spokenOf returns the leases that an operation is about: those with its token, all of the
// owner's where it has none.
func (j *judge) spokenOf(o *operation) []*grant {
	var found []*grant
	for _, g := range j.of(o.Key, o.Owner) {
		if t := o.token(); t == 0 || g.Fence == t {
			found = append(found, g)
		}
	}
	return found
}

// clear reports whether an operation is surely about g, the newest lease that it may be about.
func (j *judge) clear(o *operation, g *grant) bool {
	if o.token() != 0 || o.Process == g.process() {
		return true
	}
	return !slices.ContainsFunc(j.of(o.Key, o.Owner), func(x *grant) bool { return x.process() == o.Process })
}

func (g *grant) process() int { return g.operation.Process }

// release ends the newest lease that it is about and that has no ending.
func (j *judge) release(o *operation) {
	e := ending{may: o.from, must: o.to, cut: o.from.time, unsent: o.unsent, unknown: o.Kind == history.Info, unheard: o.Kind == history.Info && !o.said}
	j.stray(o, e)
	var top *grant
	for _, g := range j.spokenOf(o) {
		if !g.surelyEnded() {
			top = g
		}
	}
	if top == nil { // which of the words ended them is open where that is not surely the earlier one
		for _, g := range j.spokenOf(o) {
			if !o.unsent && !j.endedBy(g, o.from) {
				g.addEnding(ending{may: e.may, must: e.must, cut: o.to.time})
			}
		}
		return
	}
	for _, g := range j.of(o.Key, o.Owner) {
		switch {
		case g == top:
		case !g.surelyEnded():
			j.beside(g, top, o, e)
		case !o.unsent && !j.endedBy(g, o.from): // which of the two words ended it is open
			g.addEnding(ending{may: e.may, must: e.must, cut: o.to.time})
		}
	}
	e.sure = !o.unsent && !o.perhapsUnsent && j.surely(top.to, o.from) && !top.releasedInVain() && j.clear(o, top) && !muddled(j.of(o.Key, o.Owner))
	top.addEnding(e)
}

// endedBy reports whether g surely had an ending by an instant.
func (j *judge) endedBy(g *grant, at instant) bool {
	return slices.ContainsFunc(g.endings, func(e ending) bool { return e.sure && j.surely(e.must, at) })
}

// releasedInVain reports whether a release of g was never sent: whether the next
// one is of the same hold or of an outer one is open.
func (g *grant) releasedInVain() bool {
	return slices.ContainsFunc(g.endings, func(e ending) bool { return e.unsent })
}

// grantedMeanwhile: a lease that was granted while a release was under way may be
// the one that was released, or refused.
func (j *judge) grantedMeanwhile(o *operation) {
	for _, g := range j.spokenOf(o) {
		if g.to.index > o.from.index {
			g.addEnding(ending{may: o.from, must: o.to, cut: o.to.time})
		}
	}
}

// beside says what a release of top leaves of another lease of its owner.
func (j *judge) beside(g, top *grant, o *operation, e ending) {
	if o.unsent {
		return
	}
	g.beside, g.deadline = max(g.beside, top.deadline), max(g.deadline, top.deadline)
	if o.Kind == history.Fail {
		e.cut = o.to.time
	}
	switch {
	case o.Kind == history.Fail && g.Fence == top.Fence:
		e.sure = !o.perhapsUnsent && j.surely(g.to, o.from) && j.clear(o, top) && j.surely(g.to, top.to) && !muddled(j.of(o.Key, o.Owner))
		g.addEnding(e)
	case top.nested != Violation || o.Kind == history.Fail || len(top.endings) > 0 || !j.clear(o, top):
		g.addEnding(e)
	default:
		g.low = min(g.low, top.low)
	}
}

// extend moves the deadline of the leases that it speaks of, or ends them.
func (j *judge) extend(o *operation) {
	h := j.history.Header
	spoken := j.spokenOf(o)
	if o.Kind == history.Fail {
		e := ending{may: o.from, must: o.to, cut: o.to.time}
		j.stray(o, e)
		j.reentered(o, e)
	}
	switch {
	case o.Kind == history.OK:
		j.extendedPerhaps(o, spoken)
	case o.Kind == history.Info && !o.unsent && (o.renamed() || j.strange(o)):
		for _, g := range j.of(o.Key, o.Owner) {
			g.vague = true
		}
	}
	for i, g := range spoken {
		newest := i == len(spoken)-1
		switch o.Kind {
		case history.Fail:
			g.addEnding(ending{may: o.from, must: o.to, cut: o.to.time, sure: oneHold(spoken[i:]) && !o.renewal() && !o.perhapsUnsent && j.surely(spoken[len(spoken)-1].to, o.from) && j.clear(o, spoken[len(spoken)-1])})
		case history.Info:
			g.vague = g.vague || !o.unsent
		case history.OK:
			until := j.until(o)
			g.extended(o, until, newest && j.clear(o, g) && o.from.time >= g.from.time) // begun before g was asked for, it may be of another lease
			g.server = max(g.server, o.to.time+max(h.TTL, until-o.from.time+h.Drift))
			g.certain = max(g.certain, o.to.time+max(h.TTL, until-o.from.time+h.Drift))
		}
	}
}

// until is the deadline that an extension gave.
func (j *judge) until(o *operation) time.Duration {
	if o.HasAll(history.HasValidUntil) {
		return o.ValidUntil
	}
	return o.from.time + j.history.Header.TTL - j.history.Header.Drift
}

// extendedPerhaps: an extension with a token that its owner was never granted, or
// that a re-entry has changed, may be about any of its leases.
func (j *judge) extendedPerhaps(o *operation, spoken []*grant) {
	own := j.of(o.Key, o.Owner)
	nested := slices.ContainsFunc(own, func(g *grant) bool { return g.nested != No })
	for _, g := range own {
		if until := j.until(o); !slices.Contains(spoken, g) && (len(spoken) == 0 || nested || o.renamed()) {
			g.deadline, g.low = max(g.deadline, until), min(g.low, until)
			g.longer = append(g.longer, extension{o, until, false})
			g.server = max(g.server, o.to.time+max(j.history.Header.TTL, until-o.from.time+j.history.Header.Drift))
		}
	}
}

func (g *grant) extended(o *operation, until time.Duration, newest bool) {
	g.deadline = max(g.deadline, until)
	g.longer = append(g.longer, extension{o, until, newest})
	last := &g.held[len(g.held)-1]
	switch {
	case until <= last.to: // also where it had ended by then: what its owner had been told before is open
		last.to, g.low = until, until
	case g.surelyEnded():
	case !newest:
	case o.to.time < last.to:
		last.to, g.low = until, until
	default:
		g.held, g.low = append(g.held, span{o.to.time, until}), until
	}
}

// lowest and latest bound the deadline as it was known at an instant.
func (j *judge) lowest(g *grant, at instant) time.Duration {
	until := g.first
	for _, x := range g.longer {
		if x.newest && j.surely(x.to, at) || x.until < until {
			until = x.until
		}
	}
	return min(until, max(g.low, g.first))
}

func (j *judge) latest(g *grant, at instant) time.Duration {
	until := max(g.first, g.beside)
	for _, x := range g.longer {
		if j.perhaps(x.from, at) {
			until = max(until, x.until)
		}
	}
	return until
}

func (g *grant) addEnding(e ending) { g.endings = append(g.endings, e) }

func (g *grant) surelyEnded() bool {
	for _, e := range g.endings {
		if e.sure {
			return true
		}
	}
	return false
}

// definite returns the spans in which the hold is beyond doubt.
func (g *grant) definite() []span {
	var left []span
	for _, s := range g.held {
		s.to = min(s.to, max(g.low, s.from), g.known)
		for _, e := range g.endings {
			s.to = min(s.to, e.may.time)
		}
		if s.from < s.to {
			left = append(left, s)
		}
	}
	return left
}

// possible returns the span that some reading of the definitions grants.
func (g *grant) possible() span {
	s := span{g.to.time, g.deadline}
	for _, e := range g.endings {
		if e.sure {
			s.to = min(s.to, e.cut)
		}
	}
	return s
}

// conflict reports whether two grants exclude each other.
func conflict(g, h *grant) bool {
	return g.Key == h.Key && g.Owner != h.Owner && (g.Mode != history.Shared || h.Mode != history.Shared)
}

// overlap returns for how long two grants surely excluded each other, and for
// how long they perhaps did.
func overlap(g, h *grant) (sure, perhaps time.Duration) {
	for _, s := range g.definite() {
		for _, t := range h.definite() {
			sure = max(sure, s.overlap(t))
		}
	}
	return sure, g.possible().overlap(h.possible())
}

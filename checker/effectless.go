package checker

import (
	"time"

	"locktorture/workload/history"
)

// effectless decides L9: a release that was acknowledged gives the key back. It is
// proved by what others were told until the released lease's TTL had run out, or
// by what a quorum of nodes still stored. Whatever else can explain that the key
// stayed taken ends the watch.
type effectless struct{ j *Judge }

// releaseState is what L9 knows of a key.
type releaseState struct {
	open    int             // acquires under way
	others  time.Duration   // until when servers may keep a lease besides the latest
	unclear bool            // the latest may share its place on the servers with one of its owner's that was not released
	vague   bool            // something was of unknown outcome …
	unknown time.Duration   // … and was given up last at that time
	watch   *releaseWatch   // the latest release, while it may have changed nothing
	spare   *releaseWatch   // one that is over, to be used again
	proved  *releaseWatch   // but for attempts that are not answered yet: until they are, no other is
	told    []*releaseWatch // the latest few that were reported
}

// A releaseWatch is an acknowledged release of the last hold, and what was seen since.
type releaseWatch struct {
	holder  *holder
	inv     time.Duration // of the lease
	start   time.Duration
	expiry  time.Duration // the earliest at which the servers' TTL ends it
	ok      time.Duration // its release was answered
	okIdx   int
	leaseIx int
	before  int           // attempts from before the answer that are still under way
	from    time.Duration // attempts that began behind this count …
	fromIdx int
	fromBy  int   // … or behind this event, by the same process
	host    host  // that stamped the lease …
	fromAt  host  // … and from
	again   bool  // its owner asked for the key again
	refused []int // the first few attempts that were refused
	tries   int   // of all of those
	looks   map[string]look

	granted time.Duration // the next grant, or the last look, when it is proved
	next    *holder
	nextIdx int
	waiting int // attempts that began before that grant, and are not answered
	refuted bool
}

// A look is what one node showed of a released lease: it stored it still.
type look struct {
	idx  int
	sure bool // somebody looked after the release's answer, not only told of it
}

// drop ends the watch: the release may have done what it should.
func (s *releaseState) drop() {
	if s.watch != nil {
		s.spare, s.watch = s.watch, nil
	}
}

// begin watches a release as w says.
func (s *releaseState) begin(w releaseWatch) {
	if s.watch = s.spare; s.watch == nil {
		s.watch = new(releaseWatch)
	}
	s.spare = nil
	w.refused, w.looks = s.watch.refused[:0], s.watch.looks
	clear(w.looks)
	*s.watch = w
}

const (
	effectlessTries = 3 // refused attempts that show the key taken
	effectlessTold  = 4 // findings of one key that an extension told late may refute
)

func (*effectless) ids() []string { return []string{"L9"} }
func (*effectless) wants() []what {
	return []what{asked, granted, reentered, refused, extended, unmoved, answered, unknown, witnessed}
}
func (*effectless) finish() {}

func (l *effectless) see(f *fact) {
	switch f.what {
	case witnessed:
		l.look(f.e)
	case asked:
		l.asked(f)
	case granted:
		l.granted(f)
	case reentered:
		l.attempted(f)
		f.key.rel.drop()
	case refused:
		l.attempted(f)
		l.refused(f)
	case extended, unmoved:
		l.moved(f)
	case answered:
		l.answered(f)
	case unknown:
		l.unknown(f)
	}
}

// slack is how far the instants of a history may be from those of the servers.
func (l *effectless) slack() time.Duration { return later(l.j.h.Drift, l.j.h.Epsilon) }

// quiet says whether nothing that happened shortly before t, or since, can have
// held a request back or made a node forget.
func (l *effectless) quiet(t time.Duration) bool {
	since := t - min(t+1, l.horizon())
	return l.j.nemesis.unhealed == 0 && !l.j.nemesis.since(since)
}

// horizon is how long after it was given up, or after a fault, a request may still
// be carried out and keep a key taken.
func (l *effectless) horizon() time.Duration {
	return later(later(l.slack(), l.j.retry()), later(l.j.h.TTL, l.j.h.TTL))
}

func (l *effectless) asked(f *fact) {
	s := &f.key.rel
	s.open++
	switch w := s.watch; {
	case w == nil:
	case l.j.h.Quorum > 1 && s.open > 1:
		s.drop() // they may split the votes
	case f.op.holder == w.holder:
		w.again = true
	}
}

// answered begins to watch a release of the latest lease, if nothing else can
// keep the key taken.
func (l *effectless) answered(f *fact) {
	s, g, o := &f.key.rel, f.grant, f.op
	s.drop()
	expiry := l.expiry(g)
	switch {
	case o.outcome != history.OK, g != f.key.last, g.relIdx != o.invIdx, g.stopIdx != o.invIdx, g.lost != never,
		g.denied() != nil, g.muddled(), g.extends > 0, g.elsewhere(),
		s.unclear, s.others > 0 && later(s.others, l.slack()) > o.ok,
		s.vague && later(s.unknown, l.horizon()) > g.inv,
		l.j.h.Quorum > 1 && s.open > 0,
		expiry == never, expiry <= o.ok, !l.quiet(g.inv):
		return
	}
	s.begin(releaseWatch{
		holder: g.holder, inv: g.inv, start: g.start, expiry: expiry, ok: o.ok, okIdx: o.okIdx, leaseIx: g.okIdx,
		before: s.open, from: o.ok, fromIdx: o.okIdx, fromBy: o.process, host: g.host, fromAt: o.host,
	})
}

// expiry is the earliest at which the servers' TTL can have ended g.
func (l *effectless) expiry(g *grant) time.Duration {
	length := l.j.h.TTL
	if promised := later(g.d-g.start, l.j.h.Drift); g.d != never && promised > length {
		length = promised
	}
	return later(g.start, length)
}

// refused counts an attempt that shows the key taken.
func (l *effectless) refused(f *fact) {
	s, o := &f.key.rel, f.op
	w := s.watch
	switch {
	case w == nil:
	case unsent(f.e.Err): // a node that is not there
		s.drop()
	case o.invIdx < w.okIdx: // it waited: what it leaves behind ends with it, at the latest
		w.before--
		w.from, w.fromIdx, w.fromBy, w.fromAt = max(w.from, o.ok), o.okIdx, o.process, o.host
		w.refused, w.tries = w.refused[:0], 0
		w.again = w.again || o.holder == w.holder
	case o.holder == w.holder, o.mode != history.Exclusive, w.before > 0,
		o.invIdx < w.fromIdx, o.process != w.fromBy && o.inv <= later(w.from, l.j.clock.apart(w.fromAt, o.host)),
		later(o.ok, l.j.clock.apart(w.host, o.host)) > w.expiry:
	default:
		if w.tries++; w.tries <= effectlessTries {
			w.refused = append(w.refused, o.okIdx)
		}
	}
}

// granted ends the watch: the key was free. That proves something only when it was
// asked for after the released lease's TTL.
func (l *effectless) granted(f *fact) {
	l.attempted(f)
	s, o := &f.key.rel, f.op
	if w := s.watch; w != nil && w.tries >= effectlessTries && w.before == 0 && o.inv >= later(w.expiry, l.j.clock.apart(w.host, o.host)) && l.quiet(w.inv) {
		s.watch = nil
		w.granted, w.next, w.nextIdx, w.waiting = o.ok, o.holder, o.okIdx, s.open
		l.prove(s, w)
	}
	s.drop()
	l.take(s, f.grant, f.key.last)
}

// take books what besides g, which is fresh, servers may keep; last was granted
// before it.
func (l *effectless) take(s *releaseState, g, last *grant) {
	if last != nil && (last.relOK == never || s.unclear) {
		s.others = max(s.others, last.served)
	}
	lingers := func(x *grant) bool { return later(x.served, l.slack()) >= g.inv }
	own := g.holder.grant
	s.unclear = own != nil && own.relOK == never && lingers(own) ||
		s.unclear && last != nil && last.holder == g.holder && lingers(last) ||
		g.mode == history.Shared && s.others > 0 && s.others >= g.inv
}

// prove reports w, or keeps it until every attempt that could be its cause is answered.
func (l *effectless) prove(s *releaseState, w *releaseWatch) {
	if w.waiting > 0 {
		s.proved = w
		return
	}
	l.report(w)
}

// attempted books that an acquire is over: a proof stands when none is left that
// may have taken the key unnoticed.
func (l *effectless) attempted(f *fact) {
	s, o := &f.key.rel, f.op
	s.open--
	w := s.proved
	if w == nil || o.invIdx > w.nextIdx {
		return
	}
	w.waiting--
	switch {
	case f.what != refused && o.inv < later(w.expiry, l.j.clock.apart(w.host, o.host)):
		s.proved = nil
	case w.waiting == 0:
		s.proved = nil
		l.report(w)
	}
}

// moved: an extension, whatever became of it, may have kept the key.
func (l *effectless) moved(f *fact) {
	s := &f.key.rel
	s.drop()
	if s.proved != nil && f.op.inv <= s.proved.granted {
		s.proved = nil
	}
	for _, w := range s.told {
		w.refuted = w.refuted || f.op.inv <= w.granted
	}
	if f.grant != f.key.last {
		s.others = max(s.others, f.grant.served)
	}
}

// unknown: what may or may not have been carried out explains everything.
func (l *effectless) unknown(f *fact) {
	o := f.op
	if o.what != history.Acquire && o.what != history.Extend && o.what != history.Release {
		return
	}
	s := &o.holder.key.rel
	if o.what == history.Acquire {
		s.open--
	}
	s.drop()
	s.vague, s.unknown = true, max(s.unknown, o.ok)
	if s.proved != nil && o.invIdx < s.proved.nextIdx {
		s.proved = nil
	}
}

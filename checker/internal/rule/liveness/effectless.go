package liveness

import (
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/workload/history"
)

// Effectless decides L9: a release that was acknowledged frees the key. A violation is proved
// by refusals of others until the released lease's TTL had run out, and no longer, or by a quorum
// of nodes that still stored the lease. Anything else that can explain it ends the watch: refusals
// go on, or nodes are seen to be free of the key, where something other than the lease keeps it
// taken, such as the place in line of somebody who asks no more.
type Effectless struct {
	*rule.Env
	Independence *Independence
	Samples      *Samples // must see each event first
	Keys         rule.Table[releaseState]
}

// releaseState is what is known of a key's latest release.
type releaseState struct {
	open     int             // acquires under way
	others   time.Duration   // until when servers may keep a lease besides the latest
	unclear  bool            // the latest may share its place on the servers with one of its owner's that was not released
	vague    bool            // something was of unknown outcome …
	unknown  time.Duration   // … and was given up last at that time
	watch    *releaseWatch   // the latest release, while it may have changed nothing
	spare    *releaseWatch   // one that is over, to be used again
	proved   *releaseWatch   // but for attempts that are not answered yet: until they are, no other is
	Reported []*releaseWatch // the latest few that were reported
}

// A releaseWatch is an acknowledged release of a lease's last hold, and what was observed
// since.
type releaseWatch struct {
	holder  *ledger.Holder
	inv     time.Duration // of the lease
	start   time.Duration
	expiry  time.Duration // the earliest at which the servers' TTL ends it
	ok      time.Duration // its release was answered
	okIdx   int
	leaseIx int
	before  int           // attempts from before the answer that are still under way
	from    time.Duration // attempts that began behind this count …
	fromIdx int
	fromBy  ledger.Stamper // … or behind this event, by the same process
	by      ledger.Stamper // that stamped the lease
	again   bool           // its owner asked for the key again
	refused []int          // the first few attempts that were refused
	tries   int            // of all of those
	ended   time.Duration  // the latest at which the servers' TTL ends the lease
	late    []stamp        // when attempts behind that were refused: the first of each of the first few processes
	looks   map[string]look

	granted time.Duration // the next grant, or the last look, when it is proved
	next    *ledger.Holder
	nextIdx int
	asked   stamp // when the next holder asked for it
	waiting int   // attempts that began before that grant, and are not answered
	refuted bool
}

// A stamp is a time, and who stamped it.
type stamp struct {
	at time.Duration
	by ledger.Stamper
}

// A look is a sample by which one node still stored a released lease.
type look struct {
	idx  int
	sure bool // somebody looked after the release's answer, not only told of it
}

// drop ends the watch: the release may have freed the key.
func (s *releaseState) drop() {
	if s.watch != nil {
		s.spare, s.watch = s.watch, nil
	}
}

// begin begins to watch the release of w.
func (s *releaseState) begin(w releaseWatch) {
	if s.watch = s.spare; s.watch == nil {
		s.watch = new(releaseWatch)
	}
	s.spare = nil
	w.refused, w.late, w.looks = s.watch.refused[:0], s.watch.late[:0], s.watch.looks
	clear(w.looks)
	*s.watch = w
}

const (
	effectlessTries    = 3 // refused attempts that show the key taken
	effectlessLate     = 8 // processes that show something other than the lease to keep it so
	EffectlessReported = 4 // findings of one key that an extension told late may refute
)

func (*Effectless) IDs() []string { return []string{"L9"} }
func (*Effectless) Wants() []ledger.Kind {
	return []ledger.Kind{ledger.Asked, ledger.Granted, ledger.Reentered, ledger.Refused, ledger.Extended, ledger.Unmoved, ledger.Answered, ledger.Unknown, ledger.Witnessed}
}
func (*Effectless) Finish() {}

func (l *Effectless) Observe(f *ledger.Fact) {
	switch f.Kind {
	case ledger.Witnessed:
		l.addSample(f.Event)
	case ledger.Asked:
		l.asked(f)
	case ledger.Granted:
		l.granted(f)
	case ledger.Reentered:
		l.attempted(f)
		l.Keys.At(f.Key.No).drop()
	case ledger.Refused:
		l.attempted(f)
		l.refused(f)
	case ledger.Extended, ledger.Unmoved:
		l.moved(f)
	case ledger.Answered:
		l.answered(f)
	case ledger.Unknown:
		l.unknown(f)
	}
}

// slack is how far the times of a history may be from those of the servers.
func (l *Effectless) slack() time.Duration { return ledger.Later(l.Header.Drift, l.Header.Epsilon) }

// quiet says whether nothing can have delayed a request or made a node forget, from shortly
// before t on.
func (l *Effectless) quiet(t time.Duration) bool {
	since := t - min(t+1, l.horizon())
	return !l.Nemesis.MayBeSince(since)
}

// horizon is how long a request may still be carried out after it was given up, or after a
// fault, and keep a key taken.
func (l *Effectless) horizon() time.Duration {
	return ledger.Later(ledger.Later(l.slack(), l.Retry()), ledger.Later(l.Header.TTL, l.Header.TTL))
}

func (l *Effectless) asked(f *ledger.Fact) {
	s := l.Keys.At(f.Key.No)
	s.open++
	switch w := s.watch; {
	case w == nil:
	case l.Header.Quorum > 1 && s.open > 1:
		s.drop() // they may split the votes
	case f.Op.Several:
		s.drop() // it may have the key while it tries to take another one too
	case f.Op.Holder == w.holder:
		w.again = true
	}
}

// answered begins to watch an acknowledged release of the latest lease, unless something else
// can keep the key taken.
func (l *Effectless) answered(f *ledger.Fact) {
	s, g, o := l.Keys.At(f.Key.No), f.Grant, f.Op
	s.drop()
	expiry := l.expiry(g)
	switch {
	case o.Outcome != history.OK, g != f.Key.Last, g.ReleaseIdx != o.InvIdx, g.StopIdx != o.InvIdx, g.LostAt != ledger.Never,
		g.Refused() != nil, g.TwoTokens(), g.Extending > 0, g.Elsewhere(),
		s.unclear, s.others > 0 && ledger.Later(s.others, l.slack()) > o.OK,
		s.vague && ledger.Later(s.unknown, l.horizon()) > g.Inv,
		l.Header.Quorum > 1 && s.open > 0,
		expiry == ledger.Never, expiry <= o.OK, !l.quiet(g.Inv):
		return
	}
	s.begin(releaseWatch{
		holder: g.Holder, inv: g.Inv, start: g.Start, expiry: expiry, ended: ledger.Later(g.ServedUntil, l.slack()), ok: o.OK, okIdx: o.OKIdx, leaseIx: g.OKIdx,
		before: s.open, from: o.OK, fromIdx: o.OKIdx, fromBy: o.By(), by: g.By(),
	})
}

// expiry is the earliest at which the servers' TTL can have ended g.
func (l *Effectless) expiry(g *ledger.Grant) time.Duration {
	length := l.Header.TTL
	if promised := ledger.Later(g.Deadline-g.Start, l.Header.Drift); g.Deadline != ledger.Never && promised > length {
		length = promised
	}
	return ledger.Later(g.Start, length)
}

// refused counts a refused attempt, which shows that the key is taken.
func (l *Effectless) refused(f *ledger.Fact) {
	s, o := l.Keys.At(f.Key.No), f.Op
	w := s.watch
	switch {
	case w == nil:
	case history.Unanswered(f.Event.Err): // of whatever cause
		s.drop()
	case o.InvIdx < w.okIdx: // it waited: what it leaves behind ends with it, at the latest
		w.before--
		w.from, w.fromIdx, w.fromBy = max(w.from, o.OK), o.OKIdx, o.By()
		w.refused, w.tries = w.refused[:0], 0
		w.again = w.again || o.Holder == w.holder
	case l.isLate(w, o):
		w.late = noteLate(w.late, o)
	case o.Holder == w.holder, o.Mode != history.Exclusive, o.Several, w.before > 0,
		o.InvIdx < w.fromIdx, o.Process != w.fromBy.Process && o.Inv <= ledger.Later(w.from, l.Clocks.Apart(w.fromBy, o.By())),
		ledger.Later(o.OK, l.Clocks.Apart(w.by, o.By())) > w.expiry,
		!l.Independence.shows(f.Key, o.Inv, o.OK):
	default:
		if w.tries++; w.tries <= effectlessTries {
			w.refused = append(w.refused, o.OKIdx)
		}
	}
}

// granted ends the watch: the key was free. It proves a violation only when the key was asked
// for after the released lease's TTL.
func (l *Effectless) granted(f *ledger.Fact) {
	l.attempted(f)
	s, o := l.Keys.At(f.Key.No), f.Op
	asked := stamp{o.Inv, o.By()}
	if w := s.watch; w != nil && w.tries >= effectlessTries && w.before == 0 && o.Inv >= ledger.Later(w.expiry, l.Clocks.Apart(w.by, o.By())) &&
		!l.outlasted(w, asked) && l.quiet(w.inv) {
		s.watch = nil
		w.granted, w.next, w.nextIdx, w.asked, w.waiting = o.OK, o.Holder, o.OKIdx, asked, s.open
		l.prove(s, w)
	}
	s.drop()
	l.noteServed(s, f.Grant, f.Key.Last)
	l.Independence.observe(f.Grant)
}

// isLate says whether an attempt that was refused shows that the key was taken when the servers' TTL
// had surely ended the lease. One that waits has asked again by then.
func (l *Effectless) isLate(w *releaseWatch, o *ledger.Op) bool {
	ended := ledger.Later(w.ended, l.Clocks.Apart(w.by, o.By()))
	return !o.Several && (o.Inv > ended || o.Waits && o.OK > ledger.Later(ended, l.Retry()))
}

// noteLate adds a refusal to those of other processes.
func noteLate(late []stamp, o *ledger.Op) []stamp {
	known := func(a stamp) bool { return a.by.Process == o.Process }
	if len(late) == effectlessLate || slices.ContainsFunc(late, known) {
		return late
	}
	return append(late, stamp{o.OK, o.By()})
}

// outlasted says whether somebody was refused when the servers' TTL had surely ended the lease, and
// before the next holder asked: what kept the key taken was not the lease.
func (l *Effectless) outlasted(w *releaseWatch, asked stamp) bool {
	return slices.ContainsFunc(w.late, func(a stamp) bool { return l.precedes(a, asked) })
}

// precedes says whether a was surely before b.
func (l *Effectless) precedes(a, b stamp) bool {
	return b.at > ledger.Later(a.at, l.Clocks.Apart(a.by, b.by))
}

// noteServed notes until when servers may store other leases of the key than g, which is
// fresh; last is the grant before g.
func (l *Effectless) noteServed(s *releaseState, g, last *ledger.Grant) {
	if last != nil && (last.ReleaseOK == ledger.Never || s.unclear) {
		s.others = max(s.others, last.ServedUntil)
	}
	lingers := func(x *ledger.Grant) bool { return ledger.Later(x.ServedUntil, l.slack()) >= g.Inv }
	own := g.Holder.Grant
	s.unclear = own != nil && own.ReleaseOK == ledger.Never && lingers(own) ||
		s.unclear && last != nil && last.Holder == g.Holder && lingers(last) ||
		g.Mode == history.Shared && s.others > 0 && s.others >= g.Inv
}

// prove reports w, or keeps it until every attempt that may explain it is answered.
func (l *Effectless) prove(s *releaseState, w *releaseWatch) {
	if w.waiting > 0 {
		s.proved = w
		return
	}
	l.report(w)
}

// attempted notes that an acquire is over: a proof stands when none is left that may have taken
// the key.
func (l *Effectless) attempted(f *ledger.Fact) {
	s, o := l.Keys.At(f.Key.No), f.Op
	s.open--
	w := s.proved
	if w == nil || o.InvIdx > w.nextIdx {
		return
	}
	w.waiting--
	switch {
	case f.Kind == ledger.Refused && !history.Unanswered(f.Event.Err) && l.isLate(w, o) && l.precedes(stamp{o.OK, o.By()}, w.asked):
		s.proved = nil
	case f.Kind != ledger.Refused && o.Inv < ledger.Later(w.expiry, l.Clocks.Apart(w.by, o.By())):
		s.proved = nil
	case w.waiting == 0:
		s.proved = nil
		l.report(w)
	}
}

// moved handles an extension: whatever its outcome, it may have kept the key.
func (l *Effectless) moved(f *ledger.Fact) {
	s := l.Keys.At(f.Key.No)
	s.drop()
	if s.proved != nil && f.Op.Inv <= s.proved.granted {
		s.proved = nil
	}
	for _, w := range s.Reported {
		w.refuted = w.refuted || f.Op.Inv <= w.granted
	}
	if f.Grant != f.Key.Last {
		s.others = max(s.others, f.Grant.ServedUntil)
	}
}

// unknown handles an operation of unknown outcome: it may explain everything.
func (l *Effectless) unknown(f *ledger.Fact) {
	o := f.Op
	if o.Action != history.Acquire && o.Action != history.Extend && o.Action != history.Release {
		return
	}
	s := l.Keys.At(o.Holder.Key.No)
	if o.Action == history.Acquire {
		s.open--
	}
	s.drop()
	s.vague, s.unknown = true, max(s.unknown, o.OK)
	if s.proved != nil && o.InvIdx < s.proved.nextIdx {
		s.proved = nil
	}
}

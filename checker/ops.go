package checker

import (
	"math"
	"time"

	"locktorture/workload/history"
)

const never = time.Duration(math.MaxInt64)

// An op is one operation of a client: its invocation and, once known, its
// completion. Ops are recycled unless something keeps them.
type op struct {
	what      history.Op
	outcome   history.Kind // once it has one
	mode      history.Mode
	use       use // of a write: what its owner knew when it issued it
	contended bool
	kept      bool       // something refers to it beyond its completion
	executed  bool       // settled by a link: it was carried out
	inner     bool       // a release of a lease that its owner holds more than once
	again     bool       // of an acquire that began a lease: it may be a re-entry, with an older one's token
	settled   settlement // how an unknown outcome was settled
	has       history.Field
	host      host // whose clock stamped it
	process   int
	inv, ok   time.Duration // when it really began and ended
	invIdx    int
	okIdx     int
	holder    *holder
	grant     *grant // the lease that it acts under, as of its invocation
	fence     uint64
	seq       uint64
	base      uint64
	value     string
	until     time.Duration // promised, when has HasValidUntil
	floor     uint64        // of a write: highest seq completed before it was invoked
	doubts    *doubts       // of a write that is not settled; nil when there is nothing to tell
	line      *line
	next      *op
	prev      *op
}

// A use says by what right a write was issued.
type use uint8

const (
	useHeld     use = iota // under a lease, live or run out
	useNever               // its owner never acquired the key
	useRefused             // its owner's last acquire was refused
	useUnknown             // its owner's last acquire is of unknown outcome
	useReleased            // after its owner's own release
	useLost                // after its owner was told of the loss
	useDenied              // after its owner was refused an extension, or an inner release
)

// A mark is an accepted write that matters later.
type mark struct {
	seq uint64
	idx int
}

// doubts are what is known of a write until it is settled.
type doubts struct {
	above    tokenMark    // the first higher token accepted on its key
	below    tokenMark    // the last lower one
	rival    update       // the first update accepted that started from the same version
	passed   int          // writes accepted since
	late     *lateWrite   // it was issued after the deadline; nil when it was not
	no       *denial      // the answer by which its owner knew better; nil when there was none
	told     bool         // a loss or a refusal had ended its lease as well as a release
	audited  history.Kind // what the store's log said before its client did; 0 is nothing
	auditIdx int
}

// A tokenMark is an accepted write and its token.
type tokenMark struct {
	mark
	fence uint64
}

// doubt makes place for what is known of o.
func (o *op) doubt() *doubts {
	if o.doubts == nil {
		o.doubts = new(doubts)
	}
	return o.doubts
}

// newer is the first higher token accepted on o's key, if o was not settled
// then; its seq is 0 when there is none.
func (o *op) newer() tokenMark {
	if o.doubts == nil {
		return tokenMark{}
	}
	return o.doubts.above
}

// behind says whether o, at seq, landed behind a newer token.
func (o *op) behind(seq uint64) bool {
	n := o.newer()
	return n.seq != 0 && n.seq < seq
}

// A line is a list of open operations in invocation order.
type line struct{ head, tail *op }

func (l *line) push(o *op) {
	o.line, o.prev, o.next = l, l.tail, nil
	if l.tail != nil {
		l.tail.next = o
	} else {
		l.head = o
	}
	l.tail = o
}

func (o *op) leave() {
	l := o.line
	if l == nil {
		return
	}
	if o.prev != nil {
		o.prev.next = o.next
	} else {
		l.head = o.next
	}
	if o.next != nil {
		o.next.prev = o.prev
	} else {
		l.tail = o.prev
	}
	o.line, o.prev, o.next = nil, nil, nil
}

// A grant is a successful acquire, and the lease that it began. Instants that
// have not come are never.
//
// What every later grant of the key looks at comes first, in 64 bytes: what
// judging costs is reading memory. All of it is as large as the allocator aligns
// to 64 bytes.
type grant struct {
	holder    *holder
	ok        time.Duration // of the acquire
	d         time.Duration // deadline
	stop      time.Duration // release invoked, loss reported or extension refused
	rel       time.Duration // release invoked
	fence     uint64
	mode      history.Mode
	relUnsure bool  // its release is of unknown outcome
	leaving   bool  // released, and not answered yet
	extends   int32 // extensions under way
	acting    int32 // operations that act under it
	ties      int32 // of what else may look at it later

	trouble *troubles
	section mark          // last accepted write of the critical section
	relOK   time.Duration // release answered yes
	relIdx  int
	stopIdx int
	okIdx   int
	dIdx    int // the event that set d

	inv     time.Duration // of the acquire
	invIdx  int
	by      int           // the process that acquired it
	relBy   int           // the process that released it
	lostBy  int           // the process that was told of the loss
	served  time.Duration // until when the servers may keep it
	first   time.Duration // deadline that the acquire itself gave
	start   time.Duration // of the acquire or the last successful extension
	lost    time.Duration // loss reported
	lostIdx int
	depth   int   // re-entrant holds
	counted bool  // judged for S9
	renewed bool  // extended by automatic renewal
	longer  bool  // it was an extension that set d and start
	stands  bool  // no promise: ttl − drift stands in
	unshown bool  // the windows of the second opinion do not show all that became of it
	host    host  // whose clock stamped the acquire
	member  int32 // its place in its key's crowd, from 1; 0 is none
	watched int32 // its place in its key's watch, from 1; 0 is none
}

// troubles are what few grants have.
type troubles struct {
	intruders []*grant   // others' later grants while this one was not released, the first few
	parked    []*landing // writes that an extension under way may yet cover
	late      []*lateWrite
	again     uint64        // another token, which a re-entry was told; 0 is none
	most      time.Duration // of a lease with two tokens: the latest deadline that an extension replaced
	beside    time.Duration // until when extensions that named no lease, and went to another of its owner's, may have moved it
	relWord   uint64        // the token of the release, when that may be of another lease; 0 is none
	lostWord  uint64        // … and of the reported loss
	relOKIdx  int           // the release that was answered yes, when it was not the first; 0 is none
	vague     int           // extensions of unknown outcome
	entrant   int           // the latest other process that re-entered it, from 1; 0 is none
	denied    *denial       // its owner was told no
	next      time.Duration // when else it ended, after stop; 0 is never
	met       *meeting      // its own, until that is judged
	inner     innerRelease  // the latest
	inside    bool          // it may be a re-entry into a lease that the history told of only later
	perhaps   bool          // the word that ended it may have been of another lease of its owner's
	kept      time.Duration // until when the servers may have kept it before it was re-entered last
	unmoved   []*hit        // that stand when no extension of unknown outcome was sent
	hosts     []host        // that stamped what became of it, besides the one of its acquire
}

// A denial is the answer that tells an owner, asking, that its lease is gone.
type denial struct {
	t   time.Duration
	idx int
	by  int // the process that asked

	host  host
	fence uint64 // the token that it named; 0 is none

	next *denial // to another process
}

// A lateWrite was issued after its lease's deadline, or was reported as such (S3z).
type lateWrite struct {
	inv     time.Duration
	idx     int // of its invocation
	by      int // its process
	host    host
	d       time.Duration // the deadline that was known when it was issued …
	dIdx    int           // … and the event that had set it
	covered bool          // a renewal under way moved the deadline behind it

	later, until time.Duration // when its owner took the lease once more since, and the deadline that this gave
}

// maxOverdue is how many writes of one lease are judged by the deadline that was
// known when they were issued; any more, by the one known when they land.
const maxOverdue = 64

// forget takes from a copy of an op what belongs to the op itself.
func (o *op) forget() { o.grant, o.doubts, o.line, o.next, o.prev = nil, nil, nil, nil, nil }

// overdue notes that o was issued after its lease's deadline, and no extension was
// under way: what moves the deadline from here on covers o no more, unless it
// turns out to have begun before.
func (j *Judge) overdue(o *op) {
	g := o.grant
	if g == nil || o.use != useHeld && o.use != useReleased || g.extends > 0 || !j.test.zombie(o.inv, g.latest(), j.from(g, o.host)) || len(g.inTrouble().late) >= maxOverdue {
		return
	}
	w := &lateWrite{inv: o.inv, idx: o.invIdx, by: o.process, host: o.host, d: g.d, dIdx: g.dIdx}
	g.trouble.late = append(g.trouble.late, w)
	o.doubt().late = w
}

// narrowed books that o, overdue, says itself when it was issued: later than it seemed,
// and so perhaps when its owner had taken the lease once more.
func (j *Judge) narrowed(o *op, w *lateWrite) {
	w.inv = o.inv
	eps := j.from(o.grant, o.host)
	w.covered = w.covered || w.until > 0 && !j.test.after(w.later, w.inv, eps) && !j.test.zombie(w.inv, w.until, eps)
}

// latest is until when g may hold: its deadline, or a later one that an extension
// gave which named no lease.
func (g *grant) latest() time.Duration {
	if g.trouble == nil {
		return g.d
	}
	return max(g.d, g.trouble.beside)
}

func (o *op) overdue() *lateWrite {
	if o.doubts == nil {
		return nil
	}
	return o.doubts.late
}

// due is the deadline of o's lease, as far as it concerns o.
func (o *op) due() time.Duration {
	if w := o.overdue(); w != nil {
		return w.d
	}
	return o.grant.d
}

// intruders are the grants that crossed g.
func (g *grant) intruders() []*grant {
	if g.trouble == nil {
		return nil
	}
	return g.trouble.intruders
}

func (g *grant) inTrouble() *troubles {
	if g.trouble == nil {
		g.trouble = new(troubles)
	}
	return g.trouble
}

// denied is the answer that told g's owner that it had lost it, or nil.
func (g *grant) denied() *denial {
	if g.trouble == nil {
		return nil
	}
	return g.trouble.denied
}

// reportedLost says whether the library told its user of the loss.
func (g *grant) reportedLost() bool { return g.stop != never && g.lost != never }

// goesOn says whether no word is known to have ended g: one that may have been of
// another lease of its owner's leaves that open.
func (g *grant) goesOn() bool {
	return g.stop == never || g.trouble != nil && g.trouble.perhaps
}

// lostElsewhere says whether all that ended g is a loss that another process than this
// one, which took g once more, was told of, and that names no token.
func (g *grant) lostElsewhere(process int) bool {
	return g.enteredBy(process) && g.lost != never && g.lostBy != process && g.lossWord() == 0 && g.rel == never && g.denied() == nil
}

// end is where the definite hold ends, exclusive.
func (g *grant) end() time.Duration { return min(g.d, g.stop) }

func (g *grant) owner() string { return g.holder.owner }

// conflicts says whether two grants exclude each other.
func conflicts(a, b *grant) bool { return a.excludes(b.holder, b.mode) }

// excludes says whether g excludes a grant of mode m to h.
func (g *grant) excludes(h *holder, m history.Mode) bool {
	return g.holder != h && (g.mode == history.Exclusive || m == history.Exclusive)
}

// overlap is the length for which both definite holds lasted, and its start.
func overlap(a, b *grant) (from, length time.Duration) {
	from = max(a.ok, b.ok)
	return from, min(a.end(), b.end()) - from
}

// A holder is one owner's relation to one key.
type holder struct {
	key    *key
	owner  string
	no     int    // the owner's number
	grant  *grant // its latest
	prior  *grant // the one before
	detail *detail
	tried  use  // useRefused or useUnknown: the latest attempt after that grant
	over   bool // its latest grant has stopped
	beside bool // it was granted a lease while another one of its went on
}

// detail is what is kept of a holder where it is asked for.
type detail struct {
	wait  wait       // for its next grant
	peaks [2]step    // its process's highest tokens, by mode, within the clock uncertainty
	audit section    // its last one in the store's log
	began timedTouch // the first write, without a number, of its latest section that is no longer remembered with its key's

	unheld  []*unheldWrite  // reported while an acquire was under way
	late    []*lateWrite    // the same, of those that had a lease
	refused []*refusedWrite // by the store, the same

	meanwhile []heldWrite   // accepted while a release or an extension was under way …
	unkept    time.Duration // … when the last one was issued that is not kept any more; 0 is none
	borrowed  []*borrowing  // reported as written with another's token
}

func (h *holder) more() *detail {
	if h.detail == nil {
		h.detail = new(detail)
	}
	return h.detail
}

// A key is a guarded resource.
type key struct {
	name    string
	holders []*holder       // by the owner's number; nil where it has none
	many    map[int]*holder // those with higher numbers than holders has places for
	held    []*grant        // live, and the last few that ended
	watch   [2][]*grant     // by mode: not released, and not yet crossed by enough of others' grants
	last    *grant          // the latest
	victims []*victim       // grants that late releases may have removed
	crowd   *crowd          // live grants that held has no place for; nil when there never were any
	leases  line            // open acquires and extensions
	log     storeLog
	tok     tokenState
	sec     sectionState
	fence   fenceState
	books   books
	ghost   ghost // the last acquire of unknown outcome
	prog    progressState
	nodes   map[string]*nodeView
	unsure  time.Duration // an extension of unknown outcome was given up last
	touched time.Duration // an acquire or extension was answered last
	served  time.Duration // until when servers may keep any lease of it
	gone    *release      // the last release answered yes
	rel     releaseState  // L9
}

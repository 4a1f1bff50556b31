package ledger

import (
	"slices"
	"time"

	"locktorture/workload/history"
)

// An Op is one operation of a client: its invocation and, once known, its
// completion. Ops are recycled unless something keeps them.
type Op struct {
	Action     history.Op
	Outcome    history.Kind // once it has one
	Mode       history.Mode
	Use        Use // of a write: what its owner knew when it issued it
	Contended  bool
	Kept       bool       // something refers to it beyond its completion
	Executed   bool       // settled by a link: it was carried out
	Several    bool       // of an acquire: it asks for other keys too, and any of them may be why it is refused
	Waits      bool       // of an acquire: it waits inside the lock
	Late       bool       // by its own word it began before the event that invoked it
	Inner      bool       // a release of a lease that its owner holds more than once
	MayReenter bool       // of an acquire that began a lease: it may be a re-entry, with an older one's token
	Settled    settlement // how an unknown outcome was settled
	Has        history.Field
	Host       Host // whose clock stamped it
	Process    int
	Inv, OK    time.Duration // when it really began and ended
	InvIdx     int
	OKIdx      int
	Holder     *Holder
	Grant      *Grant // the lease that it acts under, as of its invocation
	Fence      uint64
	Seq        uint64
	Base       uint64
	Value      string
	validUntil time.Duration // promised, when has HasValidUntil
	floor      uint64        // of a write: highest seq completed before it was invoked
	Doubts     *doubts       // of a write or a release that is not settled; nil when there is nothing to tell
	queue      *queue
	Next       *Op
	Prev       *Op
}

// asking is the invocation of o.
func (o *Op) asking() asking { return asking{o.Inv, o.InvIdx, o.Process, o.Fence} }

// SaysBegan says whether o itself says when it began.
func (o *Op) SaysBegan() bool { return o.Has&history.HasBegan != 0 }

// Promises says whether o's answer says until when the lease may be relied on.
func (o *Op) Promises() bool { return o.Has&history.HasValidUntil != 0 }

// An Use says by what right a write was issued.
type Use uint8

const (
	UseHeld     Use = iota // under a lease, live or run out
	UseNever               // its owner never acquired the key
	UseRefused             // its owner's last acquire was refused
	UseUnknown             // its owner's last acquire is of unknown outcome
	UseReleased            // after its owner's own release
	UseLost                // after its owner was told of the loss
	UseDenied              // after its owner was refused an extension, or an inner release
)

// A Mark is an accepted write that matters later.
type Mark struct {
	Seq uint64
	Idx int
}

// doubts are what is known of a write, or a release, until it is settled.
type doubts struct {
	above    TokenMark    // the first higher token accepted on its key
	Below    TokenMark    // the last lower one
	Rival    Update       // the first update accepted that started from the same version
	passed   int          // writes accepted since
	Late     *LateWrite   // it was issued after the deadline; nil when it was not
	No       *refusal     // the answer by which its owner knew better; nil when there was none
	Words    []int        // what only together told its owner that a lease of several tokens was over
	Told     bool         // a loss or a refusal had ended its lease as well as a release
	audited  history.Kind // what the store's log said before its client did; 0 is nothing
	auditIdx int
	followed *following // of a release

	reentered time.Duration // another process of its owner's had surely taken its lease once more by then, as was told while it was under way; 0 is never
}

// A TokenMark is an accepted write and its token.
type TokenMark struct {
	Mark
	Fence uint64
}

// Doubt makes place for what is known of o.
func (o *Op) Doubt() *doubts {
	if o.Doubts == nil {
		o.Doubts = new(doubts)
	}
	return o.Doubts
}

// Newer is the first higher token accepted on o's key, if o was not settled
// then; its seq is 0 when there is none.
func (o *Op) Newer() TokenMark {
	if o.Doubts == nil {
		return TokenMark{}
	}
	return o.Doubts.above
}

// Behind says whether o, at seq, landed behind a newer token.
func (o *Op) Behind(seq uint64) bool {
	n := o.Newer()
	return n.Seq != 0 && n.Seq < seq
}

// A queue is a list of open operations in invocation order.
type queue struct{ Head, tail *Op }

func (l *queue) push(o *Op) {
	o.queue, o.Prev, o.Next = l, l.tail, nil
	if l.tail != nil {
		l.tail.Next = o
	} else {
		l.Head = o
	}
	l.tail = o
}

func (o *Op) leave() {
	l := o.queue
	if l == nil {
		return
	}
	if o.Prev != nil {
		o.Prev.Next = o.Next
	} else {
		l.Head = o.Next
	}
	if o.Next != nil {
		o.Next.Prev = o.Prev
	} else {
		l.tail = o.Prev
	}
	o.queue, o.Prev, o.Next = nil, nil, nil
}

// Forget takes from a copy of an op what belongs to the op itself.
func (o *Op) Forget() { o.Grant, o.Doubts, o.queue, o.Next, o.Prev = nil, nil, nil, nil, nil }

// overdue notes that o was issued after its lease's deadline, and no extension was
// under way: what moves the deadline from here on covers o no more, unless it
// turns out to have begun before. Of a write that is told late it is the deadline
// before, where the extension surely began behind the write.
func (l *Ledger) overdue(o *Op) {
	g := o.Grant
	if g == nil || o.Use == UseNever || o.Use == UseRefused || o.Use == UseUnknown {
		return
	}
	d, idx, latest := g.Deadline, g.DeadlineIdx, l.LatestFor(g, o.Inv, o.By())
	before, beforeIdx, since := l.deadlineFor(g, o.Inv, o.By())
	replaced := o.Late && before < d && latest == d
	if replaced {
		d, idx, latest = before, beforeIdx, before
	}
	d = max(d, l.Vaguest(g))
	if o.Inv-l.Past(g, o.By()) <= max(latest, g.replaced(), d) || len(g.Rarely().Late) >= MaxOverdue {
		return
	}
	w := &LateWrite{Inv: o.Inv, Idx: o.InvIdx, By: o.By(), Own: o.SaysBegan(), d: d, DIdx: idx}
	if replaced { // its client may say yet that it was issued only then
		w.Since(since, g.Deadline)
	}
	g.Rare.Late = append(g.Rare.Late, w)
	o.Doubt().Late = w
}

// narrowed books that o, overdue, says itself when it was issued: later than it seemed,
// and so perhaps when its owner had taken the lease once more.
func (l *Ledger) narrowed(o *Op, w *LateWrite) {
	w.Inv, w.Own = o.Inv, o.SaysBegan()
	eps := l.Past(o.Grant, o.By())
	again := slices.ContainsFunc(w.since, func(t leaseTime) bool { return t.from-eps <= w.Inv && w.Inv-eps <= t.until })
	w.Covered = w.Covered && w.Inv-eps <= w.to || again
}

// Since notes that w's owner took or extended the lease once more, from then on until a
// deadline: its client may say yet that w was issued only then.
func (w *LateWrite) Since(from, until time.Duration) {
	n := len(w.since)
	if n > 0 && (w.since[n-1].from <= from && from <= w.since[n-1].until || n == MaxOverdue) { // without a gap
		w.since[n-1].until = max(w.since[n-1].until, until)
		return
	}
	w.since = append(w.since, leaseTime{from, until})
}

// Cover notes that w was issued under a lease that lasted until t.
func (w *LateWrite) Cover(t time.Duration) { w.Covered, w.to = true, max(w.to, t) }

func (o *Op) Overdue() *LateWrite {
	if o.Doubts == nil {
		return nil
	}
	return o.Doubts.Late
}

// Due is the deadline of o's lease, as far as it concerns o.
func (o *Op) Due() time.Duration {
	if w := o.Overdue(); w != nil {
		return w.d
	}
	return o.Grant.Deadline
}

// An Update is an accepted read-modify-write.
type Update struct {
	Mark
	Base    uint64
	Holder  *Holder
	section int  // the grant that it was written under, by its event; 0 is none
	Told    bool // its client was told that it was accepted
}

// Update is o as an update of a version.
func (o *Op) Update(at Mark) Update {
	u := Update{Mark: at, Base: o.Base, Holder: o.Holder, Told: o.Outcome == history.OK && o.Settled == 0}
	if o.Grant != nil {
		u.section = o.Grant.OKIdx
	}
	return u
}

// Retries says whether one of two updates is the other once more, in the same
// section, since nobody was told what had become of it.
func (u Update) Retries(x Update) bool {
	return !(u.Told && x.Told) && u.Holder == x.Holder && u.section == x.section
}

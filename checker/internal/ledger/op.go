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
	Late       bool       // by its own stamps it began before the event that invoked it
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

// HasBegan says whether o itself says when it began.
func (o *Op) HasBegan() bool { return o.Has&history.HasBegan != 0 }

// Promises says whether o's answer says until when the lease may be relied on.
func (o *Op) Promises() bool { return o.Has&history.HasValidUntil != 0 }

// A Use says what the owner of a write knew of its lease when it issued the write.
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

// A Mark is the place of an accepted write: its number and its event.
type Mark struct {
	Seq uint64
	Idx int
}

// doubts are what is known of a write, or a release, whose outcome is not certain yet.
type doubts struct {
	above      TokenMark    // the first higher token accepted on its key
	Below      TokenMark    // the last lower one
	Rival      Update       // the first update accepted that started from the same version
	passed     int          // writes accepted since
	Late       *LateWrite   // it was issued after the deadline; nil when it was not
	No         *refusal     // the answer by which its owner knew better; nil when there was none
	Endings    []int        // the events that only together told its owner that a lease of several tokens was over
	EndedTwice bool         // a loss or a refusal had ended its lease as well as a release
	audited    history.Kind // what the store's log said before its client did; 0 is nothing
	auditIdx   int
	followed   *following // of a release
	left       *leftHold  // of an inner release: what it gave back

	reentered time.Duration // another process of its owner's had surely re-entered its lease by then, as was told while it was under way; 0 is never
}

// A TokenMark is an accepted write and its token.
type TokenMark struct {
	Mark
	Fence uint64
}

// Doubt returns the doubts of o, which it creates on demand.
func (o *Op) Doubt() *doubts {
	if o.Doubts == nil {
		o.Doubts = new(doubts)
	}
	return o.Doubts
}

// Newer is the first write with a higher token that was accepted on o's key while o's outcome
// was unknown; its seq is 0 when there is none.
func (o *Op) Newer() TokenMark {
	if o.Doubts == nil {
		return TokenMark{}
	}
	return o.Doubts.above
}

// Behind says whether o, with the number seq, landed behind a write with a newer token.
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

// Forget clears in a copy of an op the fields that belong to the original.
func (o *Op) Forget() { o.Grant, o.Doubts, o.queue, o.Next, o.Prev = nil, nil, nil, nil, nil }

// overdue notes that o, a write, was issued after its lease's deadline while no extension was
// under way: a later deadline covers it only if the extension turns out to have begun before.
// For a write of which the history tells late, the deadline is the one before, where the
// extension surely began after the write.
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
	w := &LateWrite{Inv: o.Inv, Idx: o.InvIdx, By: o.By(), Own: o.HasBegan(), d: d, DIdx: idx}
	if replaced { // its client may say yet that it was issued only then
		w.Since(since, g.Deadline)
	}
	g.Rare.Late = append(g.Rare.Late, w)
	o.Doubt().Late = w
}

// narrowed notes that o, an overdue write, has stamps of its own by which it was issued later
// than its invocation, perhaps when its owner had re-entered the lease.
func (l *Ledger) narrowed(o *Op, w *LateWrite) {
	w.Inv, w.Own = o.Inv, o.HasBegan()
	eps := l.Past(o.Grant, o.By())
	again := slices.ContainsFunc(w.since, func(t leaseTime) bool { return t.from-eps <= w.Inv && w.Inv-eps <= t.until })
	w.Covered = w.Covered && w.Inv-eps <= w.to || again
}

// Since notes that w's owner had the lease again, from then on until a deadline, by a re-entry
// or an extension: by its own stamps, w may turn out to have been issued then.
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

// Due is the deadline of o's lease by which o is judged.
func (o *Op) Due() time.Duration {
	if w := o.Overdue(); w != nil {
		return w.d
	}
	return o.Grant.Deadline
}

// An Update is an accepted write that was computed from a version that its owner had read.
type Update struct {
	Mark
	Base         uint64
	Holder       *Holder
	section      int  // the grant that it was written under, by its event; 0 is none
	Acknowledged bool // its client was told that it was accepted
}

// Update is o as an update; at is its place.
func (o *Op) Update(at Mark) Update {
	u := Update{Mark: at, Base: o.Base, Holder: o.Holder, Acknowledged: o.Outcome == history.OK && o.Settled == 0}
	if o.Grant != nil {
		u.section = o.Grant.OKIdx
	}
	return u
}

// Retries says whether one of two updates repeats the other in the same section, as a client
// does that was not told the first one's outcome.
func (u Update) Retries(x Update) bool {
	return !(u.Acknowledged && x.Acknowledged) && u.Holder == x.Holder && u.section == x.section
}

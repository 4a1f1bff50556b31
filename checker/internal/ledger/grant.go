package ledger

import (
	"time"

	"locktorture/workload/history"
)

// A Grant is a successful acquire and the lease that it began. Times that are not known are
// Never.
//
// The fields that every later grant of the key reads come first, in 64 bytes, since judging
// costs mostly reads of memory. The size of the whole is one that the allocator aligns to 64
// bytes.
type Grant struct {
	Holder         *Holder
	OK             time.Duration // of the acquire
	Deadline       time.Duration // until when the lease lasts, as its holder knows
	StoppedAt      time.Duration // release invoked, loss reported or extension refused
	ReleasedAt     time.Duration // release invoked
	Fence          uint64
	Mode           history.Mode
	ReleaseUnknown bool  // its release is of unknown outcome
	Releasing      bool  // released, and not answered yet
	MayGoOn        bool  // an inner release of it is of unknown outcome: it may go on for longer than its deadline
	Extending      int32 // extensions under way
	Acting         int32 // operations that act under it
	pins           int32 // by what else may look at it later

	Rare        *rare
	LastWrite   Mark          // last accepted write of the critical section
	ReleaseOK   time.Duration // release answered yes
	ReleaseIdx  int
	StopIdx     int
	OKIdx       int
	DeadlineIdx int // the event that set Deadline

	Inv           time.Duration // of the acquire
	InvIdx        int
	Process       int           // the process that acquired it
	ReleasedBy    int           // the process that released it
	LostBy        int           // the process that was told of the loss
	ServedUntil   time.Duration // until when the servers may keep it
	FirstDeadline time.Duration // deadline that the acquire itself gave
	previous      time.Duration // deadline that the latest extension replaced …
	previousIdx   int           // … and the event that had set it
	Start         time.Duration // of the acquire or the last successful extension
	LostAt        time.Duration // loss reported
	LostIdx       int
	depth         int32 // re-entrant holds
	Renewed       bool  // extended by automatic renewal
	Extended      bool  // it was an extension that set Deadline and Start
	Assumed       bool  // no promise: ttl − drift stands in
	Waited        bool  // there is none either of the acquire, which waited inside the lock: when the lease began, nobody says
	Ambiguous     bool  // the windows of the second opinion do not show all that became of it
	DueBy, StopBy int32 // the processes that stamped its deadline, and what stopped it
	Others        bool  // other processes than the one that acquired it stamped what became of it
	Host          Host  // whose clock stamped the acquire
	Place         int32 // its place in its key's overflow, from 1; 0 is none
	Watched       int32 // its place in its key's watch, from 1; 0 is none
}

// A rare is what only few grants need.
type rare struct {
	intruders       []*Grant // others' later grants while this one was not released, the first few
	Late            []*LateWrite
	secondToken     uint64        // another token, which a re-entry was told; 0 is none …
	renamedAt       int           // … and by which event
	Most            time.Duration // of a lease with two tokens: the latest deadline that an extension replaced
	Beside          time.Duration // until when extensions that named no lease, and went to another of its owner's, may have moved it …
	besideFrom      time.Duration // … and when the first of them was asked for
	releaseToken    uint64        // the token of the release, when that may be of another lease; 0 is none
	lossToken       uint64        // … and of the reported loss
	losses          []givenBack   // losses of a lease with two tokens that were reported, and named one
	ReleaseOKIdx    int           // the release that was answered yes, when it was not the first; 0 is none …
	releaseAgain    asking        // … and when it was invoked
	GivenBack       []givenBack   // releases that were answered yes, other than the first
	VagueExtensions int           // extensions of unknown outcome
	FirstVague      int           // the first of those, by its invocation; 0 is none
	VagueBy         int           // of those, the invocation of one under way when the history told of the lease; 0 is none
	GivenUp         time.Duration // when its release was given up as of unknown outcome; 0 is never
	Begun           bool          // that release says itself when it began: its owner knew of it
	MetSince        bool          // another was granted its key before its deadline, behind a release of unknown outcome
	GoneOn          time.Duration // until when its owner held it beyond its release, where that began later than told; 0 is none
	again           reentry       // the latest by another process …
	latest          reentry       // … and by any …
	before          reentry       // … and the one before that
	entrants        []entrant     // the latest other processes that re-entered it
	nested          bool          // it is a re-entry, with another token, into another lease of its owner's, surely …
	mayNest         bool          // … or perhaps, or another lease may be a re-entry into it
	side            bool          // one of the entrants had asked before this lease was surely granted: it may have a lease of its own
	refused         *refusal      // the first refusals by which its owner's processes learnt that it was gone
	Unheard         bool          // more such refusals than are remembered
	next            time.Duration // the next ending after the first, should that turn out to be later; 0 is none
	Inner           innerRelease  // the latest
	perhapsUntil    time.Duration // until when it may go on, by the deadline of a hold that was given back, or may have been
	holds           []promise     // to its owner's several holds, the newest last; none where there was never more than one
	leaving         promise       // the invocation of the latest inner release that moved the deadline, unless something moved it since
	ExtendedBefore  extension     // the latest before it was re-entered last, or the one asked for last when another was answered behind it
	MayBeInner      bool          // it may be a re-entry into a lease that the history told of only later
	perhapsOver     bool          // its ending may be of another lease of its owner's
	dueBefore       dueBy         // its deadline before another process re-entered it last
	ServedBefore    time.Duration // until when the servers may have kept it before it was re-entered last
	secondIdx       int           // its owner's grant, by its event, before or behind which extensions of this lease were asked for; 0 is none
	servedThen      time.Duration // until when the servers may have kept it by those from before
	hosts           []Host        // that stamped what became of it, besides the one of its acquire
}

// An extension moved a deadline.
type extension struct {
	Inv time.Duration
	Idx int // 0 is none
}

// A givenBack is a release that was answered yes.
type givenBack struct {
	T     time.Duration // when it was answered
	Idx   int
	By    int
	Fence uint64 // the token that it named; 0 is none
}

// A dueBy is a deadline, and the process that stamped it.
type dueBy struct {
	until   time.Duration
	process int32
}

// An asking is an operation's invocation.
type asking struct {
	inv   time.Duration
	idx   int
	by    int
	fence uint64 // that it named; 0 is none
}

// An entrant is a process that re-entered a lease, and the event by which it did so first.
type entrant struct{ process, idx int }

// A reentry is an acquire that re-entered a lease.
type reentry struct {
	inv, ok     time.Duration
	invIdx, idx int
	by          int
	host        Host
	fence       uint64        // the token that it gave; 0 is none
	until       time.Duration // the deadline that it gave
	replaced    dueBy         // … and the one that it moved …
	replacedIdx int           // … which this event had set; 0 when it moved none
}

// A refusal is the answer to an operation of the owner's by which it learnt that its lease was
// gone.
type refusal struct {
	T   time.Duration
	Idx int
	By  int // the process that asked

	host  Host
	Fence uint64 // the token that it named; 0 is none

	Next *refusal // to another process
}

// A LateWrite was issued after its lease's deadline, or was reported as such (S3z).
type LateWrite struct {
	Inv     time.Duration
	Idx     int // of its invocation
	By      Stamper
	Own     bool          // it says itself when it was issued, which may be later than its invocation was told
	d       time.Duration // the deadline that was known when it was issued …
	DIdx    int           // … and the event that had set it
	Covered bool          // a renewal under way moved the deadline behind it …
	to      time.Duration // … until then

	since []leaseTime // when its owner had the lease once more since, by what was told by then
}

// A leaseTime is a time for which an answer gave a lease: from the answer until the deadline.
type leaseTime struct{ from, until time.Duration }

// MaxOverdue is how many writes under one lease are judged by the deadline that was known when
// they were issued; any more are judged by the deadline that is known when they land.
const MaxOverdue = 64

// Latest is until when g may hold: its deadline, or a later one that an extension gave which
// named no lease, and so may have been of g, or one that its owner was told before it gave back one of
// several holds.
func (g *Grant) Latest() time.Duration {
	if g.Rare == nil {
		return g.Deadline
	}
	return max(g.Deadline, g.Rare.Beside, g.Rare.perhapsUntil)
}

// replaced is, for a lease with two tokens, the latest deadline that extensions replaced: a
// write with the other token may have been issued by that deadline. For any other lease it is
// 0.
func (g *Grant) replaced() time.Duration {
	if !g.TwoTokens() {
		return 0
	}
	return g.Rare.Most
}

// Intruders are the grants that crossed g.
func (g *Grant) Intruders() []*Grant {
	if g.Rare == nil {
		return nil
	}
	return g.Rare.intruders
}

func (g *Grant) Rarely() *rare {
	if g.Rare == nil {
		g.Rare = new(rare)
	}
	return g.Rare
}

// Refused is the refusal by which g's owner learnt that g was gone, or nil.
func (g *Grant) Refused() *refusal {
	if g.Rare == nil {
		return nil
	}
	return g.Rare.refused
}

// LossOf is the index of the first reported loss of the token fence of g for which is returns
// true; 0 when there is none.
func (g *Grant) LossOf(fence uint64, is func(by, idx int, t time.Duration) bool) (idx int) {
	for _, x := range g.Rare.losses {
		if x.Fence == fence && is(x.By, x.Idx, x.T) {
			return x.Idx
		}
	}
	return 0
}

// ReportedLost says whether the library reported g's loss.
func (g *Grant) ReportedLost() bool { return g.StoppedAt != Never && g.LostAt != Never }

// GoesOn says whether no ending of g is known. An ending that may be another lease's of the
// owner does not count.
func (g *Grant) GoesOn() bool {
	return g.StoppedAt == Never || g.Rare != nil && g.Rare.perhapsOver
}

// lostElsewhere says whether g's only ending is a loss that names no token and was reported to
// another process than this one, which re-entered g and may have a lease of its own.
func (g *Grant) lostElsewhere(process int) bool {
	return g.enteredBy(process) && (g.TwoTokens() || g.Rare.side) && g.LostAt != Never && g.LostBy != process && g.LossToken() == 0 && g.ReleasedAt == Never && g.Refused() == nil
}

// End is where the definite hold ends, exclusive.
func (g *Grant) End() time.Duration { return min(g.Deadline, g.StoppedAt) }

func (g *Grant) Owner() string { return g.Holder.Owner }

// Conflicts says whether two grants exclude each other.
func Conflicts(a, b *Grant) bool { return a.Excludes(b.Holder, b.Mode) }

// Excludes says whether g excludes a grant of mode m to h.
func (g *Grant) Excludes(h *Holder, m history.Mode) bool {
	return g.Holder != h && (g.Mode == history.Exclusive || m == history.Exclusive)
}

// Overlap is for how long the definite holds of a and b overlap, and from when on.
func Overlap(a, b *Grant) (from, length time.Duration) {
	from = max(a.OK, b.OK)
	return from, min(a.End(), b.End()) - from
}

// ReleaseToken is the token that the release of g named, where the release may be of another
// lease; else 0.
func (g *Grant) ReleaseToken() uint64 {
	if g.Rare == nil {
		return 0
	}
	return g.Rare.releaseToken
}

// LossToken is the token that the reported loss of g named, where the loss may be of another
// lease; else 0.
func (g *Grant) LossToken() uint64 {
	if g.Rare == nil {
		return 0
	}
	return g.Rare.lossToken
}

package watch

import "time"

// A Moment is a life-cycle event of the lock under test.
type Moment string

// The moments of a lease.
const (
	AcquireSent    Moment = "acquire-sent"
	AcquireReplied Moment = "acquire-replied"  // granted
	InSection      Moment = "in-section"       // the first write under the lease is answered, the next to come
	RenewalDue     Moment = "renewal-due"      // a third of the TTL after the grant or its last renewal, or when the next one is seen just before that
	NextRenewalDue Moment = "next-renewal-due" // RenewalDue, of a lease that has been extended at least once: one that is held briefly never is
	RenewalSent    Moment = "renewal-sent"     // by hand; automatic renewals show when they have completed
	ReleaseSent    Moment = "release-sent"
	ReleaseReplied Moment = "release-replied" // a release is answered, and the client holds the key no more
	Expiry         Moment = "expiry"          // the end of a lease's validity
	LateRenewal    Moment = "late-renewal"    // RenewalSent, with less than a third of the TTL left
	LateRelease    Moment = "late-release"    // ReleaseSent, with less than a third of the TTL left
)

// The moments between two steps of an operation, which show on the links alone.
//
// AcquireMidway is when a client that asks for a key which nobody is known to hold has a node's answer and sends it another
// request about a key: a lock that takes a key in two steps stands between them. RenewalMidway and ReleaseMidway
// are the same of an extension by hand and of a release. The client waits there until the fault is in force. What is no
// fault of links strikes a little earlier, at the answer: of an operation in one step, at its end.
const (
	AcquireMidway Moment = "acquire-midway"
	RenewalMidway Moment = "renewal-midway"
	ReleaseMidway Moment = "release-midway"
)

// Moments lists every moment of a lease that the history shows.
func Moments() []Moment {
	return []Moment{AcquireSent, AcquireReplied, InSection, RenewalDue, NextRenewalDue, RenewalSent, ReleaseSent, ReleaseReplied, Expiry, LateRenewal, LateRelease}
}

// Foreseen reports whether m is computed from a lease's validity rather than
// seen in the history.
func (m Moment) Foreseen() bool { return m == RenewalDue || m == NextRenewalDue || m == Expiry }

// GivesBack reports whether m is a moment at which its client holds the lease no more.
func (m Moment) GivesBack() bool {
	return m == ReleaseSent || m == ReleaseMidway || m == ReleaseReplied
}

// Late returns the moment that a late one is one of, and true; any other moment it
// returns as it is.
func (m Moment) Late() (of Moment, late bool) {
	switch m {
	case LateRenewal:
		return RenewalSent, true
	case LateRelease:
		return ReleaseSent, true
	}
	return m, false
}

// An Occasion is one moment of one lease, as it happened.
type Occasion struct {
	Moment  Moment
	Time    time.Duration // history time
	Key     string
	Owner   string
	Process int

	Granted time.Duration // when the lease was granted that it is a moment of; 0 where its client had none
	Renewed time.Duration // when that lease was granted or last extended
	Free    bool          // of an acquire: the key was given back last, as far as is known, and nobody else asks for it
	Shared  bool          // it is that of a reader, beside another one
	Nested  bool          // it is an acquire of a key that its client holds already, or a release that leaves the key held
}

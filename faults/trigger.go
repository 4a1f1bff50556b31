package faults

import "time"

// A Trigger says when a step begins: at a time, or phase-locked to the first
// life-cycle event of the lock after that time.
type Trigger struct {
	After time.Duration // since the nemesis began
	On    Moment        // empty: at After itself
	By    string        // only moments of this client: its name, or a bound one; empty: anybody's

	// Then is the pause between the moment and the injection. It may be
	// negative for RenewalDue and Expiry, which are known beforehand.
	Then time.Duration

	// Within bounds the wait for the moment; 0 is the rest of the run.
	Within time.Duration
}

// A Moment is a life-cycle event of the lock under test.
type Moment string

// The moments that a step can be locked to, beside those of Command and Reply.
const (
	AcquireSent    Moment = "acquire-sent"
	AcquireReplied Moment = "acquire-replied" // granted
	InSection      Moment = "in-section"      // the first write under the lease is answered, the next to come
	RenewalDue     Moment = "renewal-due"     // a third of the TTL after the grant or its last renewal
	RenewalSent    Moment = "renewal-sent"    // by hand; automatic renewals show when they have completed
	ReleaseSent    Moment = "release-sent"
	Expiry         Moment = "expiry" // the end of a lease's validity
	Bound          Moment = "bound"  // another step has bound the name in By and is in force
)

// Moments lists every moment.
func Moments() []Moment {
	return []Moment{AcquireSent, AcquireReplied, InSection, RenewalDue, RenewalSent, ReleaseSent, Expiry, Bound}
}

// An Occasion is one moment of one lease, as it happened.
type Occasion struct {
	Moment  Moment
	Time    time.Duration // history time
	Key     string
	Owner   string // of a tapped command: the client's name
	Process int
	Node    string // of a tapped command

	free chan struct{} // lets the client of a tapped command go on
}

// scheduled reports whether m is computed from a lease's validity rather than
// seen in the history.
func (m Moment) scheduled() bool { return m == RenewalDue || m == Expiry }

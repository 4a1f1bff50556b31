package faults

import "time"

// A Trigger says when a step begins: at a time, or phase-locked to the first
// life-cycle event of the lock after that time.
type Trigger struct {
	After time.Duration // since the nemesis began
	On    Moment        // empty: at After itself
	Then  time.Duration // pause between the moment and the injection
}

// A Moment is a life-cycle event of the lock under test.
type Moment string

// The moments that a step can be locked to.
const (
	AcquireSent    Moment = "acquire-sent"
	AcquireReplied Moment = "acquire-replied"
	RenewalDue     Moment = "renewal-due"
	ReleaseSent    Moment = "release-sent"
)

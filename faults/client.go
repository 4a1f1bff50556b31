package faults

import (
	"context"
	"sync/atomic"
	"time"
)

// A Client is one client of the lock, as faults act on it.
type Client interface {
	Name() string

	// Pause freezes the client: its worker, and all that its lock does over
	// the network, renewals included. Resume lets it go on where it was.
	Pause(ctx context.Context) (receipt string, err error)
	Resume(ctx context.Context) (receipt string, err error)

	// Crash ends the client without a word to anybody. Restart brings it back
	// as a new owner that knows nothing.
	Crash(ctx context.Context) (receipt string, err error)
	Restart(ctx context.Context) (receipt string, err error)
}

// A CancellingClient is a Client whose operations can be cancelled from
// outside.
type CancellingClient interface {
	// Cancel ends the context of every operation that the client has under way,
	// and returns how many there were.
	Cancel() int
}

// A PatientClient is a Client that can be held back at what it is about to send.
type PatientClient interface {
	// HoldBack has the client call wait before it sends the next operation that it
	// has begun. It must not block.
	HoldBack(wait func())
}

// A ClockedClient is a Client with a wall clock of its own.
type ClockedClient interface {
	// WallClock returns the clock that the client's lock reads, or why there is
	// none.
	WallClock() (*WallClock, error)
}

// A WallClock is the time of day as one client reads it, from its first incarnation to its
// last. The zero WallClock is this machine's time. Its methods are safe for concurrent use.
type WallClock struct {
	ahead atomic.Int64              // of this machine's clock
	stuck atomic.Pointer[time.Time] // where it stands still; nil while it goes
	reads atomic.Int64
}

// Now returns the time of day. It has no monotonic part: differences between
// two readings follow every move in between, as those of a real wall clock do.
func (c *WallClock) Now() time.Time {
	c.reads.Add(1)
	now := time.Now()
	if at := c.stuck.Load(); at != nil {
		now = *at
	}
	return now.Round(0).Add(time.Duration(c.ahead.Load()))
}

// Move moves the clock by d, ahead when positive. Moves add up.
func (c *WallClock) Move(d time.Duration) { c.ahead.Add(int64(d)) }

// Ahead returns by how much the clock is ahead of this machine's.
func (c *WallClock) Ahead() time.Duration { return time.Duration(c.ahead.Load()) }

// Stop stops the clock at a time of day until Start, unless it is stopped already, and reports
// whether it did.
func (c *WallClock) Stop(at time.Time) bool { return c.stuck.CompareAndSwap(nil, &at) }

// Start lets the clock go on, with this machine's.
func (c *WallClock) Start() { c.stuck.Store(nil) }

// Reads returns how often the clock was read.
func (c *WallClock) Reads() int64 { return c.reads.Load() }

// Package workload drives contending lock clients through critical sections
// over a guarded store, and records what they saw.
package workload

import (
	"context"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload/store"
)

// A Config shapes the load. It is plain and printable: a run directory holds
// the one that was used.
type Config struct {
	Keys     int           // resources k0, k1, …
	KeySkew  float64       // 0 draws keys uniformly; s > 1 by Zipf's law with exponent s
	TTL      time.Duration // lease length asked for
	Hold     Dist          // work inside the critical section, between its first and last write
	Think    Dist          // closed loop: pause between two cycles of one client
	Writes   int           // writes per critical section, at least 1
	Rate     float64       // open loop: arrivals per second over all clients, Poisson; 0 is a closed loop
	Wait     time.Duration // how long an acquire may wait; 0 is a single try
	LongHold float64       // share of sections that hold beyond the TTL, renewing when the lease can
	Extend   float64       // share of sections that extend once, by hand
	Mode     Mode          // which ability of the lock is exercised
	Renew    bool          // turn automatic renewal on where the lease can
	Readers  float64       // ModeRW: share of acquisitions in shared mode
	Duration time.Duration // of the main phase; workload.Run stops starting cycles then
	Final    time.Duration // of the healthy final phase, after every fault is healed
	Seed     uint64
}

// A Dist is a distribution of durations: what a scenario file writes as
// "20ms", "uniform 10ms..30ms" or "exp 20ms".
type Dist struct {
	Shape    string // "constant", "uniform", "exponential"
	Min, Max time.Duration
	Mean     time.Duration
}

// A Mode is the way in which the workload uses the lock.
type Mode string

// The modes.
const (
	ModeExclusive Mode = "exclusive"
	ModeRW        Mode = "rw"
	ModeReentrant Mode = "reentrant"
	ModeFair      Mode = "fair"
	ModeMulti     Mode = "multi"
)

// A Client is one contender. Every incarnation has connections of its own; a
// crash ends one incarnation, and the next is a new owner.
type Client struct {
	Name string // c00, c01, …

	// Connect builds the next incarnation.
	Connect func(ctx context.Context) (*Conn, error)

	// Pause blocks while the client is frozen. The worker passes it before
	// every step, and last between its check that the lease still holds and
	// the write: where a real process can be stopped unawares.
	Pause func(ctx context.Context) error
}

// A Conn is one incarnation of a client.
type Conn struct {
	Locker lockimpl.Locker
	Store  *store.Client
	Close  func() error // both of the above, and what lies under them
}

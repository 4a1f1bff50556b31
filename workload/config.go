// Package workload drives contending lock clients through critical sections
// over a guarded store, and records what they saw.
//
// A run has phases, each a call that blocks: Run loads the lock in the generated
// pattern, RunFinal walks every client over every key once all faults are healed. RecordAudit and Leftovers add what the store and the
// nodes say afterwards. Clients, with their connections, live from phase to
// phase.
package workload

import (
	"errors"
	"fmt"
	"time"
)

// A Config shapes the load. Fields whose comment names a default may be left zero.
type Config struct {
	Keys     int           // resources k0, k1, …
	Prefix   string        // of their names
	KeySkew  float64       // 0 draws keys uniformly; above, Zipf's exponent, such as YCSB's 0.99; not 1
	TTL      time.Duration // lease length asked for
	Hold     Dist          // work inside the critical section, between its first and last write
	Think    Dist          // closed loop: pause between two cycles of one client
	Writes   int           // writes per critical section, at least 1
	Rate     float64       // open loop: arrivals per second over all clients; 0 is a closed loop
	Arrivals Arrivals      // open loop: how arrivals are spaced; Poisson by default
	Backlog  int           // open loop: arrivals that may wait for a free client before new ones are dropped; 4 per client by default
	Wait     time.Duration // how long an acquire may wait inside the lock, where the lock can; 0 is a single try
	Patience time.Duration // how long a client keeps asking for one key; 4·TTL by default
	Backoff  Backoff       // between two attempts at one key
	Timeout  time.Duration // after which an operation counts as unknown, waiting apart; TTL/2, at most 1 s, by default
	LongHold float64       // share of sections that hold beyond the TTL, renewing when the lease can
	Extend   float64       // share of sections that extend once, by hand
	Mode     Mode          // which ability of the lock is exercised; ModeExclusive by default
	Renew    bool          // turn automatic renewal on where the lease can
	Readers  float64       // ModeRW: share of acquisitions in shared mode
	Duration time.Duration // of the main phase: no cycle starts after it
	Final    time.Duration // of the healthy final phase, after every fault is healed
	Seed     uint64
	Part     Part // of all clients, where this process drives only some
}

// A Backoff is exponential with full jitter: the n-th pause is uniform between
// 0 and min(Max, Min·2ⁿ).
type Backoff struct {
	Min time.Duration // 2 ms by default
	Max time.Duration // 100 ms by default
}

// A Mode is the way in which the workload uses the lock.
type Mode string

// The modes.
const (
	ModeExclusive Mode = "exclusive"
	ModeRW        Mode = "rw"        // exclusive and shared leases
	ModeReentrant Mode = "reentrant" // every section takes its key twice
	ModeFair      Mode = "fair"      // waits in line
	ModeMulti     Mode = "multi"     // every section takes two keys at once
	ModeMixed     Mode = "mixed"     // all of these by turns, as far as the lock can, with short and long holds on hot and cold keys
)

// Arrivals is how the arrivals of an open loop are spaced.
type Arrivals string

// The spacings.
const (
	ArrivalsPoisson  Arrivals = "poisson"
	ArrivalsConstant Arrivals = "constant"
)

// WithDefaults returns c with every field that may be left zero filled in.
func (c Config) WithDefaults() Config {
	c.Arrivals = or(c.Arrivals, ArrivalsPoisson)
	c.Mode = or(c.Mode, ModeExclusive)
	c.Patience = or(c.Patience, 4*c.TTL)
	c.Timeout = or(c.Timeout, min(c.TTL/2, time.Second))
	c.Backoff.Min = or(c.Backoff.Min, 2*time.Millisecond)
	c.Backoff.Max = or(c.Backoff.Max, max(c.Backoff.Min, 100*time.Millisecond))
	return c
}

func or[T comparable](value, ifZero T) T {
	var zero T
	if value == zero {
		return ifZero
	}
	return value
}

// Validate reports every field that is out of its range.
func (c Config) Validate() error {
	c = c.WithDefaults()
	var problems []error
	demand := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	demand(c.Keys >= 1, "keys is %d: want at least 1", c.Keys)
	demand(c.Keys >= 2 || c.Mode != ModeMulti, "keys is %d: mode multi needs at least 2", c.Keys)
	demand(c.KeySkew >= 0 && c.KeySkew != 1, "key skew is %v: want 0 (uniform) or Zipf's exponent, below 1 or above, not 1 itself", c.KeySkew)
	demand(c.TTL > 0, "ttl is %v: want more than 0", c.TTL)
	demand(c.Writes >= 1, "writes is %d: want at least 1", c.Writes)
	demand(c.Rate >= 0, "rate is %v: want 0 (closed loop) or more", c.Rate)
	demand(c.Arrivals == ArrivalsPoisson || c.Arrivals == ArrivalsConstant, "arrivals is %q: want %s or %s", c.Arrivals, ArrivalsPoisson, ArrivalsConstant)
	demand(c.Backlog >= 0, "backlog is %d: want 0 or more", c.Backlog)
	demand(c.Backoff.Min > 0 && c.Backoff.Max >= c.Backoff.Min, "backoff is %v..%v: want 0 < min ≤ max", c.Backoff.Min, c.Backoff.Max)
	demand(c.Mode.known(), "mode is %q: want exclusive, rw, reentrant, fair, multi or mixed", c.Mode)
	for _, d := range []struct {
		name string
		is   time.Duration
	}{{"wait", c.Wait}, {"patience", c.Patience}, {"timeout", c.Timeout}, {"duration", c.Duration}, {"final", c.Final}} {
		demand(d.is >= 0, "%s is %v: want 0 or more", d.name, d.is)
	}
	for _, s := range []struct {
		name string
		is   float64
	}{{"long hold", c.LongHold}, {"extend", c.Extend}, {"readers", c.Readers}} {
		demand(s.is >= 0 && s.is <= 1, "%s is %v: want a share between 0 and 1", s.name, s.is)
	}
	demand(c.Readers == 0 || c.Mode == ModeRW, "readers is %v: only mode rw has readers", c.Readers)
	if err := c.Hold.validate(); err != nil {
		problems = append(problems, fmt.Errorf("hold: %w", err))
	}
	if err := c.Think.validate(); err != nil {
		problems = append(problems, fmt.Errorf("think: %w", err))
	}
	return errors.Join(problems...)
}

func (m Mode) known() bool {
	switch m {
	case ModeExclusive, ModeRW, ModeReentrant, ModeFair, ModeMulti, ModeMixed:
		return true
	}
	return false
}

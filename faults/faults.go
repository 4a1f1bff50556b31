// Package faults hurts the testbed on purpose: a nemesis follows a schedule,
// injecting each fault at its moment and healing it again, and keeps the
// receipts that prove that it bit.
package faults

import (
	"context"
	"math/rand/v2"
	"time"

	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// StoreNode is the name of the guarded store's node among a Target's links.
const StoreNode = "store"

// A Target is everything that a fault may touch.
type Target struct {
	Testbed testbed.Testbed
	Clients []Client
	Link    func(client, node string) link.Link // node is a testbed node's name, or StoreNode
	Watch   *Watch                              // who holds what right now, read off the history
	Quorum  int
	TTL     time.Duration
}

// A Client is one client of the lock as faults see it.
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

// An Injection is a fault in force.
type Injection struct {
	Target  any    // whom it hit: nodes, clients, direction; becomes the event's target
	Receipt string // what proves that it is in force; empty when only the heal can tell
	Instant bool   // it is over at once (kill, jump, flush) and has no Heal

	// Heal undoes it, verifies that it is undone, and says what proves that it
	// bit. It succeeds on an injection already healed. An empty receipt where
	// Receipt was empty as well means that nothing proves that it bit.
	Heal func(ctx context.Context) (receipt string, err error)
}

// A Fault is one way to hurt the target.
type Fault interface {
	// Name identifies the fault in histories and on the command line.
	Name() string

	// Supports says why t's testbed cannot suffer this fault, and which can, or
	// nil. It is asked before the run.
	Supports(t *Target) error

	// Inject starts the fault. All choices come from rng, so that a seed
	// reproduces them.
	Inject(ctx context.Context, t *Target, rng *rand.Rand) (Injection, error)
}

// A Step is one line of a schedule: at the moment When, inject Fault, and heal
// it For later.
type Step struct {
	When  Trigger
	For   time.Duration
	Fault Fault
}

// A Schedule is the nemesis's plan. Steps may overlap.
type Schedule []Step

// Package faults injects faults into a testbed: a nemesis follows a schedule, injects each
// fault at its moment, heals it, and keeps the receipts that prove that it took effect.
package faults

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// StoreNode is the name of the guarded store's node among a Target's links.
const StoreNode = "store"

// ErrMissed is returned by Inject when there is no victim: no holder, a victim that has moved
// on, a node that another step has taken down. Nothing was affected; the nemesis tries again at
// the next moment.
var ErrMissed = errors.New("nobody to hit")

// A Hit says whom a fault affects; it becomes the event's target.
type Hit struct {
	Clients   []string      `json:"clients,omitempty"`
	Nodes     []string      `json:"nodes,omitempty"`
	Key       string        `json:"key,omitempty"`       // the lease that it was aimed at
	Direction string        `json:"direction,omitempty"` // request, response; both when empty
	Instant   bool          `json:"-"`
	Since     time.Duration `json:"-"` // history time at which it really began, when before Begin
}

// An Injection is a fault in force.
//
// A receipt counts what this very fault changed: bytes that it touched,
// operations that it interrupted or refused, differences of counters. The
// nemesis adds its own condition: without an operation of a client under the
// fault a receipt proves nothing, and is kept as a note.
type Injection struct {
	Target  any    // whom it hit, a Hit as a rule; becomes the event's target
	Receipt string // what proves that it took effect; empty when only the heal can tell
	Note    string // what was done, where that proves no effect yet
	Instant bool   // it is over at once (jump, flush); Heal says only what came of it

	// Heal undoes it, verifies that it is undone, and says what proves that it
	// took effect. It succeeds on an injection already healed. An empty receipt where
	// Receipt was empty as well means that nothing proves that it took effect. Nil
	// stands for everything that was given to Scope.OnHeal.
	Heal func(ctx context.Context) (receipt string, err error)

	// TookEffect, when set, reports whether the fault has hurt anything yet; where
	// it has not, there is no receipt. The nemesis prolongs a step that has not,
	// or has met no operation of a client, by two TTLs or its own length.
	TookEffect func() bool
}

// A Fault is one kind of failure that can be injected.
type Fault interface {
	// Name identifies the fault in histories and on the command line.
	Name() string

	// Supports says why t's testbed cannot suffer this fault, and which can, or
	// nil. It is asked before the run.
	Supports(t *Target) error

	// Inject starts the fault and returns soon. It picks its victims from s,
	// calls s.Begin before it touches them, and hands every undo to s.OnHeal
	// as it goes, so that an injection which fails or panics half-way is
	// healed. All choices come from rng, so that a seed reproduces them.
	Inject(ctx context.Context, s *Scope, rng *rand.Rand) (Injection, error)
}

// What a Fault can say of itself beside.
type (
	// A Settable fault names the parameters that it takes, see Params. One that
	// does not say takes all.
	Settable interface{ Settings() []string }

	// A LinkFault hurts links, those to the guarded store among them.
	LinkFault interface{ ImpairsLinks() }

	// A Claimer keeps other faults from its victims: Claims is their role, or
	// their names.
	Claimer interface{ Claims() string }

	// A Stretchable fault makes choices that depend on the length of its step.
	Stretchable interface {
		Lasting(length, ttl time.Duration) Fault
	}
)

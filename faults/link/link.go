// Package link is the road from one client to one node: a toxiproxy proxy per
// (client, node), so that every pair can be hurt apart from all others, and a
// gate per client that stops or severs all of its roads at once.
package link

import (
	"context"
	"net"
	"time"
)

// An Impairment is what one link can suffer. Names and effects are those of
// the fault vocabulary in the package documentation.
type Impairment struct {
	Kind   Kind
	Delay  time.Duration // for Delay: added to every packet of Direction
	Jitter time.Duration // for Delay: uniform, ± around Delay
}

// A Kind of impairment.
type Kind string

// The kinds.
const (
	Cut           Kind = "cut"             // connections closed, new ones refused
	BlackHole     Kind = "black-hole"      // both directions dropped, connections stay open
	RequestLost   Kind = "request-lost"    // requests dropped: never applied
	ResponseLost  Kind = "response-lost"   // replies dropped: applied
	Stall         Kind = "stall"           // both directions held, delivered in order on heal
	Zombie        Kind = "zombie"          // requests held, delivered on heal even when the client has gone
	SlowReply     Kind = "slow-reply"      // replies held, delivered on heal: applied, known late
	FastLostReply Kind = "fast-lost-reply" // applied, then the connection is closed at once
	Delay         Kind = "delay"           // latency with jitter, both directions
)

// A Fabric owns every link of one run.
type Fabric interface {
	// Open makes the link from a client to a node. upstream is the node's own
	// address.
	Open(ctx context.Context, client, node, upstream string) (Link, error)

	// Reset heals every link. It may be called at any time, also twice.
	Reset(ctx context.Context) error

	// Close resets and removes every link.
	Close() error
}

// A Link is one road. Its methods are safe for concurrent use.
type Link interface {
	Client() string
	Node() string

	// Dial connects through the link.
	Dial(ctx context.Context) (net.Conn, error)

	// Impair applies i until Heal. One impairment at a time: a second one
	// joins the first (each is healed by its own Heal).
	Impair(ctx context.Context, i Impairment) (Wound, error)

	// Traffic returns what has passed at the client's end since the link was
	// opened.
	Traffic() Traffic
}

// A Wound is an impairment in force.
type Wound interface {
	// Heal removes it, verifies that it is gone, and says what it did to the
	// traffic meanwhile. It succeeds on a wound already healed.
	Heal(ctx context.Context) (Bite, error)
}

// A Bite is what an impairment did while it was in force.
type Bite struct {
	Bytes    int64 // bytes that the client sent into, or that were due out of, the wounded link
	Conns    int   // connections that it cut or that died in it
	Dials    int   // new connections that it refused
	Requests int   // requests written while it was in force
}

// Bit reports whether anything at all was hurt.
func (b Bite) Bit() bool { return b.Bytes > 0 || b.Conns > 0 || b.Dials > 0 }

// Traffic counts at the client's end of a link.
type Traffic struct {
	Sent, Received int64 // bytes
	Conns          int64 // opened
}

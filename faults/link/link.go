// Package link stands between clients and nodes: a toxiproxy proxy per (client,
// node), so that every pair can be impaired apart from all others, and a gate
// per client that stops or severs all of its links at once.
//
// What a command sent through an impaired link comes to:
//
//	kind             on the wire                              the command
//	cut              connections closed, dials refused        not applied
//	black-hole       both directions dropped, dials hang      never applied
//	request-lost     requests dropped                         never applied
//	response-lost    replies dropped                          applied, never known
//	stall            both directions held until the heal      applied late
//	zombie           requests held until the heal             applied late, even when the client has gone
//	stuck-connection requests held, on connections then open  applied late, after what the client sent on another
//	slow-reply       replies held until the heal              applied, known late
//	fast-lost-reply  connection closed in place of a reply    applied, never known
//	reset            connections reset once, dials accepted   applied if it was on its way
//	delay            every packet comes later                 applied
//	bandwidth        bytes pass at a rate                     applied
//	slicer           replies in small pieces, with pauses     applied
//	limit-data       closed after n bytes of replies          applied, its reply torn off or lost
//	slow-close       the node's close comes late              not applied where the node has closed
//	notify-cut       as cut, for those that subscribed alone  no command: nothing is heard
//	notify-lost      as black-hole, for those alone           no command: nothing is heard
//
// Bytes once dropped would leave a hole in the stream: the heal closes every
// connection that lost some, and spares the others. Whoever closes a
// connection while requests are held in it does not take them back; a cut does
// destroy them. After an impairment that drops replies, a client that dials
// anew loses the replies of its handshake too, so such impairments
// tell on connections that were open before.
//
// A black hole is a partition: a dial into it is neither accepted nor refused,
// and fails when its own time is up. Links of this process wait for the heal or
// for the context's end on every fabric. Other processes that dial the ingress of
// an Opener, or a Listener on the embedded fabric, get no answer on Linux, where
// the socket drops their SYN; the kernel sends it again after one second, three,
// seven. Elsewhere, and by an external toxiproxy, they are accepted, and then
// nothing passes.
//
// The impairments of the embedded fabric act in a toxic of this package that
// toxiproxy runs on every connection. It runs toxiproxy's stock toxics, each on a
// stub of its own, wherever they do all that is asked: see Kind.InjectedBy. So
// they can be put on and taken off in any order under load without letting a
// held byte slip, and what they affect is counted; in toxiproxy's own chain a
// neighbour interrupts them. Jitter, which must come from a given seed, delays
// below a millisecond and odd rates are treated by this package.
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
	Toward Direction     // for Delay and Bandwidth: which direction; empty: both
	Delay  time.Duration // for Delay: added to every packet of Direction; for Slicer: pause after every piece, to the microsecond; for SlowClose: how late the end comes, to the millisecond
	Jitter time.Duration // for Delay: spread of the draws around Delay, see Spread
	Spread Spread        // for Delay with Jitter: empty is Uniform
	Seed   uint64        // for Delay with Jitter: the draws are reproducible per connection and direction
	Rate   int64         // for Bandwidth: bytes per second
	Bytes  int64         // for Slicer: the size of a piece, on average; for LimitData: how many pass on each connection
}

// A Kind of impairment.
type Kind string

// The kinds.
const (
	Cut           Kind = "cut"             // connections closed, new ones refused
	BlackHole     Kind = "black-hole"      // both directions dropped, connections stay open, dials are not answered
	RequestLost   Kind = "request-lost"    // requests dropped: never applied
	ResponseLost  Kind = "response-lost"   // replies dropped: applied
	Stall         Kind = "stall"           // both directions held, delivered in order on heal
	Zombie        Kind = "zombie"          // requests held, delivered on heal even when the client has gone
	SlowReply     Kind = "slow-reply"      // replies held, delivered on heal: applied, known late
	FastLostReply Kind = "fast-lost-reply" // applied, then the connection is closed at once
	// StuckConnection is Zombie for the connections open at this moment, or the next one where none is: what is
	// sent on later ones passes. No stock toxic tells connections apart, so that
	// links through an external toxiproxy refuse it.
	StuckConnection Kind = "stuck-connection"

	Reset      Kind = "reset"       // connections open at this moment reset, new ones accepted
	Delay      Kind = "delay"       // latency with jitter, both directions
	Bandwidth  Kind = "bandwidth"   // a byte rate, both directions
	Slicer     Kind = "slicer"      // replies come in small pieces, with pauses between
	LimitData  Kind = "limit-data"  // replies pass up to a number of bytes, then the connection is closed
	SlowClose  Kind = "slow-close"  // a connection that the node closes stays open for the client
	NotifyCut  Kind = "notify-cut"  // connections that have subscribed are closed, and those that subscribe anew
	NotifyLost Kind = "notify-lost" // both directions of connections that have subscribed are dropped
)

// A Direction of travel through a link.
type Direction string

// The directions.
const (
	Up   Direction = "upstream"   // requests: client to node
	Down Direction = "downstream" // replies: node to client
)

// A Spread is the distribution of the delays around their mean. Order within a
// connection is kept whatever is drawn.
type Spread string

// The spreads. Draws below zero count as zero.
const (
	Uniform     Spread = "uniform"     // Delay ± Jitter
	Exponential Spread = "exponential" // Delay + exponential of mean Jitter
	HeavyTail   Spread = "heavy-tail"  // Delay + Pareto of scale Jitter and shape 1.5, cut at 100 × Jitter
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

// A Link is the way from one client to one node. Its methods are safe for concurrent use.
type Link interface {
	Client() string
	Node() string

	// Dial connects through the link.
	Dial(ctx context.Context) (net.Conn, error)

	// Impair applies i until Heal. One impairment at a time: a second one
	// joins the first (each is healed by its own Heal).
	Impair(ctx context.Context, i Impairment) (Applied, error)

	// Traffic returns what has passed at the client's end since the link was
	// opened.
	Traffic() Traffic
}

// A Listener is a Link whose proxy can be dialled past the link's own end, as
// servers do that replicate through it: what passes there is impaired, and
// counted where the impairment counts for itself, but is not part of Traffic.
// Clients in other processes come in by the ingress of an Opener.
type Listener interface {
	Addr() string // host:port
}

// An Applied is an impairment in force.
type Applied interface {
	// Impact says what it has done to the traffic so far.
	Impact() Impact

	// Heal removes it, verifies that it is gone, and says what it did to the
	// traffic meanwhile. It succeeds on an impairment already healed.
	Heal(ctx context.Context) (Impact, error)
}

// An Impact is what an impairment did while it was in force.
type Impact struct {
	Bytes    int64 // bytes that it held, delayed or dropped
	Conns    int   // connections that it ended under a command; at rest, only where a later command missed them
	Dials    int   // new connections that it refused, or left unanswered
	Requests int   // requests written while it was in force
	Pieces   int   // for Slicer: reads of a client that ended in the middle of a reply
	Torn     int   // for LimitData: connections of a client that ended in the middle of a reply
}

// Any reports whether anything at all was affected.
func (b Impact) Any() bool { return b.Bytes > 0 || b.Conns > 0 || b.Dials > 0 }

// Traffic counts at the client's end of a link.
type Traffic struct {
	Sent, Received int64 // bytes
	Conns          int64 // opened
	Unanswered     int64 // dials into a partition
	Refused        int64 // dials
	Waiting        int   // requests without a reply, on connections that are open
}

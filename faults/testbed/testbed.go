// Package testbed owns the life and death of the Redis nodes under test: real
// redis-server processes, embedded miniredis nodes, or servers at given
// addresses. Every testbed has N independent masters and one more Redis for
// the guarded store.
package testbed

import (
	"context"
	"net"
	"time"
)

// A Testbed is a running set of nodes. Close ends every process, goroutine and
// temporary file that it started, whatever state the nodes are in.
type Testbed interface {
	Name() string    // "process", "embedded", "external", …
	Version() string // of the servers, e.g. "redis 7.0.15"
	Nodes() []Node   // n1, n2, … in order
	Store() Node     // the guarded store's own Redis
	Close() error
}

// A Node is one Redis server. What can be done to it beyond dialling it shows
// in the optional interfaces below; a fault asks for the one it needs, and a
// node that does not implement it cannot suffer the fault.
type Node interface {
	Name() string
	Addr() string // host:port, the same for the node's whole life where the testbed can keep it

	// Dial connects to the node directly, past every link.
	Dial(ctx context.Context) (net.Conn, error)
}

// A Restart says with which memory a killed node comes back.
type Restart int

// The ways to come back.
const (
	WithData Restart = iota // everything it had acknowledged
	Empty                   // nothing
)

// A Killer can be killed without warning and started again on its address.
// Receipts say what proves it, such as "pid 4711 gone".
type Killer interface {
	Kill(ctx context.Context) (receipt string, err error)
	Restart(ctx context.Context, how Restart) (receipt string, err error)
	Alive() bool
}

// A Pauser can be stopped and continued (SIGSTOP, SIGCONT): what was sent to
// it meanwhile is applied when it continues.
type Pauser interface {
	Pause(ctx context.Context) (receipt string, err error)
	Resume(ctx context.Context) (receipt string, err error)
}

// A ClockJumper can move its clock, and with it every expiry, by d.
type ClockJumper interface {
	JumpClock(ctx context.Context, d time.Duration) (receipt string, err error)
}

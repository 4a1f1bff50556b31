// Package testbed starts, kills, restarts and ends the Redis nodes under test: real
// redis-server processes, embedded miniredis nodes, or servers at given addresses. Every
// testbed has N independent masters and one more Redis for the guarded store.
package testbed

import (
	"context"
	"errors"
	"net"
	"time"
)

// StoreName is the name of the guarded store's node.
const StoreName = "store"

// The reasons for which a node refuses to be hurt or mended.
var (
	ErrDown        = errors.New("node is down")
	ErrUp          = errors.New("node is up")
	ErrClosed      = errors.New("testbed is closed")
	ErrUnsupported = errors.New("not supported by this testbed")
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

// A Deployment is a testbed whose nodes are the servers of one deployment: masters,
// each with replicas, one of which takes its place when it fails. A master and its
// replicas are a shard; shards have numbers from 0.
type Deployment interface {
	Testbed

	// Announced is the address (host:port) under which the servers, and whoever
	// tells clients of them, know the node of that name.
	Announced(node string) string

	// Masters are the present masters by shard, according to most of the servers that
	// decide it.
	Masters(ctx context.Context) ([]Node, error)

	// Shard is the shard that stores key.
	Shard(ctx context.Context, key string) (int, error)

	// Settle waits until every other node replicates its master, and no server reports
	// anything wrong.
	Settle(ctx context.Context) error
}

// An Announce returns the address by which the other servers of a deployment are to
// find the node called name, which listens at addr: a link that can be cut. Nil stands
// for addr itself.
type Announce func(ctx context.Context, name, addr string) (string, error)

// A Node is one Redis server. What faults can do to it beyond its links is in the optional
// interfaces below: a fault needs one of them, and a node that does not implement it does not
// support the fault.
type Node interface {
	Name() string
	Addr() string // host:port, the same for the node's whole life where the testbed can keep it

	// Dial connects to the node directly, past every link.
	Dial(ctx context.Context) (net.Conn, error)
}

// A Restart says what data a killed node comes back with.
type Restart int

// The ways to come back.
const (
	WithData  Restart = iota // everything it had acknowledged; see FsyncSecond
	Empty                    // nothing
	PowerLoss                // without what it had not yet synced: at most the last second's writes
)

// String returns "with data", "empty" or "after power loss".
func (r Restart) String() string {
	switch r {
	case WithData:
		return "with data"
	case Empty:
		return "empty"
	}
	return "after power loss"
}

// A Killer can be killed without warning and started again on its address.
// Receipts say what proves it, such as "pid 4711 gone". Kill on a node that is
// down returns ErrDown, Restart on one that is up ErrUp.
type Killer interface {
	Kill(ctx context.Context) (receipt string, err error)
	Restart(ctx context.Context, how Restart) (receipt string, err error)
	Alive() bool
}

// A Restarter says what data a killed node can come back with: nil, or why not. A Killer that
// is no Restarter can come back with all of its data, or empty.
type Restarter interface {
	CanRestart(how Restart) error
}

// A Pauser can be stopped and continued (SIGSTOP, SIGCONT): what was sent to
// it meanwhile is applied when it continues. Resume succeeds on a node that is
// not paused, or has been killed meanwhile.
type Pauser interface {
	Pause(ctx context.Context) (receipt string, err error)
	Resume(ctx context.Context) (receipt string, err error)
}

// A ClockJumper can move its clock, and with it every expiry, by d. Jumps add
// up; the opposite jump undoes one.
type ClockJumper interface {
	JumpClock(ctx context.Context, d time.Duration) (receipt string, err error)
}

// An Administrable can be sent commands that change the server as a whole
// (FLUSHALL, CONFIG, CLIENT KILL, …), past every link. The replies are string,
// int64, []any, or nil. Servers that somebody else runs are not Administrable.
type Administrable interface {
	CanAdminister(command string) error // nil, or why the node does not know it
	Administer(ctx context.Context, args ...string) (reply any, err error)
}

// A Replicated node can have an asynchronous replica, and lose its own process
// to it.
type Replicated interface {
	// StartReplica attaches a replica and returns when it has caught up. It
	// replicates through via (host:port), such as a link to this node; empty:
	// directly.
	StartReplica(ctx context.Context, via string) (receipt string, err error)

	// Failover kills the node's process and promotes the replica in its place,
	// on the node's own address, with what had reached it by then.
	Failover(ctx context.Context) (receipt string, err error)
}

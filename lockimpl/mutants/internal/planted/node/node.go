// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

// Package node carries scripts to one Redis server. A Node is a first-in,
// first-out queue in front of one connection with one batch in flight:
// whatever is queued meanwhile goes out together with the next one. No call
// overtakes an earlier one, and a server that does not answer costs one
// goroutine and one batch, whatever the number of operations.
//
// It speaks the Redis protocol itself, since a client's pool hides what has to
// be known here: on which connection a command is written, to which server
// process that leads, and whether anything of it was sent. A batch for an idle
// node is written by a caller (Put, Flush); the replies are read by the node's
// goroutine, which also notices at once when the connection breaks. With
// Config.Direct a caller whose call is alone reads its reply itself (Drive),
// which saves two switches of goroutines.
package node

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxBatch = 512     // calls in one batch
	maxQueue = 1 << 14 // calls waiting for the next one
	coolOff  = 10 * time.Millisecond

	memory = 100 * time.Millisecond // for which a batch tells how quick the node is
	broke  = time.Second            // what a broken connection counts as
)

// ErrClosed answers calls to a closed Node.
var ErrClosed = errors.New("node closed")

// ErrAnonymous reports a server that hides or forbids INFO.
var ErrAnonymous = errors.New("the server does not say who it is: INFO is hidden or forbidden, so that a restart with old data could not be noticed")

var (
	errFull     = errors.New("queue of the node is full")
	errUnwanted = errors.New("no longer wanted")
)

// Config says how to reach a server.
type Config struct {
	Name     string
	Addr     string
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error) // nil: TCP
	Timeout  time.Duration                                                     // of a dial, and of an answer
	Username string
	Password string

	// Meet is told the run id of the server at each new connection, and may
	// refuse it. It may be nil.
	Meet func(runID string) error

	// Anonymous accepts a server that does not say who it is.
	Anonymous bool

	// Direct leaves an idle connection unread, so that a caller can drive it.
	Direct bool
}

// A Call is one script execution asked of a node. Encode and Wanted run while
// the node is locked: they may take locks of their own, under which nobody may
// send, and must not call the node. Answer runs without it.
type Call interface {
	// Encode writes the command. It runs when the command is about to be sent,
	// once for every time that it is.
	Encode(*Writer)

	// Wanted is asked right before sending; a call that is no longer wanted
	// is answered with FateNone and never sent. A copy of one that is resent was
	// sent before, and may yet arrive.
	Wanted(resent bool) bool

	// Answer takes the reply, once, mostly on the node's goroutine: it must
	// not block.
	Answer(Reply)
}

type entry struct {
	call   Call
	resent bool // a copy may already be on its way
	eval   bool // the server has forgotten the script
}

// fate corrects what is known of the last copy by what may have become of an
// earlier one.
func (e entry) fate(f Fate) Fate {
	if e.resent {
		return FateUnknown
	}
	return f
}

func (e entry) fail(err error, f Fate) {
	e.call.Answer(Reply{Err: err, Fate: e.fate(f), Doubt: e.resent || f == FateUnknown})
}

// A Node is safe for concurrent use.
type Node struct {
	cfg  Config
	bugs Bugs
	wake chan struct{}
	wg   sync.WaitGroup
	ctx  context.Context // ends with Close

	record atomic.Pointer[string] // admission record of the server, as last seen
	stop   context.CancelFunc
	since  atomic.Int64 // when what is under way began (ns of clock), 0: nothing is
	last   atomic.Int64 // what the last batch took (ns) …
	told   atomic.Int64 // … and when that was
	trip   atomic.Int64 // moving mean of what a batch takes (ns)

	mu      sync.Mutex
	queue   []entry
	flight  []entry // the batch in flight; those before next are answered
	next    int
	again   []entry // of the batch, to be sent once more
	conn    *conn   // nil while there is none
	busy    bool    // a batch is in flight, or a connection is being made
	driven  bool    // a caller reads the replies
	started bool
	closed  bool

	downErr error // of the last dial
	down    time.Time
}

// New returns a Node that connects when it is first used.
func New(cfg Config) *Node {
	n := &Node{cfg: cfg, wake: make(chan struct{}, 1)}
	n.record.Store(new(string))
	n.ctx, n.stop = context.WithCancel(context.Background())
	if n.cfg.Dial == nil {
		n.cfg.Dial = (&net.Dialer{}).DialContext
	}
	return n
}

// Name returns the node's name.
func (n *Node) Name() string { return n.cfg.Name }

// Send queues c, or writes it at once when nothing is in flight. It never
// waits for the server.
func (n *Node) Send(c Call) {
	if n.Put(c) {
		n.FlushBy()
	}
}

// Put queues c and reports whether it takes a Flush to have it sent. Whoever
// puts calls to several nodes, or beside other goroutines, gives these a
// chance to join the batch before the Flush.
func (n *Node) Put(c Call) (idle bool) {
	n.mu.Lock()
	switch {
	case n.closed:
		n.mu.Unlock()
		entry{call: c}.fail(ErrClosed, FateNone)
		return false
	case len(n.queue) >= maxQueue:
		n.mu.Unlock()
		entry{call: c}.fail(errFull, FateNone)
		return false
	case n.bugs.Unordered:
		n.wg.Go(func() { n.alone(c) })
		n.mu.Unlock()
		return false
	}
	n.queue = append(n.queue, entry{call: c})
	idle = !n.busy
	n.mu.Unlock()
	return idle
}

// Flush writes what is queued when nothing is in flight. When it reports true
// the caller must Drive the node.
func (n *Node) Flush() (drive bool) { return n.flush(true) }

// FlushBy is Flush for those who leave the reading to the node.
func (n *Node) FlushBy() { n.flush(false) }

func (n *Node) flush(mayDrive bool) (drive bool) {
	n.mu.Lock()
	if n.busy || len(n.queue) == 0 || n.closed {
		n.mu.Unlock()
		return false
	}
	n.busy = true
	n.since.Store(clock())
	if n.conn != nil {
		drive = n.cfg.Direct && mayDrive && len(n.queue) == 1
		n.driven = drive
		launched := n.launch() // unlocks
		if n.cfg.Direct && launched && !drive {
			n.nudge()
		}
		return launched && drive
	}
	if !n.started {
		n.started = true
		n.wg.Go(n.loop)
	}
	n.mu.Unlock()
	n.nudge()
	return false
}

// epoch is the origin of the times that nodes keep.
var epoch = time.Now()

// clock is the time since the epoch in nanoseconds, never 0.
func clock() int64 { return int64(time.Since(epoch)) + 1 }

// RoundTrip returns how long a batch takes on average, from its sending to its
// last reply.
func (n *Node) RoundTrip() time.Duration { return time.Duration(n.trip.Load()) }

// Lag returns how long the node keeps its callers waiting at this moment, or
// did a moment ago; 0 when nothing is known.
func (n *Node) Lag() time.Duration {
	var lag int64
	now := clock()
	if now-n.told.Load() < int64(memory) {
		lag = n.last.Load()
	}
	if since := n.since.Load(); since > 0 {
		lag = max(lag, now-since)
	}
	return time.Duration(lag)
}

// took notes how long something took that callers waited for.
func (n *Node) took(d int64) {
	n.last.Store(d)
	n.told.Store(clock())
}

func (n *Node) nudge() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Close ends the node's goroutines and connections. Calls still queued are
// answered with ErrClosed.
func (n *Node) Close() error {
	n.mu.Lock()
	n.closed = true
	c := n.conn
	n.mu.Unlock()
	n.stop()
	if c != nil {
		_ = c.Close() // the reader takes notice
	}
	n.nudge()
	n.wg.Wait()
	n.fail(ErrClosed)
	return nil
}

// fail answers everything that is queued.
func (n *Node) fail(err error) {
	n.mu.Lock()
	rest := n.queue
	n.queue = nil
	n.rest()
	n.took(int64(broke))
	n.mu.Unlock()
	for _, e := range rest {
		e.fail(err, FateNone)
	}
}

// Learn keeps the admission record that came with a reply. It takes no lock:
// callers hold their own, which calls take while the node's is held.
func (n *Node) Learn(record string) { n.record.Store(&record) }

// Do sends a call and waits for its answer or for ctx.
func (n *Node) Do(ctx context.Context, encode func(*Writer)) (Reply, error) {
	c := &simple{encode: encode, done: make(chan Reply, 1)}
	n.Send(c)
	select {
	case r := <-c.done:
		return r, r.Err
	case <-ctx.Done():
		return Reply{Err: ctx.Err(), Fate: FateUnknown}, ctx.Err()
	}
}

// simple is a Call that is always wanted.
type simple struct {
	encode func(*Writer)
	done   chan Reply
}

func (c *simple) Encode(w *Writer) { c.encode(w) }
func (c *simple) Wanted(bool) bool { return true }
func (c *simple) Answer(r Reply)   { c.done <- r }

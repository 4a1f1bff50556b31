// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

// Package node carries scripts to one Redis server, over go-redis. A Node is a
// first-in, first-out queue in front of one connection with one pipeline in
// flight: whatever is queued meanwhile goes out together with the next one. No
// call overtakes an earlier one, and a server that does not answer costs one
// goroutine and one pipeline, whatever the number of operations.
//
// The connection is one for as long as it lives, and not whichever a pool hands
// out: it has to be known to which server process it leads, and whether anything
// of a pipeline that failed was sent. go-redis dials it, makes it known to the
// server (TLS, user, credentials, database, name, OnConnect), and runs the
// hooks of the client that it was given.
package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	maxBatch = 512     // calls in one pipeline
	maxQueue = 1 << 14 // calls waiting for the next one

	coolOff      = 10 * time.Millisecond // between two dials of a node that is gone, at first …
	coolOffShare = 16                    // … and later such a part of the time for which it has been gone …
	mostCoolOff  = 250 * time.Millisecond

	memory = 100 * time.Millisecond // for which a pipeline tells how quick the node is
	broke  = time.Second            // what a broken connection counts as
)

// ErrClosed answers calls to a closed Node.
var ErrClosed = errors.New("lock closed")

// ErrAnonymous reports a server that hides or forbids INFO.
var ErrAnonymous = errors.New("the server does not say who it is: INFO is hidden or forbidden, so that a restart with old data could not be noticed")

// ErrClusterMode reports a server that is a part of a Redis Cluster.
var ErrClusterMode = errors.New("the server is in cluster mode, which moves keys from one server to another and keeps a lock's keys apart from the record that admits its node")

// ErrEvicting reports a server that drops keys where memory is short.
var ErrEvicting = errors.New("the server evicts keys when its memory is full, leases that are held among them: maxmemory-policy must be noeviction, or maxmemory 0")

var (
	errFull     = errors.New("queue of the node is full")
	errUnwanted = errors.New("no longer wanted")
)

// Config says how to reach a server: by Options, of which the node makes a
// connection at a time, or by a Client of the caller's, which stays open.
type Config struct {
	Name    string
	Options *redis.Options
	Client  *redis.Client
	Timeout time.Duration // of a dial, and of an answer; connecting takes several such exchanges

	// Meet is told the run id of the server at each new connection, "" where the
	// server does not say it, and may refuse it. It may be nil.
	Meet func(runID string) error

	// Part is told when a connection that Meet did not refuse has ended. It may be nil.
	Part func()

	// Linger is called with Name before a pipeline is made of what is queued, also where nothing is. It may be nil.
	Linger func(name string)

	// Anonymous accepts a server that does not say who it is.
	Anonymous bool
}

// A Call is one script execution asked of a node. Encode and Wanted run while
// the node is locked: they may take locks of their own, under which nobody may
// send, and must not call the node. Answer runs without it.
type Call interface {
	// Encode writes the command. It runs when the command is about to be sent,
	// once for every time that it is.
	Encode(*Writer)

	// Wanted is asked right before sending; a call that is no longer wanted
	// is answered with NotExecuted and never sent. A copy of one that is resent was
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
	unsent int  // connections that ended before any of its pipeline was written
}

// outcome corrects what is known of the last copy by what may have become of an
// earlier one.
func (e entry) outcome(f Outcome) Outcome {
	if e.resent {
		return ExecutionUnknown
	}
	return f
}

func (e entry) fail(err error, f Outcome) {
	e.call.Answer(Reply{Err: err, Outcome: e.outcome(f), Doubt: e.resent || f == ExecutionUnknown})
}

// A Node is safe for concurrent use.
type Node struct {
	cfg    Config
	bugs   Bugs
	client *redis.Client // the caller's, with the node's timeouts and without retries; nil: cfg.Options
	wake   chan struct{}
	wg     sync.WaitGroup
	ctx    context.Context // ends with Close
	stop   context.CancelFunc

	record atomic.Pointer[record] // admission record of the server, as last seen
	since  atomic.Int64           // when what is under way began (ns of clock), 0: nothing is
	last   atomic.Int64           // what the last pipeline took (ns) …
	told   atomic.Int64           // … and when that was
	trip   atomic.Int64           // moving mean of what a pipeline takes (ns)

	mu      sync.Mutex
	queue   []entry
	conn    *conn // nil while there is none
	busy    bool  // the node's goroutine, or a caller, is at it
	started bool
	closed  bool

	flight []entry // of who is busy, the node's goroutine or a caller: the pipeline in flight
	args   []any   // its commands' arguments, one after the other

	trouble atomic.Pointer[error] // what keeps the node from being reached, as far as is known

	down    time.Time // of the last dial that led nowhere; zero: the last one did not
	downErr error     // of that dial
	gone    time.Time // of the first such dial since the node last served; zero: there was none
}

// New returns a Node that connects when it is first used.
func New(cfg Config) *Node {
	n := &Node{cfg: cfg, wake: make(chan struct{}, 1)}
	n.record.Store(new(record))
	n.ctx, n.stop = context.WithCancel(context.Background())
	if cfg.Client != nil {
		n.client = withoutRetries(cfg.Client, cfg.Timeout)
	}
	return n
}

// withoutRetries returns a client that shares the connections and the settings
// of c, but waits no longer than d and sends nothing twice by itself: what may
// have been sent twice has to be known. It has none of c's hooks, and asks for no notice of
// maintenance: go-redis notes what came of that in settings that the client shares with its
// connections, without a common lock.
func withoutRetries(c *redis.Client, d time.Duration) *redis.Client {
	clone := c.WithTimeout(d)
	opt := clone.Options() // the clone's own
	opt.MaxRetries, opt.ContextTimeoutEnabled = 0, true
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return clone
}

// Trouble returns why there is no connection, or nil when there is one or
// nothing is known. It is for messages: what is asked next may succeed.
func (n *Node) Trouble() error {
	if err := n.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// Name returns the node's name.
func (n *Node) Name() string { return n.cfg.Name }

// Send queues c, to be sent at once when nothing is in flight. It never waits
// for the server.
func (n *Node) Send(c Call) {
	if n.Put(c) {
		n.Flush()
	}
}

// Put queues c and reports whether it takes a Flush to have it sent. Whoever
// puts calls to several nodes, or beside other goroutines, gives these a
// chance to join the pipeline before the Flush.
func (n *Node) Put(c Call) (idle bool) {
	n.mu.Lock()
	switch {
	case n.closed:
		n.mu.Unlock()
		entry{call: c}.fail(ErrClosed, NotExecuted)
		return false
	case len(n.queue) >= maxQueue:
		n.mu.Unlock()
		entry{call: c}.fail(errFull, NotExecuted)
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

// Flush has the node send what is queued, when nothing is in flight.
func (n *Node) Flush() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.busy || len(n.queue) == 0 || n.closed {
		return
	}
	n.busy = true
	n.since.Store(clock())
	n.start()
}

// start has the node's goroutine send what is queued. mu is held.
func (n *Node) start() {
	if !n.started {
		n.started = true
		n.wg.Go(n.loop)
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Busy reports whether what is put to the node is sent without a Flush.
func (n *Node) Busy() bool { return n.since.Load() > 0 }

// epoch is the origin of the times that nodes keep.
var epoch = time.Now()

// clock is the time since the epoch in nanoseconds, never 0.
func clock() int64 { return int64(time.Since(epoch)) + 1 }

// RoundTrip returns how long a pipeline takes on average, from its sending to
// its last reply.
func (n *Node) RoundTrip() time.Duration { return time.Duration(n.trip.Load()) }

// Lag returns how long the node keeps its callers waiting at this moment, or
// did a moment ago; 0 when nothing is known. It is never negative, not even where the
// clock of the process was moved back meanwhile.
func (n *Node) Lag() time.Duration {
	var lag int64
	now := clock()
	if ago := now - n.told.Load(); ago >= 0 && ago < int64(memory) {
		lag = n.last.Load()
	}
	if since := n.since.Load(); since > 0 {
		lag = max(lag, now-since)
	}
	return time.Duration(max(lag, 0))
}

// noteDuration notes how long something took that callers waited for.
func (n *Node) noteDuration(d int64) {
	n.last.Store(d)
	n.told.Store(clock())
}

// Close ends the node's goroutine and its connections; with a client of the
// caller's it waits for the pipeline in flight. Calls still queued are
// answered with ErrClosed.
func (n *Node) Close() error {
	n.mu.Lock()
	n.closed = true
	c := n.conn
	n.mu.Unlock()
	n.stop()
	if c != nil {
		c.abort() // whoever reads takes notice
	}
	n.wg.Wait()
	n.fail(ErrClosed)
	if n.conn != nil {
		n.conn.close()
	}
	return nil
}

// fail answers everything that is queued.
func (n *Node) fail(err error) {
	n.mu.Lock()
	rest := n.queue
	n.queue = nil
	n.setIdle()
	n.noteDuration(int64(broke))
	n.mu.Unlock()
	for _, e := range rest {
		e.fail(err, NotExecuted)
	}
}

// setIdle notes that nothing is under way. mu is held.
func (n *Node) setIdle() {
	n.busy = false
	n.since.Store(0)
}

// Learn keeps the admission record that came with a reply. It takes no lock:
// callers hold their own, which calls take while the node's is held.
func (n *Node) Learn(text string) { n.record.Store(parseRecord(text)) }

// Do sends a call and waits for its answer or for ctx.
func (n *Node) Do(ctx context.Context, encode func(*Writer)) (Reply, error) {
	c := &simple{encode: encode, done: make(chan Reply, 1)}
	n.Send(c)
	select {
	case r := <-c.done:
		return r, r.Err
	case <-ctx.Done():
		err := ctx.Err()
		if why := n.Trouble(); why != nil {
			err = fmt.Errorf("%w: %w", err, why)
		}
		return Reply{Err: err, Outcome: ExecutionUnknown}, err
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

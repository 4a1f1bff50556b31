// Package node carries scripts to one Redis server. A Node is a first-in,
// first-out queue in front of one connection with one pipeline in flight:
// whatever is queued meanwhile goes out together with the next one. No call
// overtakes an earlier one, and a server that does not answer costs one
// goroutine, whatever the number of operations.
package node

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locktorture/lockimpl/internal/script"
)

const (
	maxBatch = 512     // calls in one pipeline
	maxQueue = 1 << 14 // calls waiting for the next one
	coolOff  = 10 * time.Millisecond
)

// ErrClosed answers calls to a closed Node.
var ErrClosed = errors.New("node closed")

// errFull answers calls beyond the bound of the queue.
var errFull = errors.New("queue of the node is full")

// Config says how to reach a server.
type Config struct {
	Name     string
	Addr     string
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error) // nil: TCP
	Timeout  time.Duration                                                     // of a dial, a write, a read
	Username string
	Password string

	// Unordered gives every call a goroutine and a connection of its own, as
	// pooled clients do: calls then overtake each other.
	Unordered bool
}

// A Call is one script execution asked of a node.
type Call interface {
	// Command returns the script, its keys and its arguments, ready for EVAL:
	// args[0] is the number of keys.
	Command() (s *script.Script, args []any)

	// Wanted is asked right before sending; a call that is no longer wanted
	// is answered with FateNone and never sent.
	Wanted() bool

	// Answer takes the reply, once, on the node's goroutine: it must not block.
	Answer(Reply)
}

type entry struct {
	call   Call
	resent bool // a copy may already be on its way
	eval   bool // the server has forgotten the script
}

// A Node is safe for concurrent use.
type Node struct {
	cfg    Config
	client *redis.Client
	wake   chan struct{}
	wg     sync.WaitGroup

	run  atomic.Pointer[string] // run id at the other end of the connection
	live atomic.Int32           // open connections of client
	sent atomic.Bool            // a command of the pipeline in flight was written

	mu        sync.Mutex
	queue     []entry
	started   bool
	closed    bool
	predialed net.Conn
	downUntil time.Time
	downErr   error
}

// New returns a Node that connects when it is first used.
func New(cfg Config) *Node {
	n := &Node{cfg: cfg, wake: make(chan struct{}, 1)}
	if n.cfg.Dial == nil {
		n.cfg.Dial = (&net.Dialer{}).DialContext
	}
	n.run.Store(new(string))
	opt := n.options()
	opt.Dialer = n.dial
	opt.OnConnect = n.onConnect
	n.client = redis.NewClient(opt)
	return n
}

// options returns the go-redis settings that every connection shares: nothing
// is retried behind our back and every wait is bounded.
func (n *Node) options() *redis.Options {
	return &redis.Options{
		Addr:                  n.cfg.Addr,
		Username:              n.cfg.Username,
		Password:              n.cfg.Password,
		Protocol:              2,
		MaxRetries:            -1,
		DialerRetries:         1,
		DialTimeout:           n.cfg.Timeout,
		ReadTimeout:           n.cfg.Timeout,
		WriteTimeout:          n.cfg.Timeout,
		PoolSize:              64,
		PipelinePoolSize:      -1,
		MaxIdleConns:          1,
		ConnMaxIdleTime:       -1,
		ContextTimeoutEnabled: true,
		DisableIdentity:       true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}
}

// Name returns the node's name.
func (n *Node) Name() string { return n.cfg.Name }

// Send queues c. It never blocks.
func (n *Node) Send(c Call) {
	n.mu.Lock()
	if err := n.refusal(); err != nil {
		n.mu.Unlock()
		c.Answer(Reply{Err: err, Fate: FateNone})
		return
	}
	if n.cfg.Unordered {
		n.wg.Go(func() { n.alone(c) })
		n.mu.Unlock()
		return
	}
	n.queue = append(n.queue, entry{call: c})
	if !n.started {
		n.started = true
		n.wg.Go(n.loop)
	}
	n.mu.Unlock()
	n.nudge()
}

func (n *Node) refusal() error {
	switch {
	case n.closed:
		return ErrClosed
	case len(n.queue) >= maxQueue:
		return errFull
	}
	return nil
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
	n.mu.Unlock()
	n.nudge()
	err := n.client.Close()
	n.wg.Wait()
	n.failAll(ErrClosed)
	if c := n.takePredialed(); c != nil {
		err = errors.Join(err, c.Close())
	}
	return err
}

func (n *Node) failAll(err error) {
	n.mu.Lock()
	rest := n.queue
	n.queue = nil
	n.mu.Unlock()
	for _, e := range rest {
		e.call.Answer(Reply{Err: err, Fate: e.fate(FateNone)})
	}
}

// fate corrects what is known of the last copy by what may have become of an
// earlier one.
func (e entry) fate(f Fate) Fate {
	if e.resent {
		return FateUnknown
	}
	return f
}

package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload/store"
)

// A Client is one contender. Every incarnation has connections of its own; a
// crash ends one incarnation, and the next is a new owner. A client lives from
// its first phase until Close. Its methods are safe for concurrent use.
type Client struct {
	Name string // c00, c01, …

	// Connect builds the next incarnation.
	Connect func(ctx context.Context) (*Conn, error)

	// Pause blocks while the client is paused. The worker calls it before every step, and
	// before a write between its check that the lease still holds and the write itself:
	// where a real process may be stopped. Nil never blocks.
	Pause func(ctx context.Context) error

	turn sync.Mutex // one birth or death at a time

	mu    sync.Mutex    // guards what is below
	begun int           // incarnations so far
	alive *incarnation  // nil before the first, and while the client is down
	up    chan struct{} // not nil while the client is down; closed when that ends
	hold  func()        // to be called before the next operation is sent; nil: nothing
}

// A Conn is one incarnation's means to act.
type Conn struct {
	Locker lockimpl.Locker
	Store  *store.Client // nil when the client writes by itself, into a Ledger
	Close  func() error  // both of the above, and what lies under them

	// Named, when set, is told the incarnation's owner name before it acts. It
	// must not call the Client.
	Named func(owner string)

	// Drain, when set, returns once everything that the client has sent so far has passed
	// the taps of its links. It is called before an unknown outcome is recorded.
	Drain func()

	// Sever cuts every connection at once and has every later dial refused,
	// for ever, so that nothing more of this incarnation reaches anybody. It is
	// what makes a crash; a client without it cannot crash.
	Sever func()
}

// Owner names the present incarnation, or the last one while the client is
// down: who it is for the lock's purposes.
func (c *Client) Owner() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owner(max(c.begun-1, 0))
}

func (c *Client) owner(n int) string {
	if n == 0 {
		return c.Name
	}
	return fmt.Sprintf("%s.%d", c.Name, n)
}

// Holds lists the keys that the client believes to hold.
func (c *Client) Holds() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alive == nil {
		return nil
	}
	return slices.Clone(c.alive.holds)
}

// Crash ends the present incarnation abruptly: its connections are severed, nothing is
// released, and its open operations are recorded as unknown. It returns once the worker no
// longer acts for it.
func (c *Client) Crash(ctx context.Context) (receipt string, err error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.mu.Lock()
	inc := c.alive
	if inc == nil || inc.conn.Sever == nil {
		c.mu.Unlock()
		return "", fmt.Errorf("crash %s: %s", c.Name, whyNot(inc))
	}
	c.alive, c.up = nil, make(chan struct{})
	inc.conn.Sever()
	close(inc.dead)
	parted, held := inc.released, inc.holds
	if inc.kill != nil {
		inc.kill()
	}
	c.mu.Unlock()
	receipt = inc.owner + " gone, its connections severed"
	if len(held) > 0 {
		receipt += ", holding " + strings.Join(held, ", ")
	}
	if parted == nil {
		inc.discard()
		return receipt, nil
	}
	select {
	case <-parted:
		return receipt, nil
	case <-ctx.Done():
		return "", fmt.Errorf("crash %s: its worker still acts: %w", inc.owner, context.Cause(ctx))
	}
}

func whyNot(inc *incarnation) string {
	if inc == nil {
		return "it does not live"
	}
	return "its connections cannot be severed"
}

// restartPause is the time between two starts of a client that cannot connect.
const restartPause = 200 * time.Millisecond

// Restart starts the next incarnation of a crashed client: a new owner that knows nothing of
// the one before. One that cannot connect, to servers that may be away themselves, is started
// again and again until ctx ends.
func (c *Client) Restart(ctx context.Context) (receipt string, err error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.mu.Lock()
	up := c.up
	c.mu.Unlock()
	if up == nil {
		return "", fmt.Errorf("restart %s: it is not down", c.Name)
	}
	owner, err := c.begin(ctx)
	for err != nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(restartPause):
			owner, err = c.begin(ctx)
		}
	}
	if err != nil {
		return "", fmt.Errorf("restart %s: %w", c.Name, err)
	}
	close(up)
	return owner + " started", nil
}

// start connects the first incarnation; on a client that has had one it does
// nothing.
func (c *Client) start(ctx context.Context) error {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.mu.Lock()
	begun := c.begun
	c.mu.Unlock()
	if begun > 0 {
		return nil
	}
	if _, err := c.begin(ctx); err != nil {
		return fmt.Errorf("connect %s: %w", c.Name, err)
	}
	return nil
}

// begin connects the next incarnation. The caller holds c.turn.
func (c *Client) begin(ctx context.Context) (owner string, err error) {
	conn, err := c.Connect(ctx)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	owner = c.owner(c.begun)
	if conn.Named != nil {
		conn.Named(owner)
	}
	c.alive, c.up = &incarnation{owner: owner, conn: conn, dead: make(chan struct{})}, nil
	c.begun++
	return owner, nil
}

// Close closes the connections of a client that no phase uses any more.
func (c *Client) Close() error {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.mu.Lock()
	inc := c.alive
	c.alive = nil
	c.mu.Unlock()
	if inc == nil {
		return nil
	}
	if err := inc.conn.Close(); err != nil {
		return fmt.Errorf("close %s: %w", inc.owner, err)
	}
	return nil
}

// errDown reports that the client does not live.
var errDown = errors.New("client is down")

// locker returns the lock as the present incarnation uses it.
func (c *Client) locker() (lockimpl.Locker, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alive == nil {
		return nil, fmt.Errorf("%s: %w", c.Name, errDown)
	}
	return c.alive.conn.Locker, nil
}

// HoldBack makes the client call wait before it sends the next operation that it begins, so
// that a fault can be in force when that operation is sent. Where several ask for it, it waits for
// all of them.
func (c *Client) HoldBack(wait func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before := c.hold; before != nil {
		c.hold = func() {
			before()
			wait()
		}
		return
	}
	c.hold = wait
}

// heldBack calls that function, if one is set, and waits while the client is paused.
func (c *Client) heldBack(ctx context.Context) {
	c.mu.Lock()
	wait := c.hold
	c.hold = nil
	c.mu.Unlock()
	if wait != nil {
		wait()
		c.pause(ctx)
	}
}

// pause waits while the client is paused. It returns false when ctx ended.
func (c *Client) pause(ctx context.Context) bool {
	if c.Pause == nil {
		return ctx.Err() == nil
	}
	return c.Pause(ctx) == nil && ctx.Err() == nil
}

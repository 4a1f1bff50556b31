package workload

import "context"

// An incarnation is a client between its start and its crash.
type incarnation struct {
	owner  string // c03, and after its first crash c03.1
	conn   *Conn
	dead   chan struct{} // closed once crashed, the connections severed before
	writes int           // values handed out; the worker's alone

	// Guarded by Client.mu.
	holds    []string // keys, for receipts
	open     map[*operation]struct{}
	kill     context.CancelFunc // ends what the worker has open; nil when no worker acts
	released chan struct{}      // closed when the worker acts no more
}

func (i *incarnation) crashed() bool { return isClosed(i.dead) }

// discard frees what a dead incarnation has in this process. Its errors are ignored: the
// incarnation is dead.
func (i *incarnation) discard() { _ = i.conn.Close() }

// await returns the living incarnation, and notes that a worker acts for it, whose context it
// makes: only the end of the incarnation cancels that. It waits while the client is down, and
// returns nil when over is closed first.
func (c *Client) await(ctx context.Context, over <-chan struct{}) (*incarnation, context.Context) {
	for {
		c.mu.Lock()
		inc, up := c.alive, c.up
		if inc != nil {
			life, kill := context.WithCancel(context.WithoutCancel(ctx))
			inc.kill, inc.released = kill, make(chan struct{})
			c.mu.Unlock()
			return inc, life
		}
		c.mu.Unlock()
		select {
		case <-up:
		case <-over:
			return nil, nil
		}
	}
}

// release ends what await began.
func (c *Client) release(inc *incarnation) {
	c.mu.Lock()
	inc.kill()
	close(inc.released)
	inc.kill, inc.released, inc.holds = nil, nil, nil
	c.mu.Unlock()
	if inc.crashed() {
		inc.discard()
	}
}

// setHolds notes what the incarnation believes to hold.
func (c *Client) setHolds(inc *incarnation, keys []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	inc.holds = keys
}

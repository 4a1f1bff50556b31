package workload

import "context"

// An operation under way can be cancelled.
type operation struct{ cancel context.CancelFunc }

// Cancel cancels the context of every operation of the client's that is under way, like a
// caller who gives up, and returns how many there were.
func (c *Client) Cancel() (ended int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alive == nil {
		return 0
	}
	ended = len(c.alive.open)
	for op := range c.alive.open {
		op.cancel()
	}
	clear(c.alive.open)
	return ended
}

// cancellable makes an operation of inc one that Cancel cancels, until the returned function is
// called.
func (c *Client) cancellable(inc *incarnation, cancel context.CancelFunc) context.CancelFunc {
	op := &operation{cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	if inc.open == nil {
		inc.open = map[*operation]struct{}{}
	}
	inc.open[op] = struct{}{}
	return func() {
		c.mu.Lock()
		delete(inc.open, op)
		c.mu.Unlock()
		cancel()
	}
}

package node

import (
	"context"
	"fmt"
	"os"
	"time"
)

// A caller runs a pipeline itself where it would otherwise wake the node's
// goroutine, sleep, and be woken by it: with nothing else to do, two such
// hand-overs cost as much as the round trip. While it reads it cannot look at its
// context, so that the end of the context has to end the connection, and with it the calls of
// others, of which nobody knows then whether they were executed. That is fit only where it
// hardly ever happens: at a node that has just answered quickly, and that does not answer
// for a while after the context has ended either.
const (
	quick   = time.Millisecond      // what the last pipeline may have taken
	ampleBy = 16                    // how many times as long the caller must be ready to wait
	grace   = 10 * time.Millisecond // what the node has left when the context of the caller ends
)

// Run is Flush, and may carry the calls on the caller's goroutine, and those of
// others with them. It returns when they have been answered, or 10 ms after ctx has ended.
func (n *Node) Run(ctx context.Context) {
	c := n.claim(ctx)
	if c == nil {
		n.Flush()
		return
	}
	defer n.wg.Done()
	guard := c.guard(n.cfg.Timeout)
	turn := c.turn // which only the one who is at the node moves on
	leave := context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { c.abortTurn(turn) }) })
	cmds, _ := n.nextPipeline(c)
	var broken error
	if len(cmds) > 0 {
		broken = c.exec(n.ctx, cmds)
	}
	leave()
	c.endTurn()
	if !guard.Stop() && broken != nil { // the server has been given its time
		broken = fmt.Errorf("%w: %w", os.ErrDeadlineExceeded, broken)
	}
	if len(cmds) > 0 {
		n.deliver(c, cmds, broken)
	}
	n.passOn()
}

// claim makes the caller the one who sends, and returns the connection for it;
// nil where the node's goroutine should.
func (n *Node) claim(ctx context.Context) *conn {
	if n.last.Load() > int64(quick) || clock()-n.told.Load() > int64(memory) || ctx.Err() != nil {
		return nil
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < ampleBy*time.Duration(n.last.Load()) {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.busy || n.closed || len(n.queue) == 0 || n.conn == nil || n.conn.wire == nil {
		return nil
	}
	n.busy = true
	n.since.Store(clock())
	n.wg.Add(1)
	return n.conn
}

// passOn leaves what has been queued meanwhile to the node's goroutine.
func (n *Node) passOn() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queue) == 0 || n.closed {
		n.setIdle()
		return
	}
	n.start()
}

package node

import (
	"errors"
	"io"
	"runtime"
	"time"

	"github.com/redis/go-redis/v9"
)

// loop sends pipelines while there are calls.
func (n *Node) loop() {
	for {
		select {
		case <-n.wake:
		case <-n.ctx.Done():
			return
		}
		for n.pass() {
		}
	}
}

// pass sends one pipeline and reports whether there may be another.
func (n *Node) pass() bool {
	if n.ctx.Err() != nil {
		return false
	}
	c, err := n.connected()
	if err != nil {
		n.fail(err)
		return false
	}
	cmds, more := n.nextPipeline(c)
	if len(cmds) > 0 {
		n.deliver(c, cmds, c.exec(n.ctx, cmds))
	}
	return more
}

// connected returns the connection, makes one, or answers from memory for a while
// after a failure.
func (n *Node) connected() (*conn, error) {
	if n.conn != nil {
		return n.conn, nil
	}
	if !n.down.IsZero() && time.Since(n.down) < n.pause() {
		return nil, n.downErr
	}
	c, err := n.open(n.ctx)
	if err != nil {
		n.noteDown(err)
		n.trouble.Store(&err)
		return nil, err
	}
	n.down = time.Time{}
	n.trouble.Store(nil)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		c.close()
		return nil, ErrClosed
	}
	n.conn = c
	return c, nil
}

// pause is the time between two dials, of which the last led nowhere: the longer the node has
// been gone, the less it matters when exactly it is used again.
func (n *Node) pause() time.Duration {
	return min(max(coolOff, n.down.Sub(n.gone)/coolOffShare), mostCoolOff)
}

// noteDown notes that a dial led nowhere.
func (n *Node) noteDown(err error) {
	n.down, n.downErr = time.Now(), err
	if n.gone.IsZero() {
		n.gone = n.down
	}
}

// noteServing notes whether the node served a pipeline, which it refuses with an error that ends
// the connection otherwise. Where it served none on the connection, the dial led nowhere.
func (n *Node) noteServing(c *conn, refusal error) {
	switch {
	case c.served:
	case refusal == nil:
		c.served, n.gone = true, time.Time{}
	default:
		n.noteDown(refusal)
	}
}

// noteBroken notes that a connection has ended. Where it served nothing, as the one before it, the
// dial led nowhere; what a single one was asked, which may have come while the server was going, is
// asked again at once.
func (n *Node) noteBroken(c *conn, cause error) {
	switch {
	case c.served:
	case n.gone.IsZero():
		n.gone = time.Now()
	default:
		n.noteDown(cause)
	}
}

// nextPipeline makes the next pipeline of what is queued, behind a check of who the
// server is where that is due. More is false when there was nothing, and the
// node rests.
func (n *Node) nextPipeline(c *conn) (cmds []redis.Cmder, more bool) {
	if n.cfg.Linger != nil {
		n.cfg.Linger(n.cfg.Name)
	}
	n.mu.Lock()
	if len(n.queue) == 0 {
		n.setIdle()
		n.mu.Unlock()
		return nil, false
	}
	var unwanted []entry
	w := Writer{run: &c.run, record: n.record.Load(), args: n.args[:0], values: c.wire == nil}
	cmds = make([]redis.Cmder, 1, min(len(n.queue), maxBatch)+1)
	n.flight = n.flight[:0]
	taken := 0
	for _, e := range n.queue {
		if len(n.flight) == maxBatch {
			break
		}
		taken++
		if !e.call.Wanted(e.resent) {
			unwanted = append(unwanted, e)
			continue
		}
		w.eval, w.Resent = e.eval, e.resent
		e.call.Encode(&w)
		n.flight = append(n.flight, e)
		cmds = append(cmds, w.command(n.ctx))
	}
	if !w.values {
		n.args = w.args
	}
	rest := copy(n.queue, n.queue[taken:])
	clear(n.queue[rest:])
	n.queue = n.queue[:rest]
	now := clock()
	n.since.Store(now)
	n.mu.Unlock()
	for _, e := range unwanted {
		e.fail(errUnwanted, NotExecuted)
	}
	if len(n.flight) == 0 {
		return nil, true
	}
	if w.named && c.run != anonymous && now-c.asked > int64(identityCheckInterval) {
		c.asked = now
		cmds[0] = redis.NewCmd(n.ctx, "info", "replication")
		return cmds, true
	}
	return cmds[1:], true // nothing in it depends on who the server is, or that is known
}

var errReplaced = errors.New("the server was demoted and promoted")

// deliver hands the replies to their calls. What is to be sent again goes to
// the front of the queue, in its order.
func (n *Node) deliver(c *conn, cmds []redis.Cmder, broken error) {
	if len(cmds) > len(n.flight) { // a check goes ahead
		if broken == nil {
			broken = c.recognise(cmds[0].(*redis.Cmd), n.cfg) // everything is asked again, of the server that it is now
		}
		cmds = cmds[1:]
	}
	if broken != nil {
		n.broken(c, broken)
		return
	}
	d := clock() - n.since.Load()
	n.noteDuration(d)
	n.trip.Store(n.trip.Load() + (d-n.trip.Load())/8)
	var again []entry
	var demoted error
	for i, e := range n.flight {
		r := replyOf(cmds[i].(*redis.Cmd))
		se, refused := r.Err.(ServerError)
		if refused && se.Code() == "NOSCRIPT" && !e.eval {
			e.eval = true
			again = append(again, e)
			continue
		}
		if refused && se.Code() == "READONLY" {
			demoted = se
		}
		if r.Doubt = e.resent; r.Err != nil {
			r.Outcome = e.outcome(r.Outcome)
		}
		e.call.Answer(r)
	}
	n.requeue(again)
	n.noteServing(c, demoted)
	if demoted != nil {
		n.drop(c) // go-redis gives up a connection to a server that only reads
	}
	if len(n.flight) > 1 {
		runtime.Gosched() // those who had a reply may join the next pipeline
	}
	clear(n.flight)
	clear(n.args)
}

// requeue queues what has to be sent again before everything that came after
// it.
func (n *Node) requeue(again []entry) {
	if len(again) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.queue = append(again, n.queue...)
}

// drop gives a connection up.
func (n *Node) drop(c *conn) {
	n.mu.Lock()
	n.conn = nil
	n.mu.Unlock()
	c.close()
	if n.cfg.Part != nil {
		n.cfg.Part()
	}
}

// mostUnsent is how many connections a call may outlive that ended before anything was
// written: one may have been idle for too long, and several in a row will not get better.
const mostUnsent = 3

// broken ends a connection. What was in flight may have been executed or not:
// every script is safe to send twice, so that it is sent once more, unless the
// server has been given its time.
func (n *Node) broken(c *conn, cause error) {
	n.drop(c)
	if errors.Is(cause, io.EOF) {
		cause = errors.New("connection closed by the server")
	}
	n.noteBroken(c, cause)
	sent := !c.unsent()
	var lost, refused, again []entry
	for _, e := range n.flight {
		if !sent {
			e.unsent++
		}
		if sent && (e.resent || isTimeout(cause)) || n.ctx.Err() != nil {
			lost = append(lost, e)
			continue
		}
		if e.unsent > mostUnsent {
			refused = append(refused, e)
			continue
		}
		e.resent = e.resent || sent
		again = append(again, e)
	}
	clear(n.flight)
	n.requeue(again)
	n.noteDuration(int64(broke))
	for _, e := range lost {
		e.fail(cause, ExecutionUnknown)
	}
	for _, e := range refused {
		e.fail(cause, NotExecuted)
	}
}

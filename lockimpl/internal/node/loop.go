package node

import (
	"errors"
	"io"
	"sync"
	"time"
)

// loop makes connections when they are needed and reads what they answer.
func (n *Node) loop() {
	for n.ctx.Err() == nil {
		n.mu.Lock()
		idle := len(n.queue) == 0
		if idle {
			n.busy = false
		}
		n.mu.Unlock()
		if idle {
			select {
			case <-n.wake:
			case <-n.ctx.Done():
			}
			continue
		}
		c, err := n.connect()
		if err != nil {
			n.fail(err)
			continue
		}
		n.serve(c)
	}
}

// connect opens a connection, or answers from memory right after a failure.
func (n *Node) connect() (*conn, error) {
	if !n.down.IsZero() && time.Since(n.down) < coolOff {
		return nil, n.downErr
	}
	c, err := n.open(n.ctx)
	if err != nil {
		n.down, n.downErr = time.Now(), err
		return nil, err
	}
	n.down = time.Time{}
	return c, nil
}

// serve uses a connection until it breaks.
func (n *Node) serve(c *conn) {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		_ = c.Close()
		return
	}
	n.conn = c
	n.launch()
	var err error
	for err == nil {
		var r Reply
		if r, err = readReply(c.br); err == nil {
			err = n.deliver(r)
		}
	}
	n.broken(c, err)
}

var writers = sync.Pool{New: func() any { return new(Writer) }}

// launch sends the next batch, if there is one. It is called with mu held and
// busy set, and unlocks mu.
func (n *Node) launch() {
	var unwanted []entry
	c := n.conn
	w := writers.Get().(*Writer)
	defer writers.Put(w) // after the write: the next batch may be under way by then
	w.buf, w.run, w.record = w.buf[:0], c.run, *n.record.Load()
	n.flight, n.next = n.flight[:0], 0
	taken := 0
	for _, e := range n.queue {
		if len(n.flight) == maxBatch {
			break
		}
		taken++
		if !e.call.Wanted() {
			unwanted = append(unwanted, e)
			continue
		}
		w.eval, w.Resent = e.eval, e.resent
		e.call.Encode(w)
		n.flight = append(n.flight, e)
	}
	rest := copy(n.queue, n.queue[taken:])
	clear(n.queue[rest:])
	n.queue = n.queue[:rest]
	n.busy = len(n.flight) > 0
	if n.busy {
		c.await()
	}
	out := w.buf
	n.mu.Unlock()
	for _, e := range unwanted {
		e.fail(errUnwanted, FateNone)
	}
	if len(out) == 0 {
		return
	}
	if len(out) > 16<<10 {
		_ = c.SetWriteDeadline(time.Now().Add(c.limit))
	}
	if k, err := c.Write(out); err != nil {
		c.unsent.Store(k == 0)
		_ = c.Close() // the reader takes notice
	}
}

var errUnasked = errors.New("a reply to nothing that was asked")

// deliver hands a reply to its call. After the last one of a batch it sends
// the next batch.
func (n *Node) deliver(r Reply) error {
	n.mu.Lock()
	if n.next >= len(n.flight) {
		n.mu.Unlock()
		return errUnasked
	}
	e := n.flight[n.next]
	n.next++
	last := n.next == len(n.flight)
	var se ServerError
	repeat := errors.As(r.Err, &se) && se.Code() == "NOSCRIPT" && !e.eval
	if repeat {
		e.eval = true
		n.again = append(n.again, e)
	}
	if last {
		n.conn.due.Store(0)
		n.putBack()
		n.launch()
	} else {
		n.mu.Unlock()
	}
	if !repeat {
		r.Fate, r.Doubt = e.fate(r.Fate), e.resent
		if r.Err == nil {
			r.Fate = FateDone
		}
		e.call.Answer(r)
	}
	return nil
}

// putBack queues what has to be sent again before everything that came after
// it. mu is held.
func (n *Node) putBack() {
	if len(n.again) > 0 {
		n.queue = append(n.again, n.queue...)
		n.again = nil
	}
}

// broken ends a connection. What was in flight may have been executed or not:
// every script is safe to send twice, so that it is sent once more, unless the
// server has been given its time.
func (n *Node) broken(c *conn, cause error) {
	_ = c.Close()
	if cause == io.EOF {
		cause = errors.New("connection closed by the server")
	}
	n.mu.Lock()
	n.conn = nil
	var lost []entry
	for _, e := range n.flight[n.next:] {
		sent := !c.unsent.Load()
		if sent && (e.resent || isTimeout(cause)) || n.closed {
			lost = append(lost, e)
			continue
		}
		e.resent = e.resent || sent
		n.again = append(n.again, e)
	}
	clear(n.flight)
	n.flight, n.next = n.flight[:0], 0
	n.putBack()
	n.busy = len(n.queue) > 0
	n.mu.Unlock()
	for _, e := range lost {
		e.fail(cause, FateUnknown)
	}
}

// alone sends one call past the queue, on a connection of its own.
func (n *Node) alone(c Call) {
	e := entry{call: c}
	if !c.Wanted() {
		e.fail(errUnwanted, FateNone)
		return
	}
	cn, err := n.open(n.ctx)
	if err != nil {
		e.fail(err, FateNone)
		return
	}
	defer cn.Close()
	w := Writer{run: cn.run, eval: true}
	c.Encode(&w)
	cn.await()
	if _, err := cn.Write(w.buf); err != nil {
		e.fail(err, FateUnknown)
		return
	}
	r, err := readReply(cn.br)
	if err != nil {
		e.fail(err, FateUnknown)
		return
	}
	c.Answer(r)
}

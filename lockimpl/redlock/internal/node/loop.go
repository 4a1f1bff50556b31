package node

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"time"
)

// loop makes connections when they are needed and reads what they answer.
func (n *Node) loop() {
	for n.ctx.Err() == nil {
		c, wanted := n.duty()
		switch {
		case !wanted:
			select {
			case <-n.wake:
			case <-n.ctx.Done():
			}
		case c != nil:
			n.read(c)
		default:
			c, err := n.connect()
			if err != nil {
				n.fail(err)
				continue
			}
			n.adopt(c)
		}
	}
}

// duty says what the node's goroutine has to do: read from a connection, make
// one (nil), or nothing.
func (n *Node) duty() (c *conn, wanted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.driven:
		return nil, false
	case n.conn != nil:
		return n.conn, n.busy || !n.cfg.Direct
	case !n.busy:
		return nil, false
	case len(n.queue) == 0:
		n.rest()
		return nil, false
	}
	return nil, true
}

// rest notes that nothing is under way, so that nobody has to read. mu is held.
func (n *Node) rest() {
	n.busy, n.driven = false, false
	n.since.Store(0)
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

// adopt takes a new connection into use.
func (n *Node) adopt(c *conn) {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		_ = c.Close()
		return
	}
	n.conn = c
	n.launch()
}

// read delivers replies until the connection breaks; or, when an idle
// connection is to be left unread, until all are there.
func (n *Node) read(c *conn) {
	for {
		r, err := readReply(c.br)
		more := false
		if err == nil {
			more, err = n.deliver(r)
		}
		if err != nil {
			n.broken(c, err)
			return
		}
		if n.cfg.Direct && !more {
			return
		}
	}
}

// Drive reads replies in the place of the node's goroutine until none is
// awaited, done is closed, ctx has ended or the connection is broken.
//
// A connection has one reader at a time: the driver while driven is set, else
// the node's goroutine while busy is. Only the reader ends its own turn, and
// does it under mu: in rest or broken, or here. Nobody may look whether the
// node is idle in order to learn whether it is still his turn, since another
// caller may have begun one in between.
func (n *Node) Drive(ctx context.Context, done <-chan struct{}) {
	n.mu.Lock()
	c := n.conn
	n.mu.Unlock()
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() {
			c.interrupt()
			time.AfterFunc(stubborn, c.abandon)
		})
		defer stop()
	}
	if n.drive(c, done) {
		n.mu.Lock()
		n.driven = false
		n.mu.Unlock()
		n.nudge()
	}
}

// drive reports whether replies are left for the node's goroutine to read.
func (n *Node) drive(c *conn, done <-chan struct{}) (left bool) {
	for {
		err := c.awaitByte()
		if errors.Is(err, errInterrupted) {
			return true
		}
		var r Reply
		if err == nil {
			r, err = readReply(c.br)
		}
		more := false
		if err == nil {
			more, err = n.deliver(r)
		}
		if err != nil {
			n.broken(c, err)
			return false
		}
		if !more {
			return false
		}
		select {
		case <-done:
			return true
		default:
		}
	}
}

var writers = sync.Pool{New: func() any { return new(Writer) }}

// largeBatch is more than a socket is sure to take at once: its write may wait.
const largeBatch = 16 << 10

// launch sends the next batch and reports whether there was one. It is called
// with mu held and busy set, and unlocks mu.
func (n *Node) launch() (launched bool) {
	var unwanted []entry
	c := n.conn
	w := writers.Get().(*Writer)
	defer writers.Put(w) // after the write: the next batch may be under way by then
	w.buf, w.run, w.record, w.named = append(w.buf[:0], asking...), c.run, *n.record.Load(), false
	n.flight, n.next = append(n.flight[:0], entry{call: check{}}), 0
	taken := 0
	for _, e := range n.queue {
		if len(n.flight) > maxBatch {
			break
		}
		taken++
		if !e.call.Wanted(e.resent) {
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
	out, now := w.buf, clock()
	if w.named && c.run != anonymous && now-c.asked > int64(vouched) {
		c.asked = now
	} else { // nothing in it depends on who the server is, or that is known
		out, n.next = out[len(asking):], 1
	}
	if len(n.flight) > 1 {
		n.busy = true
		c.await()
		n.since.Store(now)
	} else {
		out, n.flight, n.next = nil, n.flight[:0], 0
		n.rest()
	}
	n.mu.Unlock()
	for _, e := range unwanted {
		e.fail(errUnwanted, FateNone)
	}
	if len(out) == 0 {
		return false
	}
	if len(out) > largeBatch {
		_ = c.SetWriteDeadline(time.Now().Add(c.limit))
	}
	if k, err := c.Write(out); err != nil {
		c.unsent.Store(k == 0)
		_ = c.Close() // the reader takes notice
	} else if len(out) > largeBatch {
		_ = c.SetWriteDeadline(time.Time{})
	}
	return true
}

var (
	errUnasked  = errors.New("a reply to nothing that was asked")
	errReplaced = errors.New("the server was demoted and promoted")
)

// deliver hands a reply to its call. After the last one of a batch it sends
// the next batch; those who had a reply get to run before that, and may join.
// When there is no more to read, the reader's turn has ended.
func (n *Node) deliver(r Reply) (more bool, err error) {
	n.mu.Lock()
	if n.next >= len(n.flight) {
		n.mu.Unlock()
		return false, errUnasked
	}
	e := n.flight[n.next]
	n.next++
	size, last := len(n.flight)-1, n.next == len(n.flight)
	var se ServerError
	repeat := errors.As(r.Err, &se) && se.Code() == "NOSCRIPT" && !e.eval
	if repeat {
		e.eval = true
		n.again = append(n.again, e)
	}
	if last {
		n.conn.due.Store(0)
		n.timed()
		n.putBack()
	}
	c := n.conn
	n.mu.Unlock()
	if _, ok := e.call.(check); ok {
		if c.isOther(&r) {
			return false, errReplaced // what follows is asked again, of the server that it is now
		}
		return true, nil
	}
	if !repeat {
		r.Fate, r.Doubt = e.fate(r.Fate), e.resent
		if r.Err == nil {
			r.Fate = FateDone
		}
		e.call.Answer(r)
	}
	if last {
		if size > 1 {
			runtime.Gosched()
		}
		n.mu.Lock()
		return n.launch(), nil
	}
	return true, nil
}

// timed notes how long the batch took. mu is held.
func (n *Node) timed() {
	d := clock() - n.since.Load()
	n.took(d)
	n.trip.Store(n.trip.Load() + (d-n.trip.Load())/8)
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
	n.took(int64(broke))
	if len(n.queue) > 0 {
		n.busy, n.driven = true, false
		n.nudge()
	} else {
		n.rest()
	}
	n.mu.Unlock()
	for _, e := range lost {
		e.fail(cause, FateUnknown)
	}
}

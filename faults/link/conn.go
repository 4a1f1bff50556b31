package link

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"locktorture/faults/link/internal/resp"
)

// A conn counts and reports at the client's end of a link.
type conn struct {
	net.Conn
	link   *proxyLink
	number uint64
	end    sync.Once   // notes its death or closing
	gone   atomic.Bool // it has been reset
	deaf   atomic.Bool // it has subscribed: replies no longer answer requests one by one
	holed  atomic.Bool // it has lost bytes as a notification connection
	cut    atomic.Bool // a cut has ended it
	missed atomic.Bool // it has ended with commands that were never answered

	outside bool        // its client is in another process: it came in by the ingress
	over    atomic.Bool // of one outside: its far end has closed, and the client may not know
	noticed atomic.Bool // of one outside: the client has found that out

	mu       sync.Mutex // of the scanners; reads and writes may be concurrent
	requests resp.Scanner
	replies  resp.Scanner
	count    uint64       // of requests
	waiting  []unanswered // requests, in order
	pending  []TapEvent   // to be reported when the lock is free
	progress *progress    // nil where the proxy keeps none

	progressNumber uint64
	preface        []byte // to be sent before the first request
	unused         bool   // it has ended without a request, and takes none any more
}

func newConn(raw net.Conn, l *proxyLink, number uint64) *conn {
	c := &conn{Conn: raw, link: l, number: number}
	c.requests = resp.Scanner{Requests: true, Whole: c.request}
	c.replies = resp.Scanner{Whole: c.reply}
	return c
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for c.swallows(n) {
		n = 0
		if err == nil {
			n, err = c.Conn.Read(p)
		}
	}
	err = c.explain("read", err)
	c.link.received.Add(int64(n))
	c.pass(&c.replies, p[:n])
	c.notePiece(n, err)
	if c.outside && errors.Is(err, io.EOF) {
		c.over.Store(true) // what its client says yet will be missed
		return n, err
	}
	c.note(err)
	return n, err
}

// notePiece counts a read that ended in the middle of a reply, and an end of
// the connection there.
func (c *conn) notePiece(n int, err error) {
	c.mu.Lock()
	inside := c.replies.Inside()
	c.mu.Unlock()
	switch {
	case !inside:
	case errors.Is(err, io.EOF):
		c.link.torn.Add(1)
	case n > 0:
		c.link.pieces.Add(1)
	}
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	c.pass(&c.requests, p)
	if c.severs() {
		c.reset()
		c.link.notices.severed.Add(1)
	}
	if c.swallows(len(p)) {
		return len(p), nil
	}
	if c.over.Load() {
		return 0, syscall.EPIPE
	}
	// Counted before it is on its way: the reply may be with the client before writeOut returns.
	c.link.sent.Add(int64(len(p)))
	n, err := c.writeOut(p)
	c.link.sent.Add(int64(n - len(p)))
	err = c.explain("write", err)
	c.note(err)
	return n, err
}

// reset closes both ends by RST: the node's through toxiproxy, which sees the
// reset; the client's by explain, as its own socket is the one that sends it.
func (c *conn) reset() {
	c.gone.Store(true)
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Conn.Close()
}

// explain returns the error that the client sees for err.
func (c *conn) explain(op string, err error) error {
	if err == nil || !c.gone.Load() {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: syscall.ECONNRESET}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.end.Do(c.forget)
	return c.Conn.Close()
}

// writeOut sends the preface first, in one piece with the first request.
func (c *conn) writeOut(p []byte) (int, error) {
	c.mu.Lock()
	preface, unused := c.preface, c.unused
	c.preface = nil
	c.mu.Unlock()
	switch {
	case unused:
		return 0, net.ErrClosed
	case preface == nil:
		return c.Conn.Write(p)
	}
	whole := append(preface, p...)
	n, err := c.Conn.Write(whole)
	return max(0, n-prefaceSize), err
}

// SyscallConn implements syscall.Conn: client libraries look through it whether
// an idle connection has been closed.
func (c *conn) SyscallConn() (syscall.RawConn, error) { return rawConn(c.Conn) }

func rawConn(c net.Conn) (syscall.RawConn, error) {
	raw, ok := c.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return raw.SyscallConn()
}

// note notes an error, other than a deadline that has passed, as the end of the connection.
func (c *conn) note(err error) {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	c.end.Do(c.forget)
}

// atWork reports whether a command on c has no reply yet.
func (c *conn) atWork() bool { return c.unreplied() > 0 }

// unreplied counts the commands on c that have no reply yet.
func (c *conn) unreplied() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}

// forget removes an ended connection from its link, which keeps the commands that were never
// answered.
func (c *conn) forget() {
	c.mu.Lock()
	left := c.waiting
	c.waiting = nil
	c.missed.Store(len(left) > 0)
	if a := c.link.firstCut.Load(); a != nil && len(left) > 0 && c.cut.CompareAndSwap(false, true) {
		a.interrupted.Add(1)
	}
	if c.preface != nil {
		c.preface, c.unused = nil, true
		c.progress.ended.Store(true)
	}
	if len(left) > 0 {
		c.link.forsaken.Add(1)
	} else {
		progressOf.Delete(c.progressNumber) // nobody will ask
	}
	c.mu.Unlock()
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	delete(c.link.conns, c)
	c.link.unanswered = append(c.link.unanswered, left...)
}

// pass scans bytes on their way and reports what they complete.
func (c *conn) pass(s *resp.Scanner, p []byte) {
	c.mu.Lock()
	s.Feed(p)
	events := c.pending
	c.pending = nil
	c.mu.Unlock()
	for _, e := range events {
		c.link.emit(e)
	}
}

// request notes a whole command.
func (c *conn) request(_ byte, nothing bool, words [][]byte) {
	if nothing || len(words) == 0 {
		return
	}
	c.link.requests.Add(1)
	c.count++
	e := TapEvent{Client: c.link.client, Node: c.link.node, Conn: c.number, Request: c.count, Time: time.Now()}
	e.describe(words, c.requests.Digest())
	if len(c.link.tapped()) > 0 {
		c.pending = append(c.pending, e)
	}
	switch e.Command {
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR":
		c.deaf.Store(true)
	}
	if !c.deaf.Load() {
		c.waiting = append(c.waiting, unanswered{command: e, end: c.requests.Seen, progress: c.progress, number: c.progressNumber})
	}
}

// reply matches a whole reply with the oldest command that has none.
func (c *conn) reply(first byte, nothing bool, _ [][]byte) {
	if first == '>' || c.deaf.Load() || len(c.waiting) == 0 {
		return
	}
	e := c.waiting[0].command
	c.waiting = c.waiting[1:]
	if len(c.link.tapped()) == 0 {
		return
	}
	e.Reply, e.Time = true, time.Now()
	e.Error, e.Nothing, e.Shape = first == '-' || first == '!', nothing, c.replies.Shape()
	c.pending = append(c.pending, e)
}

// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package node

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"locktorture/lockimpl/mutants/internal/planted/script"
)

// noRunID stands for the run id of a server that does not tell one (an
// embedded server without INFO).
const noRunID = "none"

// conn is a connection whose reads end when an answer is overdue.
type conn struct {
	net.Conn
	br    *bufio.Reader
	run   string        // run id of the server process at the other end
	due   atomic.Int64  // when the answers to what was sent are overdue (ns of clock), 0: none awaited
	armed atomic.Int64  // the read deadline that is set
	limit time.Duration // for an answer

	unsent atomic.Bool // nothing of the batch in flight could be written
	yield  atomic.Bool // whoever waits for a reply is asked to give up reading
	polite bool        // the present reader may be asked
}

// await sets the time by which answers must be there. Moving a deadline is
// dear, so that one which is not far off is left alone: a read that it ends
// goes on when nothing is overdue.
func (c *conn) await() {
	now := clock()
	c.due.Store(now + int64(c.limit))
	if armed := c.armed.Load(); armed < now+int64(c.limit)/2 || armed > now+int64(c.limit) {
		c.arm(now + int64(c.limit))
	}
}

func (c *conn) arm(at int64) {
	c.armed.Store(at)
	_ = c.SetReadDeadline(epoch.Add(time.Duration(at - 1)))
}

// Read implements io.Reader for the buffer.
func (c *conn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if n > 0 || err == nil || !isTimeout(err) {
			return n, err
		}
		if c.yield.Swap(false) && c.polite {
			return 0, errInterrupted
		}
		switch due, now := c.due.Load(), clock(); {
		case due == 0:
			c.armed.Store(0)
			_ = c.SetReadDeadline(time.Time{})
			if c.due.Load() != 0 { // a batch has just been sent
				c.await()
			}
		case due > now:
			c.arm(due)
		default:
			return 0, err
		}
	}
}

var errInterrupted = errors.New("reading interrupted")

// interrupt makes awaitByte return.
func (c *conn) interrupt() {
	c.yield.Store(true)
	_ = c.SetReadDeadline(epoch)
}

// awaitByte returns when a reply has begun to arrive, or has been interrupted.
// Nothing is taken from the stream.
func (c *conn) awaitByte() error {
	c.polite = true
	_, err := c.br.Peek(1)
	c.polite = false
	return err
}

// open dials and learns who is at the other end. It hands the server the
// scripts in the same round trip, before any command is sent.
func (n *Node) open(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, n.cfg.Timeout)
	defer cancel()
	raw, err := n.cfg.Dial(ctx, "tcp", n.cfg.Addr)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, limit: n.cfg.Timeout}
	c.br = bufio.NewReaderSize(c, 16<<10)
	stop := context.AfterFunc(n.ctx, func() { _ = raw.Close() })
	defer stop()
	if err := c.greet(n.cfg); err != nil {
		_ = raw.Close()
		return nil, err
	}
	return c, nil
}

func (c *conn) greet(cfg Config) error {
	var w Writer
	asked := 0
	ask := func(args ...string) {
		w.array(len(args))
		w.Strs(args...)
		asked++
	}
	if cfg.Password != "" {
		if cfg.Username != "" {
			ask("AUTH", cfg.Username, cfg.Password)
		} else {
			ask("AUTH", cfg.Password)
		}
	}
	ask("INFO", "server")
	info := asked
	for _, s := range script.All() {
		ask("SCRIPT", "LOAD", s.Source)
	}
	c.await()
	if _, err := c.Write(w.buf); err != nil {
		return err
	}
	for i := 1; i <= asked; i++ {
		r, err := readReply(c.br)
		if err != nil {
			return err
		}
		var se ServerError
		switch refused := errors.As(r.Err, &se); {
		case refused && (i < info || IsPermanent(se)):
			return se
		case refused && se.isTransient():
			return se // who it is cannot be told yet
		case i == info:
			c.run = script.RunID(r.Str(0))
		}
	}
	if c.run == "" {
		c.run = noRunID
	}
	c.due.Store(0)
	return nil
}

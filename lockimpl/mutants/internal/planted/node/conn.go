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

// anonymous stands for the identity of a server that does not tell who it is.
const anonymous = "none"

// conn is a connection whose reads end when an answer is overdue.
type conn struct {
	net.Conn
	br    *bufio.Reader
	run   string        // identity of the server at the other end
	proc  string        // run id of its process, "" when it does not tell
	asked int64         // when it was last asked who it is (ns of clock)
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
			if due := c.due.Load(); due != 0 { // a batch has just been sent
				c.arm(due)
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

// stubborn is how long an interrupted read may go on: one that does is of a
// connection whose deadlines do nothing.
const stubborn = 50 * time.Millisecond

// abandon closes the connection when nobody has taken notice of interrupt.
func (c *conn) abandon() {
	if c.yield.Load() {
		_ = c.Close()
	}
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
	err = c.greet(n.cfg)
	if err == nil && n.cfg.Meet != nil && c.proc != "" {
		err = n.cfg.Meet(c.proc)
	}
	if err != nil {
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
	switch {
	case cfg.Username != "":
		ask("AUTH", cfg.Username, cfg.Password) // a user may have no password
	case cfg.Password != "":
		ask("AUTH", cfg.Password)
	}
	ask("INFO", "server")
	info := asked
	ask("INFO", "replication")
	c.asked = clock()
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
			c.proc = script.Field(r.Str(0), "run_id")
		case i == info+1:
			c.run = identity(c.proc, r.Str(0))
		}
	}
	if c.run == anonymous && !cfg.Anonymous {
		return ErrAnonymous
	}
	c.due.Store(0)
	return nil
}

// identity names a server in one life of its data: its process and the history
// that it replicates, which a promotion changes and a restart too. A process
// alone may be demoted, get the older data of the server that it then follows,
// and be promoted again.
func identity(process, replication string) string {
	history := script.Field(replication, "master_replid")
	if process == "" || history == "" {
		return anonymous
	}
	return process[:min(len(process), 20)] + history[:min(len(history), 20)]
}

// vouched is how long a check holds: a server takes longer to be demoted, to
// load another's data and to be promoted. What is sent in that time, and then
// held up by the network for the rest of it, is not noticed.
const vouched = time.Millisecond

// A check asks, in front of a batch, whether the server is still the one that
// the connection was opened to: it may have been demoted, have loaded another's
// data, and been promoted again, without an end of the connection.
type check struct{}

// asking is the check on its way to the server.
const asking = "*2\r\n$4\r\nINFO\r\n$11\r\nreplication\r\n"

func (check) Encode(*Writer)   {}
func (check) Wanted(bool) bool { return false } // of a connection that is gone
func (check) Answer(Reply)     {}

// isOther reports whether the answer to a check is another server's.
func (c *conn) isOther(r *Reply) bool {
	return r.Err == nil && identity(c.proc, r.Str(0)) != c.run
}

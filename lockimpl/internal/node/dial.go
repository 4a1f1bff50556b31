package node

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl/internal/script"
)

// noRunID stands for the run id of a server that does not tell one (an
// embedded server without INFO).
const noRunID = "none"

// connect makes sure that a connection exists or can be had at once. It dials
// here and not inside go-redis, whose pool answers from memory after a number
// of failed dials: a server that comes back is found at the next attempt.
func (n *Node) connect() error {
	if n.live.Load() > 0 {
		return nil
	}
	if !n.downUntil.IsZero() && time.Now().Before(n.downUntil) {
		return n.downErr
	}
	ctx, cancel := context.WithTimeout(context.Background(), n.cfg.Timeout)
	defer cancel()
	c, err := n.cfg.Dial(ctx, "tcp", n.cfg.Addr)
	if err != nil {
		n.downErr, n.downUntil = err, time.Now().Add(coolOff)
		return err
	}
	n.downUntil = time.Time{}
	n.mu.Lock()
	n.predialed = c
	n.mu.Unlock()
	return nil
}

func (n *Node) takePredialed() net.Conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.predialed
	n.predialed = nil
	return c
}

// dial is go-redis's road to the server.
func (n *Node) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c := n.takePredialed()
	if c == nil {
		var err error
		if c, err = n.cfg.Dial(ctx, network, addr); err != nil {
			return nil, err
		}
	}
	n.live.Add(1)
	counted := &countedConn{Conn: c, closed: func() { n.live.Add(-1) }}
	if sc, ok := c.(syscall.Conn); ok {
		return &rawConn{countedConn: counted, Conn: sc}, nil
	}
	return counted, nil
}

// countedConn tells when it is closed.
type countedConn struct {
	net.Conn
	once   sync.Once
	closed func()
}

func (c *countedConn) Close() error {
	c.once.Do(c.closed)
	return c.Conn.Close()
}

// rawConn keeps the descriptor within reach of go-redis, which looks there
// whether an idle connection was closed by the other side.
type rawConn struct {
	*countedConn
	syscall.Conn
}

// onConnect learns who is at the other end of a new connection and hands it
// the scripts, in one round trip, before any command is sent.
func (n *Node) onConnect(ctx context.Context, cn *redis.Conn) error {
	pipe := cn.Pipeline()
	info := pipe.Do(ctx, "INFO", "server")
	for _, s := range script.All() {
		pipe.ScriptLoad(ctx, s.Source)
	}
	_, err := pipe.Exec(ctx)
	if err != nil && !isServerError(err) {
		return err
	}
	text, err := info.Text()
	if err != nil && !isServerError(err) {
		return err
	}
	id := script.RunID(text)
	if id == "" {
		id = noRunID
	}
	n.run.Store(&id)
	return nil
}

// RunArg returns the argument that stands for the run id of the server to
// which a command is being written. It is read when the command is written,
// on the connection that it is written to.
func (n *Node) RunArg() any { return runArg{n} }

type runArg struct{ n *Node }

// MarshalBinary implements encoding.BinaryMarshaler.
func (r runArg) MarshalBinary() ([]byte, error) {
	r.n.sent.Store(true)
	return []byte(*r.n.run.Load()), nil
}

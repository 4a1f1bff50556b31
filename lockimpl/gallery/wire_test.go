package gallery

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"locktorture/lockimpl"
)

// A wire is a client's links to its nodes, on which one command can be caught.
type wire struct {
	mu      sync.Mutex
	word    []byte // what the command to be caught contains, in lower case; nil catches none
	act     func(c *wireConn, p []byte) (int, error)
	caught  chan struct{} // closed when the command is caught
	proceed chan struct{} // closed to let it go on
}

// wired returns nodes as seen over a wire of their own.
func wired(nodes []lockimpl.Node) (*wire, []lockimpl.Node) {
	w := &wire{}
	out := make([]lockimpl.Node, len(nodes))
	for i, n := range nodes {
		n.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			return &wireConn{Conn: c, wire: w}, err
		}
		out[i] = n
	}
	return w, out
}

// catch has act done to the next command that contains word.
func (w *wire) catch(word string, act func(c *wireConn, p []byte) (int, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.word, w.act = []byte(word), act
	w.caught, w.proceed = make(chan struct{}), make(chan struct{})
}

// hold keeps the command back until proceed, or until a test must have failed.
func (w *wire) hold(word string) {
	w.catch(word, func(c *wireConn, p []byte) (int, error) {
		select {
		case <-w.proceed:
		case <-time.After(time.Minute):
		}
		return c.Conn.Write(p)
	})
}

// cut breaks the connection instead of sending the command.
func (w *wire) cut(word string) {
	w.catch(word, func(c *wireConn, _ []byte) (int, error) {
		c.Conn.Close()
		return 0, io.ErrClosedPipe
	})
}

// loseReply has the command executed, and breaks the connection instead of
// delivering its reply.
func (w *wire) loseReply(word string) {
	w.catch(word, func(c *wireConn, p []byte) (int, error) {
		c.deaf = true
		return c.Conn.Write(p)
	})
}

// swallow sends nothing from here on, and says that it has.
func (w *wire) swallow() {
	w.catch("", func(_ *wireConn, p []byte) (int, error) {
		w.swallow()
		return len(p), nil
	})
}

type wireConn struct {
	net.Conn
	wire *wire
	deaf bool // one goroutine at a time uses a pooled connection
}

func (c *wireConn) Write(p []byte) (int, error) {
	c.wire.mu.Lock()
	act := c.wire.act
	hit := act != nil && bytes.Contains(bytes.ToLower(p), c.wire.word)
	if hit {
		c.wire.act = nil
		close(c.wire.caught)
	}
	c.wire.mu.Unlock()
	if hit {
		return act(c, p)
	}
	return c.Conn.Write(p)
}

func (c *wireConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.deaf && err == nil {
		c.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

// async runs f and delivers its error.
func async(t *testing.T, f func() error) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { done <- f() })
	t.Cleanup(wg.Wait)
	return done
}

// Package gate stops or severs all connections of one client at once.
package gate

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// ErrSevered is what every operation of a crashed client ends with.
var ErrSevered = errors.New("client has crashed")

// A Gate stands between one incarnation of a client and all of its connections,
// renewals included. Pause is a stopped process: no read, write or dial
// returns to the client, or reaches the network, until Resume. Sever is a
// killed one: its connections are closed, for good.
//
// A stopped process does not see its deadlines pass either. An operation whose
// deadline passes while the gate is shut still waits for Resume and then
// returns what had happened by then: data that had arrived first, or else the
// timeout. Close returns at once, since a client's clean-up may run outside any
// pause point, but nothing of it reaches the network before Resume.
//
// Every wait ends with Resume or Sever. Whoever makes a Gate calls Sever when the
// client is done with.
type Gate struct {
	mu      sync.Mutex
	pauses  int
	open    chan struct{} // closed while nothing pauses
	severed chan struct{} // closed by Sever
	conns   map[*gatedConn]struct{}
	late    []*gatedConn // closed by the client while paused
	stopped int          // operations that the pauses in force have stopped
}

// New returns an open gate.
func New() *Gate {
	g := &Gate{open: make(chan struct{}), severed: make(chan struct{}), conns: map[*gatedConn]struct{}{}}
	close(g.open)
	return g
}

// Pause shuts the gate. Pauses nest: each needs its own Resume.
func (g *Gate) Pause() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pauses++; g.pauses == 1 {
		g.open = make(chan struct{})
		g.stopped = 0
	}
}

// Resume undoes one Pause. It returns how many operations the gate has stopped
// since it shut, and does nothing at an open gate.
func (g *Gate) Resume() (stopped int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pauses == 0 {
		return 0
	}
	if g.pauses--; g.pauses > 0 {
		return g.stopped
	}
	for _, c := range g.late {
		_ = c.Conn.Close()
	}
	g.late = nil
	close(g.open)
	return g.stopped
}

// Paused reports whether the gate is shut.
func (g *Gate) Paused() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pauses > 0
}

// Sever closes every connection and refuses new ones. It returns how many were
// open.
func (g *Gate) Sever() (closed int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.severed:
		return 0
	default:
	}
	close(g.severed)
	for c := range g.conns {
		_ = c.Conn.Close()
	}
	for _, c := range g.late {
		_ = c.Conn.Close()
	}
	closed = len(g.conns)
	g.conns, g.late = nil, nil
	return closed
}

// Wait is a pause point for the client's own code: it returns when the gate is
// open, or with an error when the client has crashed or ctx ends.
func (g *Gate) Wait(ctx context.Context) error { return g.await(ctx.Done(), ctx.Err) }

// await waits for the open gate, or returns why's error once cancel is closed.
func (g *Gate) await(cancel <-chan struct{}, why func() error) error {
	for counted := false; ; counted = true {
		g.mu.Lock()
		open, shut := g.open, g.pauses > 0
		if shut && !counted {
			g.stopped++
		}
		g.mu.Unlock()
		select {
		case <-g.severed:
			return ErrSevered
		default:
		}
		if !shut {
			return nil
		}
		select {
		case <-open:
		case <-g.severed:
		case <-cancel:
			return why()
		}
	}
}

// Dial connects with dial and puts the connection behind the gate.
func (g *Gate) Dial(ctx context.Context, dial func(context.Context) (net.Conn, error)) (net.Conn, error) {
	if err := g.await(nil, nil); err != nil {
		return nil, err
	}
	conn, err := dial(ctx)
	if stopped := g.await(nil, nil); stopped != nil {
		if err == nil {
			_ = conn.Close()
		}
		return nil, stopped
	}
	if err != nil {
		return nil, err
	}
	c := &gatedConn{Conn: conn, gate: g, closed: make(chan struct{})}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conns == nil {
		return nil, errors.Join(ErrSevered, conn.Close())
	}
	g.conns[c] = struct{}{}
	return c, nil
}

// A gatedConn is a connection behind a gate.
type gatedConn struct {
	net.Conn
	gate   *Gate
	once   sync.Once
	closed chan struct{}
}

func (c *gatedConn) await() error {
	return c.gate.await(c.closed, func() error { return net.ErrClosed })
}

// Read implements net.Conn.
func (c *gatedConn) Read(p []byte) (int, error) {
	if err := c.await(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	if stopped := c.await(); stopped != nil {
		return 0, stopped
	}
	return n, err
}

// Write implements net.Conn.
func (c *gatedConn) Write(p []byte) (int, error) {
	if err := c.await(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	if stopped := c.await(); stopped != nil {
		return n, stopped
	}
	return n, err
}

// SyscallConn implements syscall.Conn: client libraries look through it whether
// an idle connection has been closed.
func (c *gatedConn) SyscallConn() (syscall.RawConn, error) {
	if err := c.await(); err != nil {
		return nil, err
	}
	return raw(c.Conn)
}

// Close implements net.Conn. At a shut gate it wakes the connection's own
// operations and leaves the closing to Resume.
func (c *gatedConn) Close() error {
	err := net.ErrClosed
	c.once.Do(func() {
		close(c.closed)
		err = c.gate.release(c)
	})
	return err
}

// release closes c, when the gate opens if it is shut.
func (g *Gate) release(c *gatedConn) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, known := g.conns[c]
	delete(g.conns, c)
	switch {
	case !known: // severed
		return nil
	case g.pauses > 0:
		g.late = append(g.late, c)
		return c.Conn.SetDeadline(time.Unix(1, 0))
	}
	return c.Conn.Close()
}

func raw(c net.Conn) (syscall.RawConn, error) {
	open, ok := c.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return open.SyscallConn()
}

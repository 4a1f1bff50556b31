package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Conn is one end of a connection.
type Conn struct{ in, out *pipe }

// pipe is one direction of a connection.
type pipe struct {
	way  *Way
	wake chan struct{}

	mu       sync.Mutex
	chunks   []chunk
	eof      bool // the writer has closed
	closed   bool // the reader has closed
	deadline time.Time
}

type chunk struct {
	at   time.Time
	data []byte
}

func (p *pipe) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pipe) discard() {
	p.mu.Lock()
	p.chunks = nil
	p.mu.Unlock()
}

func (p *pipe) pending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.chunks) > 0
}

// Write implements net.Conn. It never blocks.
func (c *Conn) Write(b []byte) (int, error) {
	p := c.out
	_, drop, delay := p.way.state()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.eof:
		return 0, net.ErrClosed
	case p.closed:
		return 0, io.ErrClosedPipe
	case !drop:
		p.chunks = append(p.chunks, chunk{time.Now().Add(delay), append([]byte(nil), b...)})
		p.poke()
	}
	return len(b), nil
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	for {
		n, wait, err := c.in.read(b)
		if n > 0 || err != nil {
			return n, err
		}
		if wait <= 0 {
			<-c.in.wake
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-c.in.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// read reads what has arrived; otherwise it says how long to wait for the next
// thing to happen by itself, or 0.
func (p *pipe) read(b []byte) (n int, wait time.Duration, err error) {
	hold, _, _ := p.way.state()
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	switch {
	case p.closed:
		return 0, 0, net.ErrClosed
	case !p.deadline.IsZero() && !now.Before(p.deadline):
		return 0, 0, os.ErrDeadlineExceeded
	case !p.deadline.IsZero():
		wait = p.deadline.Sub(now)
	}
	if hold {
		return 0, wait, nil
	}
	if len(p.chunks) == 0 {
		if p.eof {
			return 0, 0, io.EOF
		}
		return 0, wait, nil
	}
	if due := p.chunks[0].at.Sub(now); due > 0 {
		if wait == 0 || due < wait {
			wait = due
		}
		return 0, wait, nil
	}
	n = copy(b, p.chunks[0].data)
	if p.chunks[0].data = p.chunks[0].data[n:]; len(p.chunks[0].data) == 0 {
		p.chunks = p.chunks[1:]
	}
	return n, 0, nil
}

// Close implements net.Conn. What was written before still arrives.
func (c *Conn) Close() error {
	c.out.mu.Lock()
	c.out.eof = true
	c.out.mu.Unlock()
	c.out.poke()
	c.in.mu.Lock()
	c.in.closed = true
	c.in.mu.Unlock()
	c.in.poke()
	return nil
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.mu.Lock()
	c.in.deadline = t
	c.in.mu.Unlock()
	c.in.poke()
	return nil
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline implements net.Conn: writes do not wait.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

type addr struct{}

func (addr) Network() string { return "memory" }
func (addr) String() string  { return "memory" }

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return addr{} }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return addr{} }

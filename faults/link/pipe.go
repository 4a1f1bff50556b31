package link

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// newPipe returns the two ends of a connection in memory. Unlike those of
// net.Pipe its writes never block, as those of a socket with room in its buffer.
func newPipe() (a, b net.Conn) {
	there, back := newHalf(), newHalf()
	return &pipeEnd{in: back, out: there}, &pipeEnd{in: there, out: back}
}

// A half is one direction of a pipe.
type half struct {
	mu       sync.Mutex
	data     []byte
	eof      bool          // the writer has closed
	dead     bool          // the reader has closed
	deadline time.Time     // of the reader; zero is none
	changed  chan struct{} // closed and replaced on every change
}

func newHalf() *half { return &half{changed: make(chan struct{})} }

// change runs set and wakes the reader.
func (h *half) change(set func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	set()
	close(h.changed)
	h.changed = make(chan struct{})
}

// read waits for data, the end, or the deadline.
func (h *half) read(p []byte) (int, error) {
	for {
		h.mu.Lock()
		switch {
		case h.dead:
			h.mu.Unlock()
			return 0, net.ErrClosed
		case !h.deadline.IsZero() && !time.Now().Before(h.deadline):
			h.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case len(h.data) > 0 || len(p) == 0:
			n := copy(p, h.data)
			h.data = h.data[n:]
			h.mu.Unlock()
			return n, nil
		case h.eof:
			h.mu.Unlock()
			return 0, io.EOF
		}
		changed, deadline := h.changed, h.deadline
		h.mu.Unlock()
		if deadline.IsZero() {
			<-changed
			continue
		}
		timer := time.NewTimer(time.Until(deadline))
		select {
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (h *half) write(p []byte) (n int, err error) {
	h.change(func() {
		switch {
		case h.eof:
			err = net.ErrClosed
		case h.dead:
			err = io.ErrClosedPipe
		default:
			h.data = append(h.data, p...)
			n = len(p)
		}
	})
	return n, err
}

// A pipeEnd implements net.Conn. Write deadlines have nothing to bound.
type pipeEnd struct{ in, out *half }

func (e *pipeEnd) Read(p []byte) (int, error)  { return e.in.read(p) }
func (e *pipeEnd) Write(p []byte) (int, error) { return e.out.write(p) }

func (e *pipeEnd) Close() error {
	e.in.change(func() { e.in.dead = true })
	e.out.change(func() { e.out.eof = true })
	return nil
}

func (e *pipeEnd) LocalAddr() net.Addr  { return pipeAddr{} }
func (e *pipeEnd) RemoteAddr() net.Addr { return pipeAddr{} }

func (e *pipeEnd) SetDeadline(t time.Time) error { return e.SetReadDeadline(t) }

func (e *pipeEnd) SetReadDeadline(t time.Time) error {
	e.in.change(func() { e.in.deadline = t })
	return nil
}

func (e *pipeEnd) SetWriteDeadline(time.Time) error { return nil }

// pipeAddr is the address of what has none.
type pipeAddr struct{}

func (pipeAddr) Network() string { return "memory" }
func (pipeAddr) String() string  { return "memory" }

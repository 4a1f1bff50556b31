package socket

import (
	"net"
	"sync"
	"syscall"
)

// An Inbound is one connection of a client in another process.
type Inbound struct {
	*net.TCPConn
	raw syscall.RawConn

	mu      sync.Mutex
	passing bool // bytes have been read that the link has not taken yet
}

// NewInbound returns the connection that near is.
func NewInbound(near net.Conn) (c *Inbound, err error) {
	c = &Inbound{TCPConn: near.(*net.TCPConn)}
	c.raw, err = c.SyscallConn()
	return c, err
}

// Passed notes that the link has taken what was read.
func (c *Inbound) Passed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passing = false
}

// Reset closes the connection by RST.
func (c *Inbound) Reset() {
	_ = c.SetLinger(0)
	_ = c.Close()
}

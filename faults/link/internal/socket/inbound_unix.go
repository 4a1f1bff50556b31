//go:build unix

package socket

import (
	"errors"
	"io"
	"syscall"
)

// CanCarry says that links have ingresses here.
func CanCarry() error { return nil }

// Read implements net.Conn. No look at the connection falls between the moment at
// which bytes leave the socket and the one at which they count as passing.
func (c *Inbound) Read(p []byte) (n int, err error) {
	waited := c.raw.Read(func(fd uintptr) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for {
			if n, err = syscall.Read(int(fd), p); !errors.Is(err, syscall.EINTR) {
				break
			}
		}
		if errors.Is(err, syscall.EAGAIN) {
			return false
		}
		c.passing = n > 0
		return true
	})
	switch {
	case waited != nil:
		return 0, waited
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Idle reports whether nothing of the client's is on its way to the link.
func (c *Inbound) Idle() bool {
	empty := true
	_ = c.raw.Control(func(fd uintptr) { // a closed one is empty
		c.mu.Lock()
		defer c.mu.Unlock()
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		empty = !c.passing && (err != nil || n == 0)
	})
	return empty
}

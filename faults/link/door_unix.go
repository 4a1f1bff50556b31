//go:build unix

package link

import (
	"errors"
	"io"
	"syscall"
)

// canVisit says that links have doors here.
func canVisit() error { return nil }

// read reads as near.Read does. No look at the visit falls between the moment at
// which bytes leave the socket and the one at which they count as passing.
func (v *visit) read(p []byte) (n int, err error) {
	waited := v.raw.Read(func(fd uintptr) bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		for {
			if n, err = syscall.Read(int(fd), p); !errors.Is(err, syscall.EINTR) {
				break
			}
		}
		if errors.Is(err, syscall.EAGAIN) {
			return false
		}
		v.passing = n > 0
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

// idle reports whether nothing of the client's is on its way to the link.
func (v *visit) idle() bool {
	empty := true
	_ = v.raw.Control(func(fd uintptr) { // a closed one is empty
		v.mu.Lock()
		defer v.mu.Unlock()
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		empty = !v.passing && (err != nil || n == 0)
	})
	return empty
}

package socket

import (
	"errors"
	"net"
	"strconv"
	"syscall"
	"time"
)

// Hold keeps addr for this process while nothing listens there: dials are
// refused, and no other process can listen. release gives it up.
//
// The socket is bound and never listens. It is bound with SO_REUSEADDR, since
// connections of the past may linger on the port, and has it no longer
// afterwards, since another process could share the port otherwise.
func Hold(addr string) (release func() error, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	at := &syscall.SockaddrInet4{Port: port}
	copy(at.Addr[:], net.ParseIP(host).To4())
	deadline := time.NewTimer(holdPatience)
	defer deadline.Stop()
	retry := time.NewTicker(holdRetry)
	defer retry.Stop()
	for {
		fd, err := bindOnly(at)
		if err == nil {
			return func() error { return syscall.Close(fd) }, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
		select {
		case <-retry.C:
		case <-deadline.C:
			return nil, err
		}
	}
}

// bindOnly returns a socket that is bound to at and does not listen.
func bindOnly(at *syscall.SockaddrInet4) (fd int, err error) {
	fd, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(fd, at)
	}
	if err == nil {
		err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return 0, err
	}
	return fd, nil
}

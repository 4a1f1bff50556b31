// Package socket does to the sockets of this process what the net package does
// not offer: ports that are kept while nobody listens, dials that are left
// unanswered, connections whose unread bytes can be seen.
package socket

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"syscall"
	"time"
)

// Reserve takes a port for the links of this process, for as long as the link
// stands: a proxy that stops and starts again leaves its port free for a moment,
// in which another process's proxy must not take it. Where the system has no
// abstract sockets (they share the reach of ports: the network namespace),
// nothing is reserved.
func Reserve(port int) (release func() error, err error) {
	if runtime.GOOS != "linux" {
		return func() error { return nil }, nil
	}
	c, err := net.ListenPacket("unixgram", fmt.Sprintf("@locktorture-port-%d", port))
	if err != nil {
		return nil, fmt.Errorf("reserve port %d: %w", port, err)
	}
	return c.Close, nil
}

// Patiently repeats listen while its port is in use: a child process that is
// being started shares every socket until it runs its own program, that which
// held the port as well.
func Patiently(listen func() error) (err error) {
	for deadline := time.Now().Add(holdPatience); ; time.Sleep(holdRetry) {
		if err = listen(); !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(deadline) {
			return err
		}
	}
}

// A child process that is being started shares every socket of this one until
// it runs its own program: a listener that was closed meanwhile lives on for
// that long.
const (
	holdPatience = time.Second
	holdRetry    = time.Millisecond
)

// Package socket does to the sockets of this process what the net package does
// not offer: ports that are kept while nobody listens, dials that are left
// unanswered, connections whose unread bytes can be seen.
package socket

import (
	"errors"
	"syscall"
	"time"
)

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

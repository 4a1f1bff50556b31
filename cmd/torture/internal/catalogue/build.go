package catalogue

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"locktorture/cmd/torture/internal/config"
	"locktorture/lockimpl"
)

// A DialsError says that a constructor connects, which it cannot before servers run: what
// the lock can do shows only then.
type DialsError struct{ Err error }

func (e *DialsError) Error() string { return e.Err.Error() }

// Unwrap returns what the constructor said.
func (e *DialsError) Unwrap() error { return e.Err }

// Build makes the lock on n masters that nobody can reach. A lock in a child
// process is not built: that would start it. A constructor that panics has failed.
func (l Lock) Build(c config.Config, n int) (built lockimpl.Locker, err error) {
	if l.Child {
		return notBuilt{}, nil
	}
	var dialled atomic.Bool
	nodes := make([]lockimpl.Node, n)
	for i := range nodes {
		nodes[i] = lockimpl.Node{Name: fmt.Sprintf("n%d", i+1), Addr: fmt.Sprintf("192.0.2.%d:6379", i+1), Dial: func(context.Context, string, string) (net.Conn, error) {
			dialled.Store(true)
			return nil, errors.New("nothing is started yet")
		}}
	}
	defer func() {
		if p := recover(); p != nil {
			built, err = nil, fmt.Errorf("its constructor panicked: %v", p)
		}
		if err != nil && dialled.Load() {
			err = &DialsError{err}
		}
	}()
	built, err = l.Factory(c)(nodes)
	if err == nil && built == nil {
		return nil, errors.New("its constructor returned neither a lock nor an error")
	}
	return built, err
}

// notBuilt stands for a lock that is not built.
type notBuilt struct{ lockimpl.Locker }

// Close implements lockimpl.Locker.
func (notBuilt) Close() error { return nil }

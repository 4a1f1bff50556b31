package catalogue

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/lockimpl"
)

// A DialsError says that a constructor connects, which it cannot before servers run: what
// the lock can do shows only then.
type DialsError struct{ Err error }

func (e *DialsError) Error() string { return e.Err.Error() }

// Unwrap returns what the constructor said.
func (e *DialsError) Unwrap() error { return e.Err }

var errNothingBuilt = errors.New("its constructor returned neither a lock nor an error")

// buildPatience is how long a constructor may take. One that tries until it is connected
// never returns.
const buildPatience = 10 * time.Second

// Build makes the lock on n masters that nobody can reach. A lock in a child
// process is not built: that would start it. A constructor that panics or does not
// return has failed.
func (l Lock) Build(c config.Config, n int) (lockimpl.Locker, error) {
	if l.Child {
		return notBuilt{}, nil
	}
	var dialled atomic.Bool
	givenUp := make(chan struct{})
	nodes := make([]lockimpl.Node, n)
	for i := range nodes {
		nodes[i] = lockimpl.Node{Name: fmt.Sprintf("n%d", i+1), Addr: fmt.Sprintf("192.0.2.%d:6379", i+1), Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialled.Store(true)
			select {
			case <-givenUp: // from now on its tries cost nothing
				<-ctx.Done()
			default:
			}
			return nil, errors.New("nothing is started yet")
		}}
	}
	done := make(chan built, 1)
	go func() { done <- construct(l.Factory(c), nodes) }()
	var b built
	select {
	case b = <-done:
	case <-time.After(buildPatience):
		b.err = fmt.Errorf("its constructor has not returned in %s", buildPatience)
		close(givenUp)
		go func() { // it may return yet
			if b := <-done; b.err == nil {
				_ = b.lock.Close()
			}
		}()
	}
	if b.err != nil && dialled.Load() {
		b.err = &DialsError{b.err}
	}
	return b.lock, b.err
}

// A built lock, or why there is none.
type built struct {
	lock lockimpl.Locker
	err  error
}

// construct calls a factory.
func construct(f lockimpl.Factory, nodes []lockimpl.Node) (b built) {
	defer func() {
		if p := recover(); p != nil {
			b = built{err: fmt.Errorf("its constructor panicked: %v", p)}
		}
	}()
	if b.lock, b.err = f(nodes); b.err == nil && b.lock == nil {
		b.err = errNothingBuilt
	}
	return b
}

// notBuilt stands for a lock that is not built.
type notBuilt struct{ lockimpl.Locker }

// Close implements lockimpl.Locker.
func (notBuilt) Close() error { return nil }

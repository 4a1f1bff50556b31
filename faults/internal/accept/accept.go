// Package accept serves the connections of a listener until it is closed.
package accept

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// A Loop accepts the connections of one listener. Each is served by a goroutine of its
// own, and closed when that returns or the loop is closed.
type Loop struct {
	listener net.Listener
	ctx      context.Context // ends with the loop
	end      context.CancelFunc
	running  sync.WaitGroup
}

// New returns a loop that accepts nothing yet; Close closes l.
func New(l net.Listener) *Loop {
	loop := &Loop{listener: l}
	loop.ctx, loop.end = context.WithCancel(context.Background())
	return loop
}

// Addr returns where the listener is: host:port.
func (l *Loop) Addr() string { return l.listener.Addr().String() }

// Context returns a context that ends when the loop is closed.
func (l *Loop) Context() context.Context { return l.ctx }

// Go runs f, which must return soon after the loop is closed.
func (l *Loop) Go(f func()) { l.running.Go(f) }

// retryPause is the time between two attempts to accept where the system refuses:
// this process may have as many files open as it may.
const retryPause = 10 * time.Millisecond

// Serve has admit called for every connection, before the next one is accepted. What it
// returns serves the connection and must return once that is closed; nil turns it away.
func (l *Loop) Serve(admit func(net.Conn) (serve func())) {
	l.Go(func() {
		for l.ctx.Err() == nil {
			conn, err := l.listener.Accept()
			switch {
			case err == nil:
				l.serve(conn, admit)
			case errors.Is(err, net.ErrClosed):
				return
			default:
				select {
				case <-time.After(retryPause):
				case <-l.ctx.Done():
				}
			}
		}
	})
}

func (l *Loop) serve(conn net.Conn, admit func(net.Conn) func()) {
	serve := admit(conn)
	if serve == nil {
		_ = conn.Close()
		return
	}
	l.Go(func() {
		defer Tie(l.ctx, conn)()
		serve()
	})
}

// Close closes the listener and every connection, and returns when nothing of the loop
// runs any more.
func (l *Loop) Close() error {
	l.end()
	err := l.listener.Close()
	l.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Tie has c closed when ctx ends. The function that it returns closes c at once.
func Tie(ctx context.Context, c io.Closer) (release func()) {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	return func() {
		stop()
		_ = c.Close()
	}
}

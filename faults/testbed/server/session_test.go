package server

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A command to a server that does not answer ends with its context, and says so: it is no
// trouble of the network.
func TestSessionEndsWithItsContext(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		"cancelled": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, context.Canceled},
		"timed out": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				defer far.Close()
				go func() { _, _ = io.Copy(io.Discard, far) }()
				ctx, cancel := c.end(t.Context())
				defer cancel()
				s := NewSession(ctx, near)
				defer s.Close()
				if reply, err := s.Do("PING"); !errors.Is(err, c.want) {
					t.Errorf("PING: %v, %v; want %v", reply, err, c.want)
				}
			})
		})
	}
}

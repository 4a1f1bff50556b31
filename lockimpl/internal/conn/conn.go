// Package conn opens the Redis connections of the locks under test, all with
// the same settings, so that what is judged is the lock and not its client.
package conn

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locktorture/lockimpl"
)

const (
	// poolSize is far above what one client needs: go-redis stops dialling
	// for up to a second once as many dials as this have failed.
	poolSize = 1024

	// buffer is enough for any command of a lock; the default of 32 KiB each
	// way adds up over clients × nodes.
	buffer = 4 << 10

	// dialTimeout bounds dialling where the caller's context does not.
	dialTimeout = 2 * time.Second
)

// Options returns the client settings for n: no retry within a call (it would
// hide that the first try may have been executed), deadlines of the context
// honoured, nothing sent but the lock's own commands, and every connection
// dialled through n.
func Options(n lockimpl.Node) *redis.Options {
	o := &redis.Options{
		Addr:                     n.Addr,
		Dialer:                   Dialer(n),
		MaxRetries:               -1,
		DialerRetries:            1,
		DialTimeout:              dialTimeout,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		PoolSize:                 poolSize,
		PipelinePoolSize:         -1,
		ReadBufferSize:           buffer,
		WriteBufferSize:          buffer,
	}
	if n.Dial == nil { // nobody has logged in
		o.Username, o.Password, o.DB = n.Username, n.Password, n.DB
	}
	return o
}

// Open returns a client for n, or for the master that n's Sentinels name. It does
// not connect before the first command.
func Open(n lockimpl.Node) *redis.Client {
	if n.Sentinel != nil {
		return redis.NewFailoverClient(failover(n))
	}
	return redis.NewClient(Options(n))
}

// Dialer returns n's own dialer, or plain TCP when n has none.
func Dialer(n lockimpl.Node) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := n.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err == nil && ctx.Value(ending{}) != nil && (n.Sentinel == nil || !slices.Contains(n.Sentinel.Addrs, addr)) {
			context.AfterFunc(ctx, func() { _ = c.Close() })
		}
		return c, err
	}
}

// ending marks the contexts of Ending.
type ending struct{}

// Ending returns a context like ctx whose end closes the connections to masters that are dialled under
// it. It is for a subscription alone, which reads without heeding its context, and whose Close waits
// while it connects anew; a client may give a connection that was dialled for a command to the next
// one, and keeps those to Sentinels. cancel must be called.
func Ending(ctx context.Context) (_ context.Context, cancel context.CancelFunc) {
	return context.WithCancel(context.WithValue(ctx, ending{}, true))
}

// Unsent reports whether err proves that the command never left: no connection
// could be made to carry it.
func Unsent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

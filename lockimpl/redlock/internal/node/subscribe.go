package node

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	resubscribe  = 50 * time.Millisecond // pause before another connection; twice as long after each that did not last
	resubscribed = time.Second           // the longest such pause; a connection that lived as long has lasted
	quiet        = 2 * time.Second       // silence after which a sign of life is asked for
)

// An Ear takes what a subscription brings. Ready is called whenever the
// subscription is in force, Hear with every message. Draw returns a number
// from 0 to below n, to spread what many clients do again at once.
type Ear struct {
	Ready func()
	Hear  func(message string)
	Draw  func(n int64) int64
}

// Subscribe listens to channel until ctx ends. It connects again whenever the
// connection is lost, ever more rarely while none lasts; what was published
// meanwhile is not heard.
func (n *Node) Subscribe(ctx context.Context, channel string, ear Ear) {
	pause := resubscribe
	for ctx.Err() == nil {
		if c, err := n.dialSub(ctx); err == nil {
			began := time.Now()
			n.listen(ctx, c, channel, ear)
			if time.Since(began) >= resubscribed {
				pause = resubscribe
			}
		}
		timer := time.NewTimer(pause/2 + time.Duration(ear.Draw(int64(pause/2))))
		pause = min(2*pause, resubscribed)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

func (n *Node) dialSub(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, n.cfg.Timeout)
	defer cancel()
	return n.cfg.Dial(ctx, "tcp", n.cfg.Addr)
}

// listen receives on one connection until it fails.
func (n *Node) listen(ctx context.Context, c net.Conn, channel string, ear Ear) {
	client := redis.NewClient(n.options(c))
	defer c.Close()
	defer client.Close()
	sub := client.Subscribe(ctx, channel)
	defer sub.Close()
	stop := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer stop()
	for asked := false; ; {
		msg, err := sub.ReceiveTimeout(ctx, quiet)
		switch {
		case err == nil:
			asked = false
			switch m := msg.(type) {
			case *redis.Message:
				ear.Hear(m.Payload)
			case *redis.Subscription:
				ear.Ready()
			}
		case isTimeout(err) && !asked && ctx.Err() == nil:
			asked = true
			if sub.Ping(ctx) != nil {
				return
			}
		default:
			return
		}
	}
}

// options returns go-redis settings under which nothing is retried out of
// sight and every wait is bounded.
func (n *Node) options(c net.Conn) *redis.Options {
	return &redis.Options{
		Dialer:                once(c),
		OnConnect:             n.login,
		Username:              n.cfg.Username,
		Password:              n.cfg.Password,
		Protocol:              2,
		MaxRetries:            -1,
		DialerRetries:         1,
		DialTimeout:           n.cfg.Timeout,
		ReadTimeout:           n.cfg.Timeout,
		WriteTimeout:          n.cfg.Timeout,
		ContextTimeoutEnabled: true,
		DisableIdentity:       true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}
}

// login names a user that has no password, which go-redis would pass over.
func (n *Node) login(ctx context.Context, c *redis.Conn) error {
	if n.cfg.Username == "" || n.cfg.Password != "" {
		return nil
	}
	return c.AuthACL(ctx, n.cfg.Username, "").Err()
}

var errSpent = errors.New("connection was used")

// once returns a dialer that yields c and nothing after it.
func once(c net.Conn) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		if c == nil {
			return nil, errSpent
		}
		out := c
		c = nil
		return out, nil
	}
}

// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package node

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	resubscribe  = 50 * time.Millisecond // pause before another connection; twice as long after each that did not last
	resubscribed = time.Second           // the longest such pause; a connection that lived as long has lasted
	quiet        = 2 * time.Second       // silence after which a sign of life is asked for
)

// A Subscriber takes what a subscription brings. Ready is called whenever the
// subscription is in force, Hear with every message. Draw returns a number
// from 0 to below n, to spread what many clients do again at once.
type Subscriber struct {
	Ready func()
	Hear  func(message string)
	Draw  func(n int64) int64
}

// Subscribe listens to channel until ctx ends. It connects again whenever the
// connection is lost, ever more rarely while none lasts; what was published
// meanwhile is not heard.
func (n *Node) Subscribe(ctx context.Context, channel string, subscriber Subscriber) {
	pause := resubscribe
	for ctx.Err() == nil {
		if client, w, err := n.reachWithin(ctx); err == nil {
			began := time.Now()
			n.listenFor(ctx, func() { _ = n.listen(ctx, client, w, channel, subscriber) }) // whatever ended it, the next one may last
			if time.Since(began) >= resubscribed {
				pause = resubscribe
			}
		}
		timer := time.NewTimer(pause/2 + time.Duration(subscriber.Draw(int64(pause/2))))
		pause = min(2*pause, resubscribed)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// listenFor returns when listen has, and after the end of ctx no later than the node's
// timeout: a client's dial that does not heed its context ends by itself.
func (n *Node) listenFor(ctx context.Context, listen func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		listen()
	}()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	late := time.NewTimer(n.cfg.Timeout)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
	}
}

// reachWithin is reach with the time for it.
func (n *Node) reachWithin(ctx context.Context) (*redis.Client, *wire, error) {
	ctx, cancel := context.WithTimeout(ctx, secured*n.cfg.Timeout)
	defer cancel()
	return n.reach(ctx)
}

// listen receives on one connection until it fails.
func (n *Node) listen(ctx context.Context, client *redis.Client, w *wire, channel string, subscriber Subscriber) (broken error) {
	defer recoverProtocol(&broken)
	if w != nil {
		defer w.Close()
		defer client.Close()
	}
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
				subscriber.Hear(m.Payload)
			case *redis.Subscription:
				subscriber.Ready()
			}
		case isTimeout(err) && !asked && ctx.Err() == nil:
			asked = true
			if err := sub.Ping(ctx); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

package node

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locktorture/lockimpl/internal/memnet"
	"locktorture/lockimpl/internal/redistest"
)

// Every pipeline to a server that falls silent ends with the node's time-out,
// whatever the one before it was, and also where that one's time was nearly up.
func TestEveryPipelineHasADeadline(t *testing.T) {
	const limit = time.Second
	for _, given := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			server := miniredis.NewMiniRedis()
			c, err := server.Dial() // starts it without a listener
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
			defer server.Close()
			redistest.Identify(server)
			link := memnet.New(server.Server().ServeConn)
			opt := &redis.Options{
				Addr: "127.0.0.1:1",
				Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
					return link.Dial(ctx, network, addr)
				},
				MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
			}
			cfg := Config{Name: "n", Timeout: limit, Options: opt}
			if given {
				cfg.Client = redis.NewClient(opt)
				defer cfg.Client.Close()
			}
			n := New(cfg)
			defer n.Close()
			for _, answered := range []time.Duration{0, limit / 2, limit - time.Millisecond} { // what the one before takes
				if _, err := n.Do(t.Context(), increment("a")); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				link.Down.Delay(answered)
				if _, err := n.Do(t.Context(), increment("a")); err != nil {
					t.Fatal(err)
				}
				link.Down.Delay(0)
				link.Down.Hold()
				ctx, cancel := context.WithTimeout(t.Context(), 10*limit)
				began := time.Now()
				r, err := n.Do(ctx, increment("a"))
				cancel()
				if took := time.Since(began); err == nil || took != limit {
					t.Errorf("client given %v, %v after one that took %v: answered %d (%v) after %v, want an error after %v",
						given, limit, answered, r.Int(), err, took, limit)
				}
				link.Down.Free()
				link.Cut()
				time.Sleep(2 * limit)
			}
		})
	}
}

package redlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// Servers to which connecting takes more round trips than fit into NodeTimeout are connected
// to all the same, behind the calls that ask for it: those that ask before are told so, and
// the next finds the connection.
func TestConnectingMayTakeLongerThanNodeTimeout(t *testing.T) {
	const trip = 125 * time.Millisecond // of which four are the default NodeTimeout
	options := func(nodes []lockimpl.Node) (all []*redis.Options) {
		for _, n := range nodes {
			all = append(all, &redis.Options{
				Addr: n.Name, Dialer: n.Dial, Protocol: 2, DisableIdentity: true, DialerRetries: 1,
				MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
				OnConnect: func(ctx context.Context, c *redis.Conn) error {
					for range 4 { // as many more as TLS, AUTH and SELECT take
						if err := c.Ping(ctx).Err(); err != nil {
							return err
						}
					}
					return nil
				},
			})
		}
		return all
	}
	for name, build := range map[string]func(t *testing.T, nodes []lockimpl.Node) (*redlock.Lock, error){
		"options": func(_ *testing.T, nodes []lockimpl.Node) (*redlock.Lock, error) {
			return redlock.NewFromOptions(redlock.Config{}, options(nodes)...)
		},
		"clients": func(t *testing.T, nodes []lockimpl.Node) (*redlock.Lock, error) {
			var clients []redis.UniversalClient
			for _, o := range options(nodes) {
				c := redis.NewClient(o)
				t.Cleanup(func() { _ = c.Close() })
				clients = append(clients, c)
			}
			return redlock.New(redlock.Config{}, clients...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			world.Run(t, 3, func(t *testing.T, w *world.World) {
				raw, links := w.Client(func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
					l, err := build(t, nodes)
					return &redlock.Locker{Lock: l}, err
				})
				for _, link := range links {
					link.Up.Delay(trip / 2)
					link.Down.Delay(trip / 2)
				}
				l := raw.(*redlock.Locker).Lock
				began := time.Now()
				_, err := l.Acquire(t.Context(), "k", 5*time.Second)
				if !errors.Is(err, redlock.ErrNoQuorum) || !strings.Contains(err.Error(), "NodeTimeout") {
					t.Errorf("while connecting: %v", err)
				}
				if took := time.Since(began); took > 500*time.Millisecond {
					t.Errorf("told after %v", took)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				lease, err := l.AcquireWait(ctx, "k", 5*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > 16*trip {
					t.Errorf("granted after %v", took)
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
				began = time.Now()
				if lease, err = l.Acquire(t.Context(), "k", 5*time.Second); err != nil || time.Since(began) > 2*trip {
					t.Errorf("connected, granted after %v: %v", time.Since(began), err)
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A server that says nothing while it is connected to costs one NodeTimeout, not that of
// every exchange.
func TestSilentServerIsGivenUpAtItsFirstSilence(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{})
		links[0].Up.Drop()
		began := time.Now()
		if _, err := l.Acquire(t.Context(), "k", 5*time.Second); !errors.Is(err, redlock.ErrNoQuorum) {
			t.Errorf("silent: %v", err)
		}
		links[0].Up.Free()
		lease, err := l.AcquireWait(t.Context(), "k", 5*time.Second)
		if err != nil || time.Since(began) > time.Second {
			t.Fatalf("granted after %v: %v", time.Since(began), err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

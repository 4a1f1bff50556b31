package catalogue

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/link/gate"
)

// gatedClient is a client whose connections pass a gate, as those of a run do.
type gatedClient struct {
	name string
	rig  *rig

	mu   sync.Mutex
	gate *gate.Gate
}

func gated(t *testing.T, r *rig, i int) *gatedClient {
	c := &gatedClient{name: r.Clients[i].Name(), rig: r, gate: gate.New()}
	r.Clients[i] = c
	t.Cleanup(func() { c.current().Sever() })
	return c
}

func (c *gatedClient) current() *gate.Gate {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gate
}

func (c *gatedClient) Name() string { return c.name }

func (c *gatedClient) Pause(context.Context) (string, error) {
	c.current().Pause()
	return c.name + " stands still", nil
}

func (c *gatedClient) Resume(context.Context) (string, error) {
	c.current().Resume()
	return c.name + " goes on", nil
}

func (c *gatedClient) Crash(context.Context) (string, error) {
	return fmt.Sprintf("%d connections closed", c.current().Sever()), nil
}

func (c *gatedClient) Restart(context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gate = gate.New()
	return c.name + " started", nil
}

// dial returns a Redis client of the present incarnation.
func (c *gatedClient) dial(t *testing.T) *redis.Client {
	gate := c.current()
	rdb := redis.NewClient(&redis.Options{
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return gate.Dial(ctx, c.rig.Link(c.name, "n1").Dial)
		},
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true, DisableIdentity: true, Protocol: 2, PoolSize: 1,
	})
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// A holder that stands still does not act until its lease has run out and
// another has it; then it goes on where it was.
func TestPauseClient(t *testing.T) {
	onEach(t, 1, 2, func(t *testing.T, r *rig) {
		r.TTL = 300 * time.Millisecond
		c, other := gated(t, r, 0), r.Dial(t, "c01", "n1")
		rdb := c.dial(t)
		r.Grant("k", "c00") // it ends no later than the key
		if err := rdb.SetNX(t.Context(), "k", "c00", r.TTL).Err(); err != nil {
			t.Fatal(err)
		}
		f := r.inject(t, "pause-client", faults.Params{Client: faults.RoleHolder})
		saw := make(chan string, 1)
		go func() { saw <- rdb.Get(context.WithoutCancel(t.Context()), "k").Val() }()
		r.await(t, r.Node("n1"), "k", "<nil>")
		if err := faulttest.Set(t, other, faulttest.Late, "k", "c01"); err != nil {
			t.Fatal(err)
		}
		select {
		case v := <-saw:
			t.Errorf("while it stood still it read %q", v)
		default:
		}
		f.healed(t, "holder c00 of k outlived its lease")
		if v := <-saw; v != "c01" {
			t.Errorf("when it went on it read %q", v)
		}
	})
}

// A client that crashes says nothing to anybody: its connections are dead, and
// what it held stays until it expires. Its successor has new ones.
func TestCrashClient(t *testing.T) {
	onEach(t, 1, 1, func(t *testing.T, r *rig) {
		c := gated(t, r, 0)
		rdb := c.dial(t)
		r.Grant("k", "c00")
		if err := faulttest.Set(t, rdb, faulttest.Late, "k", "c00"); err != nil {
			t.Fatal(err)
		}
		f := r.inject(t, "crash-client", faults.Params{Client: faults.RoleHolder})
		for range 2 { // on the connection that it had, and on another
			if err := rdb.Del(t.Context(), "k").Err(); err == nil {
				t.Error("a crashed client is answered")
			}
		}
		if got := r.Get(t, r.Node("n1"), "k"); got != "c00" {
			t.Errorf("the node stores %s under k", got)
		}
		f.healed(t, "c00 crashed, holding k", "1 connections closed", "c00 back as a new owner")
		if err := rdb.Ping(t.Context()).Err(); err == nil {
			t.Error("the dead incarnation is answered")
		}
		if err := c.dial(t).Del(t.Context(), "k").Err(); err != nil {
			t.Errorf("the next incarnation: %v", err)
		}
	})
}

package run

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/link/gate"
	"locktorture/faults/testbed"
	"locktorture/lockimpl"
	"locktorture/lockimpl/child"
	"locktorture/workload"
	"locktorture/workload/store"
)

// A client connects one contender of the workload with what the nemesis does to it: all
// connections of its present incarnation pass one gate.
type client struct {
	*workload.Client
	env   *environment
	clock faults.WallClock

	mu   sync.Mutex
	gate *gate.Gate
	proc child.Process   // the present incarnation's, where the lock lives in a child process
	past []child.Process // those of all incarnations
}

func newClient(r *environment, name string) *client {
	c := &client{env: r, gate: gate.New()}
	c.Client = &workload.Client{Name: name, Connect: c.connect, Pause: c.wait}
	return c
}

// connect builds an incarnation with connections, links and a gate of its own.
func (c *client) connect(ctx context.Context) (*workload.Conn, error) {
	gate := gate.New()
	c.mu.Lock()
	c.gate, c.proc = gate, nil
	c.mu.Unlock()
	locker, err := c.build(ctx, c.nodes(gate))
	if err != nil {
		return nil, fmt.Errorf("client %s: %w", c.Client.Name, err)
	}
	if p, can := locker.(childLocker); can {
		return c.connectChild(p, gate), nil
	}
	toStore := through(gate, c.env.links[c.Client.Name][faults.StoreNode])
	guarded := store.Open(wiring.LoggedIn(c.env.bed.Store(), toStore), c.env.policy()).Under(c.env.cfg.Prefix)
	return wiring.Conn(locker, guarded, gate), nil
}

// nodes are those of the testbed as an incarnation's lock sees them.
func (c *client) nodes(gate *gate.Gate) (all []lockimpl.Node) {
	links := c.env.links[c.Client.Name]
	if d, deployed := c.env.bed.(testbed.Deployment); deployed {
		if relays := c.env.relays[c.Client.Name]; relays != nil {
			return []lockimpl.Node{wiring.Relayed(d.(testbed.Sentinels), relays)}
		}
		over := func(n testbed.Node) wiring.Dial { return through(gate, links[n.Name()]) }
		return []lockimpl.Node{wiring.Deployed(d, over, gate.Dial)}
	}
	for _, n := range c.env.bed.Nodes() {
		l := links[n.Name()]
		all = append(all, wiring.Linked(n, l, through(gate, l)))
	}
	return all
}

// build builds the lock, on the client's own wall clock where it reads one.
func (c *client) build(ctx context.Context, nodes []lockimpl.Node) (lockimpl.Locker, error) {
	if c.env.lock.WithClock != nil {
		return c.env.lock.WithClock(c.clock.Now)(nodes)
	}
	return c.env.build(ctx, nodes)
}

// through dials over a link, for as long as gate lets connections pass.
func through(gate *gate.Gate, l link.Link) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) { return gate.Dial(ctx, l.Dial) }
}

func (c *client) current() *gate.Gate {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gate
}

func (c *client) wait(ctx context.Context) error { return c.current().Wait(ctx) }

// Name implements faults.Client.
func (c *client) Name() string { return c.Client.Name }

// Pause implements faults.Client: it stops the worker and the connections, and with them the
// process in which the lock lives.
func (c *client) Pause(context.Context) (string, error) {
	c.current().Pause()
	if p := c.process(); p != nil {
		return stopChild(c.Client.Name, p)
	}
	return c.Client.Name + " stands still, its connections too", nil
}

// Resume implements faults.Client.
func (c *client) Resume(ctx context.Context) (string, error) {
	defer c.current().Resume()
	if p := c.process(); p != nil {
		return continueChild(ctx, c.Client.Name, p, catalogue.WriteEvery(c.env.cfg))
	}
	n := c.current().Resume()
	return fmt.Sprintf("%s goes on; %d calls of its connections had stood still", c.Client.Name, n), nil
}

// WallClock implements faults.ClockedClient.
func (c *client) WallClock() (*faults.WallClock, error) {
	if c.env.lock.WithClock == nil {
		return nil, fmt.Errorf("lock %s reads no client's wall clock; %s do", c.env.lock.ID, strings.Join(catalogue.Builtin().Clocked(), ", "))
	}
	return &c.clock, nil
}

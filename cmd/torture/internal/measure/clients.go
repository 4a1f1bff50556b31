package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/link"
	"locktorture/lockimpl"
	"locktorture/workload/load"
)

// A Topology says how many clients a measurement has, and on which servers.
type Topology struct {
	Masters int // the first so many of the servers
	Clients int // each with connections of its own
	Linked  int // so many of the last masters are behind links, which can be impaired
}

// Clients are those of one measurement of one lock.
type Clients struct {
	Lockers []lockimpl.Locker
	Meter   Meter
	Prefix  string // of all keys of the measurement

	links  [][]link.Link // by node, one for each client; none where a node is not behind links
	fabric link.Fabric   // nil without links
}

// Connect builds the clients of one measurement of lock. On an error everything
// that was built has ended again.
func (s *Servers) Connect(ctx context.Context, lock Contestant, t Topology) (c *Clients, err error) {
	c = &Clients{Prefix: s.nextPrefix(), links: make([][]link.Link, t.Masters)}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if t.Linked > 0 {
		c.fabric = link.NewEmbedded()
	}
	for i := range t.Clients {
		nodes, err := c.nodes(ctx, s, t, fmt.Sprintf("c%02d", i))
		if err != nil {
			return c, err
		}
		var l lockimpl.Locker
		Labelled(ctx, func(context.Context) { l, err = lock.Factory(s.fullPrefix(t.Masters))(nodes) })
		if err != nil {
			return c, fmt.Errorf("build lock %s: %w", lock.ID, err)
		}
		c.Lockers = append(c.Lockers, l)
	}
	return c, nil
}

// nodes returns the masters as one client sees them.
func (c *Clients) nodes(ctx context.Context, s *Servers, t Topology, client string) (out []lockimpl.Node, err error) {
	for i, n := range s.Bed.Nodes()[:t.Masters] {
		if i < t.Masters-t.Linked {
			out = append(out, wiring.Node(n.Name(), n.Addr(), c.Meter.dial(n.Dial)))
			continue
		}
		l, err := wiring.OpenOne(ctx, c.fabric, client, n.Name(), n)
		if err != nil {
			return nil, err
		}
		c.links[i] = append(c.links[i], l)
		out = append(out, wiring.Linked(n, l, c.Meter.dial(l.Dial)))
	}
	return out, nil
}

// Keys names n keys.
func (c *Clients) Keys(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s-%d", c.Prefix, i)
	}
	return out
}

// Workers spreads n goroutines over the clients and over the keys.
func (c *Clients) Workers(n int, keys []string) []load.Worker {
	out := make([]load.Worker, n)
	for i := range out {
		out[i] = load.Worker{Locker: c.Lockers[i%len(c.Lockers)], Key: keys[i%len(keys)]}
	}
	return out
}

// Impair impairs the links to the first n masters, of those that are behind
// links, and returns the heal.
func (c *Clients) Impair(ctx context.Context, n int, i link.Impairment) (heal func() error, err error) {
	return wiring.Impair(ctx, slices.Concat(c.links[:n]...), i)
}

// Close waits for what the lock has under way, and closes the links.
func (c *Clients) Close() error {
	var errs []error
	for _, l := range c.Lockers {
		errs = append(errs, l.Close())
	}
	if c.fabric != nil {
		errs = append(errs, c.fabric.Close())
	}
	return errors.Join(errs...)
}

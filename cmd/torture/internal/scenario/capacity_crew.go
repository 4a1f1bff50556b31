package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locktorture/faults/link"
	"locktorture/lockimpl"
	"locktorture/workload/load"
)

// A crew is the clients of one measurement, and the roads to the nodes when
// these are behind links.
type crew struct {
	field   *field
	masters int
	lockers []lockimpl.Locker
	fabric  link.Fabric
	roads   [][]link.Link // by node
	meter   meter
	prefix  string
}

// crew builds clients over the first masters of the field.
func (f *field) crew(ctx context.Context, l contestant, masters, clients int, linked bool) (c *crew, err error) {
	c = &crew{field: f, masters: masters, prefix: f.prefix(), roads: make([][]link.Link, masters)}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if linked {
		c.fabric = link.NewEmbedded()
	}
	for i := range clients {
		var nodes []lockimpl.Node
		for k, n := range f.bed.Nodes()[:masters] {
			var road link.Link
			if linked {
				if road, err = c.fabric.Open(ctx, fmt.Sprintf("c%02d", i), n.Name(), n.Addr()); err != nil {
					return c, fmt.Errorf("open link to %s: %w", n.Name(), err)
				}
				c.roads[k] = append(c.roads[k], road)
			}
			nodes = append(nodes, c.meter.node(n, road))
		}
		locker, err := l.factory(f.fullPrefix(masters))(nodes)
		if err != nil {
			return c, fmt.Errorf("build lock %s: %w", l.id, err)
		}
		c.lockers = append(c.lockers, locker)
	}
	load.Once(ctx, c.workers(2*clients, 2*clients), load.Task{TTL: time.Second}, connectTime)
	return c, nil
}

// keys names n keys.
func (c *crew) keys(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s-%d", c.prefix, i)
	}
	return out
}

// workers spreads goroutines over the clients and over so many keys.
func (c *crew) workers(n, keys int) []load.Worker {
	names := c.keys(keys)
	out := make([]load.Worker, n)
	for i := range out {
		out[i] = load.Worker{Locker: c.lockers[i%len(c.lockers)], Key: names[i%keys]}
	}
	return out
}

// impair hurts the roads to the first n nodes, of those there are, and returns
// the heal.
func (c *crew) impair(ctx context.Context, n int, i link.Impairment) (heal func() error, err error) {
	return hurt(ctx, slices.Concat(c.roads[:n]...), i)
}

func (c *crew) close() error { return closeClients(c.lockers, c.fabric) }

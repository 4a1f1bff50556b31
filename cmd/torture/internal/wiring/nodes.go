// Package wiring joins clients to the nodes of a testbed: directly, or over
// links that can be impaired.
package wiring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/faults/testbed/server"
	"locktorture/lockimpl"
)

// A Dial opens a connection to one node.
type Dial func(ctx context.Context) (net.Conn, error)

// Node is the node called name as a lock sees it: at addr, reached by dial.
func Node(name, addr string, dial Dial) lockimpl.Node {
	return lockimpl.Node{Name: name, Addr: addr, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
}

// Direct returns the nodes as a client sees them that dials past every link.
func Direct(nodes []testbed.Node) []lockimpl.Node {
	var out []lockimpl.Node
	for _, n := range nodes {
		addr := n.Addr()
		if _, given := n.(testbed.Given); given {
			addr = Upstream(n)
		}
		out = append(out, asked(n, Node(n.Name(), addr, n.Dial)))
	}
	return out
}

// Linked is n, at the other end of l, as a lock sees it; dial goes over l.
func Linked(n testbed.Node, l link.Link, dial Dial) lockimpl.Node {
	return asked(n, Node(l.Node(), ListenAddr(l), LoggedIn(n, dial)))
}

// asked says in out what n asks of those who connect without Dial.
func asked(n testbed.Node, out lockimpl.Node) lockimpl.Node {
	if given, ok := n.(testbed.Given); ok {
		e := given.Endpoint()
		out.Username, out.Password, out.DB = e.Username, e.Password, e.DB
	}
	return out
}

// LoggedIn makes the connections of dial ready for n's commands. What fails on the
// way is a failed dial: no command was sent.
func LoggedIn(n testbed.Node, dial Dial) Dial {
	given, ok := n.(testbed.Given)
	if !ok {
		return dial
	}
	e := given.Endpoint()
	return func(ctx context.Context) (net.Conn, error) {
		c, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		if err := e.Login(ctx, c); err != nil {
			return nil, errors.Join(&net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("log in at %s: %w", n.Name(), err)}, c.Close())
		}
		return c, nil
	}
}

// Open opens a link from client to each of nodes, by the node's name.
func Open(ctx context.Context, f link.Fabric, client string, nodes []testbed.Node) (map[string]link.Link, error) {
	links := map[string]link.Link{}
	for _, n := range nodes {
		var err error
		if links[n.Name()], err = OpenOne(ctx, f, client, n.Name(), n); err != nil {
			return nil, err
		}
	}
	return links, nil
}

// OpenOne opens a link from client to n, under the name node.
func OpenOne(ctx context.Context, f link.Fabric, client, node string, n testbed.Node) (link.Link, error) {
	l, err := f.Open(ctx, client, node, Upstream(n))
	if err != nil {
		return nil, fmt.Errorf("open link %s→%s: %w", client, node, err)
	}
	return l, nil
}

// OpenIngresses gives clients in other processes a way into each of links that is
// watched as this process's own is. It reports whether it could: not every system
// has one.
func OpenIngresses(ctx context.Context, links map[string]link.Link) (watched bool, err error) {
	for _, l := range links {
		ingress, can := l.(link.Opener)
		if !can {
			return false, nil
		}
		if _, err := ingress.OpenIngress(ctx); errors.Is(err, errors.ErrUnsupported) {
			return false, nil
		} else if err != nil {
			return false, fmt.Errorf("link %s→%s: %w", l.Client(), l.Node(), err)
		}
	}
	return true, nil
}

// ListenAddr is where a client in another process finds the link: at its ingress where
// that is open; the node's name where the link has no address of its own.
func ListenAddr(l link.Link) string {
	if ingress, ok := l.(link.Opener); ok && ingress.IngressAddr() != "" {
		return ingress.IngressAddr()
	}
	if listener, ok := l.(link.Listener); ok {
		return listener.Addr()
	}
	return l.Node()
}

// Upstream is where links find a node: for a toxiproxy server that may be
// another address than for this process.
func Upstream(n testbed.Node) string {
	if u, ok := n.(testbed.Upstreamer); ok {
		return u.Upstream()
	}
	return n.Addr()
}

// Admin returns a Redis client of n past every link, with no retries. The caller
// closes it.
func Admin(n testbed.Node) *redis.Client {
	o := adminOptions(n.Addr())
	o.Dialer = func(ctx context.Context, _, _ string) (net.Conn, error) { return n.Dial(ctx) }
	return redis.NewClient(o)
}

// AdminAt is Admin for the server at e.
func AdminAt(e server.Endpoint) *redis.Client {
	o := adminOptions(e.Addr)
	o.Dialer = func(ctx context.Context, _, _ string) (net.Conn, error) { return e.Dial(ctx) }
	return redis.NewClient(o)
}

func adminOptions(addr string) *redis.Options {
	return &redis.Options{Addr: addr, MaxRetries: -1, DisableIdentity: true, PoolSize: 2, ReadTimeout: 5 * time.Second}
}

// SilenceClients turns the log of the Redis clients off: under faults, failed
// dials are no news.
func SilenceClients() { redis.SetLogger(silence{}) }

type silence struct{}

// Printf implements the clients' logger.
func (silence) Printf(context.Context, string, ...any) {}

// An UnfitError says why given servers cannot be used: not reachable, not
// empty, or not the caller's to use (--i-own-this-redis).
type UnfitError struct{ Err error }

func (e UnfitError) Error() string { return "--redis: " + e.Err.Error() }

// Unwrap returns what is wrong with the servers.
func (e UnfitError) Unwrap() error { return e.Err }

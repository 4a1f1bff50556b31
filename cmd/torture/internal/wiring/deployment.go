package wiring

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"locktorture/faults/testbed"
	"locktorture/faults/testbed/server"
	"locktorture/lockimpl"
)

// Probe returns the masters of bed as a client sees them that dials past every link.
func Probe(bed testbed.Testbed) []lockimpl.Node {
	d, deployed := bed.(testbed.Deployment)
	if !deployed {
		return Direct(bed.Nodes())
	}
	over := func(n testbed.Node) Dial { return n.Dial }
	pass := func(ctx context.Context, dial func(context.Context) (net.Conn, error)) (net.Conn, error) {
		return dial(ctx)
	}
	return []lockimpl.Node{Deployed(d, over, pass)}
}

// Deployed is d as a lock sees it: one node, whose master is to be asked for at the
// Sentinels, or whose slots at its servers. over says how a server is reached, pass
// dials a Sentinel.
func Deployed(d testbed.Deployment, over func(testbed.Node) Dial, pass func(context.Context, func(context.Context) (net.Conn, error)) (net.Conn, error)) lockimpl.Node {
	ways, n := map[string]Dial{}, lockimpl.Node{Name: d.Name()}
	for _, node := range d.Nodes() {
		ways[d.Announced(node.Name())] = over(node)
		n.Cluster = append(n.Cluster, d.Announced(node.Name()))
	}
	if s, watched := d.(testbed.Sentinels); watched {
		name, sentinels := s.Sentinels()
		for _, addr := range sentinels {
			ways[addr] = func(ctx context.Context) (net.Conn, error) {
				return pass(ctx, func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", addr) })
			}
		}
		n.Name, n.Cluster, n.Sentinel = name, nil, &lockimpl.Sentinel{Master: name, Addrs: sentinels}
	}
	n.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		dial, known := ways[addr]
		if !known {
			return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("neither a server nor a Sentinel of this testbed is at %s", addr)}
		}
		c, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return announced{c, addr}, nil
	}
	return n
}

// OpenRelays opens a relay to every Sentinel of d for one client, whose links are at
// reach by the node's name.
func OpenRelays(ctx context.Context, d testbed.Sentinels, reach func(node string) string) (relays []*server.Relay, err error) {
	_, sentinels := d.Sentinels()
	defer func() {
		if err != nil {
			for _, r := range relays {
				err = errors.Join(err, r.Close())
			}
			relays = nil
		}
	}()
	for _, addr := range sentinels {
		r, err := server.OpenRelay(ctx, addr)
		if err != nil {
			return relays, err
		}
		relays = append(relays, r)
	}
	for _, r := range relays {
		for i, addr := range sentinels {
			if err := r.Name(addr, relays[i].Addr()); err != nil {
				return relays, err
			}
		}
		for _, n := range d.Nodes() {
			if err := r.Name(d.Announced(n.Name()), reach(n.Name())); err != nil {
				return relays, err
			}
		}
	}
	return relays, nil
}

// Relayed is the master of d as a lock in another process sees it, to be asked for at
// that client's relays.
func Relayed(d testbed.Sentinels, relays []*server.Relay) lockimpl.Node {
	name, _ := d.Sentinels()
	s := &lockimpl.Sentinel{Master: name}
	for _, r := range relays {
		s.Addrs = append(s.Addrs, r.Addr())
	}
	return lockimpl.Node{Name: name, Sentinel: s}
}

// An announced connection leads to the address that clients are told, whatever the
// way: clients compare it when they hear of another master.
type announced struct {
	net.Conn
	addr string
}

// RemoteAddr implements net.Conn.
func (c announced) RemoteAddr() net.Addr { return textAddr(c.addr) }

// A textAddr is host:port.
type textAddr string

// Network implements net.Addr.
func (textAddr) Network() string { return "tcp" }

func (a textAddr) String() string { return string(a) }

// admitTime is for how long new nodes are asked again.
const admitTime = time.Minute

// Bootstrap admits new nodes. Those that do not answer in time, where the machine starves,
// are asked again, for a minute at most.
func Bootstrap(ctx context.Context, l lockimpl.Bootstrapper) error {
	for end := time.Now().Add(admitTime); ; {
		err := l.Bootstrap(ctx)
		late := errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
		if !late || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
	}
}

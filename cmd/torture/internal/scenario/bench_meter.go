package scenario

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"

	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/lockimpl"
)

// A meter counts the packets that a client writes to its nodes.
type meter struct{ writes atomic.Int64 }

// node returns n as a lock sees it, over road when that is not nil.
func (m *meter) node(n testbed.Node, road link.Link) lockimpl.Node {
	addr, dial := n.Addr(), n.Dial
	if road != nil {
		addr, dial = listenAddr(road), road.Dial
	}
	return lockimpl.Node{Name: n.Name(), Addr: addr, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return m.conn(c), nil
	}}
}

// conn counts what is written to c. What a client can ask the socket itself it
// can ask through the meter: go-redis looks there before every command, which
// is part of what it costs.
func (m *meter) conn(c net.Conn) net.Conn {
	counted := &meteredConn{c, m}
	if raw, ok := c.(syscall.Conn); ok {
		return struct {
			*meteredConn
			syscall.Conn
		}{counted, raw}
	}
	return counted
}

type meteredConn struct {
	net.Conn
	meter *meter
}

// Write implements net.Conn.
func (c *meteredConn) Write(b []byte) (int, error) {
	c.meter.writes.Add(1)
	return c.Conn.Write(b)
}

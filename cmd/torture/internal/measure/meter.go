package measure

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"

	"locktorture/cmd/torture/internal/wiring"
)

// A meter counts the packets that a client writes to its nodes.
type Meter struct{ writes atomic.Int64 }

// dial counts what is written to the connections that d opens.
func (m *Meter) dial(d wiring.Dial) wiring.Dial {
	return func(ctx context.Context) (net.Conn, error) {
		c, err := d(ctx)
		if err != nil {
			return nil, err
		}
		return m.conn(c), nil
	}
}

// Writes is how many packets were written so far.
func (m *Meter) Writes() int64 { return m.writes.Load() }

// conn counts what is written to c. What a client can ask the socket itself it
// can ask through the meter: go-redis looks there before every command, which
// is part of what it costs.
func (m *Meter) conn(c net.Conn) net.Conn {
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
	meter *Meter
}

// Write implements net.Conn.
func (c *meteredConn) Write(b []byte) (int, error) {
	c.meter.writes.Add(1)
	return c.Conn.Write(b)
}

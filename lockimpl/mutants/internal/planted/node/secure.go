// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package node

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"sync/atomic"
	"time"
)

// named is a configuration that names the server at addr, where it names none.
func named(c *tls.Config, addr string) *tls.Config {
	if c.ServerName != "" {
		return c
	}
	c = c.Clone()
	c.ServerName = addr
	if colon := strings.LastIndex(addr, ":"); colon >= 0 {
		c.ServerName = addr[:colon]
	}
	return c
}

// secure makes a connection one over TLS. The handshake takes two exchanges, each of which
// has the timeout; it ends with ctx, and with a server's first silence. (The dialer of
// go-redis does not heed its context over TLS, and has one timeout for all.)
func secure(ctx context.Context, raw net.Conn, c *tls.Config, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshake*timeout)
	defer cancel()
	h := &shaking{Conn: raw, timeout: timeout}
	out := tls.Client(h, c)
	err := out.HandshakeContext(ctx)
	h.done.Store(true)
	if err == nil {
		err = raw.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return out, nil
}

// A shaking connection bounds every wait of a handshake.
type shaking struct {
	net.Conn
	timeout time.Duration
	done    atomic.Bool // whoever uses the connection sets its deadlines
}

// Read implements net.Conn.
func (h *shaking) Read(b []byte) (int, error) {
	h.bound()
	return h.Conn.Read(b)
}

// Write implements net.Conn.
func (h *shaking) Write(b []byte) (int, error) {
	h.bound()
	return h.Conn.Write(b)
}

func (h *shaking) bound() {
	if !h.done.Load() {
		_ = h.Conn.SetDeadline(time.Now().Add(h.timeout))
	}
}

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"locktorture/faults/internal/accept"
)

// A Tunnel is a port on loopback that leads to an endpoint which links cannot
// reach by themselves: it speaks TLS to the server, or to its socket. What passes
// through links stays readable, so that faults can be locked to commands. Whoever
// connects must still log in.
type Tunnel struct {
	loop   *accept.Loop
	to     Endpoint
	spares chan spare
}

// OpenTunnel opens a tunnel to an endpoint, which Close ends.
func OpenTunnel(to Endpoint) (*Tunnel, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a tunnel to %s: %w", to, err)
	}
	t := &Tunnel{loop: accept.New(l), to: to, spares: make(chan spare)}
	t.loop.Serve(func(near net.Conn) func() { return func() { t.carry(near) } })
	for range keepers {
		t.loop.Go(t.fill)
	}
	return t, nil
}

const (
	keepers   = 8                // connections of a tunnel that are made ahead
	spareLife = 10 * time.Second // after which one is replaced: the server may have ended it
	pauseLife = time.Second      // between two attempts that fail
	glance    = time.Millisecond // for a look whether who connected is still there
)

// A spare is a connection to the server that nobody has used, or why there is none.
// A handshake takes longer than a client in a hurry waits on a busy machine; made
// ahead, none is wasted on one who has given up.
type spare struct {
	conn net.Conn
	err  error
}

// fill makes one spare after the other, until the tunnel ends.
func (t *Tunnel) fill() {
	for t.loop.Context().Err() == nil {
		ctx, cancel := context.WithTimeout(t.loop.Context(), ReachTimeout)
		var s spare
		s.conn, s.err = t.to.connect(ctx)
		cancel()
		life := spareLife
		if s.err != nil {
			life = pauseLife
		}
		expired := time.NewTimer(life)
		select {
		case t.spares <- s:
		case <-expired.C:
			s.discard()
		case <-t.loop.Context().Done():
			s.discard()
		}
		expired.Stop()
	}
}

// offer passes on a connection that was not used after all.
func (t *Tunnel) offer(unused net.Conn) {
	select {
	case t.spares <- spare{conn: unused}:
	default:
		_ = unused.Close()
	}
}

func (s spare) discard() {
	if s.conn != nil {
		_ = s.conn.Close()
	}
}

// Dial returns an unused connection to the server, which has yet to log in.
func (t *Tunnel) Dial(ctx context.Context) (net.Conn, error) {
	select {
	case s := <-t.spares:
		return s.conn, s.err
	case <-ctx.Done():
		return nil, fmt.Errorf("connect to %s: %w", t.to, ctx.Err())
	case <-t.loop.Context().Done():
		return nil, net.ErrClosed
	}
}

// Addr returns where the tunnel begins.
func (t *Tunnel) Addr() string { return t.loop.Addr() }

// Close ends the tunnel and every connection through it.
func (t *Tunnel) Close() error { return t.loop.Close() }

// carry joins one connection to one of the server's until either ends. Those who
// connect speak first: one who leaves without a word costs the server nothing.
func (t *Tunnel) carry(near net.Conn) {
	first := make([]byte, 4<<10)
	n, err := near.Read(first)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.loop.Context(), ReachTimeout)
	defer cancel()
	far, err := t.Dial(ctx)
	if err != nil {
		return
	}
	_ = near.SetReadDeadline(time.Now().Add(glance))
	more, err := near.Read(first[n:])
	_ = near.SetReadDeadline(time.Time{})
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.offer(far) // who connected has left meanwhile
		return
	}
	defer accept.Tie(t.loop.Context(), far)()
	if _, err := far.Write(first[:n+more]); err != nil {
		return
	}
	var up sync.WaitGroup
	up.Go(func() { pump(far, near) })
	pump(near, far)
	up.Wait()
}

// pump copies until from ends, and tells to. What breaks off ends both ways.
func pump(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, can := to.(interface{ CloseWrite() error }); can && err == nil {
		_ = half.CloseWrite()
		return
	}
	_, _ = to.Close(), from.Close()
}

package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"locktorture/faults/internal/accept"
	"locktorture/faults/internal/ports"
	"locktorture/faults/link/internal/socket"
)

// An Opener is a Link that clients in other processes can enter as this process
// does: what they send is tapped, counted and accounted for in receipts.
type Opener interface {
	// OpenIngress returns where they dial (host:port), for as long as the fabric
	// stands. While the link is cut, connections are reset as soon as they are
	// made; where it is partitioned, dials are left unanswered, of which nobody
	// hears. It is an error where the system has no sockets to build it of.
	OpenIngress(ctx context.Context) (addr string, err error)

	// IngressAddr returns the same once the ingress is open, and nothing before.
	IngressAddr() string

	// Drain returns when everything that these clients have sent by now has been tapped,
	// or when ctx ends.
	Drain(ctx context.Context)
}

// An ingress is a port on loopback that leads into a link. Whoever comes in speaks
// first, as all clients of Redis do; from then on the connection is carried over
// one that the link itself has dialled.
type ingress struct {
	loop     *accept.Loop
	link     *proxyLink
	addr     string
	reserved func() error // lets other processes have links on the port
	answer   func() error // lets dials be answered again; nil while they are; under link.changes

	mu    sync.Mutex
	conns map[*socket.Inbound]struct{}
}

// OpenIngress implements Opener.
func (l *proxyLink) OpenIngress(ctx context.Context) (addr string, err error) {
	if err := socket.CanCarry(); err != nil {
		return "", err
	}
	err = l.change(ctx, "open the ingress of", func(context.Context) error {
		if d := l.ingress.Load(); d != nil {
			addr = d.addr
			return nil
		}
		d, err := openIngress(l)
		if err != nil {
			return err
		}
		addr = d.addr
		l.ingress.Store(d)
		return d.silence(l.silent.partitions > 0)
	})
	return addr, err
}

// IngressAddr implements Opener.
func (l *proxyLink) IngressAddr() string {
	if d := l.ingress.Load(); d != nil {
		return d.addr
	}
	return ""
}

// silenceIngress has the ingress leave dials unanswered, or not. The caller holds
// link.changes.
func (l *proxyLink) silenceIngress(on bool) error {
	d := l.ingress.Load()
	if d == nil {
		return nil
	}
	if err := d.silence(on); err != nil {
		return fmt.Errorf("ingress at %s: %w", d.addr, err)
	}
	return nil
}

// openIngress takes a port for an ingress.
func openIngress(l *proxyLink) (*ingress, error) {
	d := &ingress{link: l, conns: map[*socket.Inbound]struct{}{}}
	var err error
	picker := ports.Links.Picker()
	for range ports.Links.Len() {
		port := picker.Next()
		if d.reserved, err = ports.Reserve(port); err != nil {
			continue // a link has it
		}
		d.addr = ports.Loopback(port)
		if err = d.listen(); err == nil {
			return d, nil
		}
		err = errors.Join(err, d.reserved())
	}
	return nil, err
}

func (d *ingress) listen() error {
	var c net.ListenConfig
	c.SetMultipathTCP(false)                                 // whose sockets bear no filter
	l, err := c.Listen(context.Background(), "tcp4", d.addr) // no name is looked up: it takes no time
	if err != nil {
		return err
	}
	d.loop = accept.New(l)
	d.loop.Serve(d.admit)
	return nil
}

// silence has dials answered or not.
func (d *ingress) silence(on bool) (err error) {
	switch {
	case on && d.answer == nil && d.loop.Context().Err() == nil:
		d.answer, err = socket.DropDials(d.addr)
	case !on && d.answer != nil:
		answer := d.answer
		d.answer = nil
		err = answer()
	}
	return err
}

// close ends the ingress and every connection through it.
func (d *ingress) close() error {
	return errors.Join(d.loop.Close(), d.reserved())
}

// admit registers a connection that comes in. While the link is cut it is reset at once:
// refusing the dial itself would leave no trace.
func (d *ingress) admit(near net.Conn) (serve func()) {
	v, err := socket.NewInbound(near)
	if err != nil {
		return nil
	}
	if cut := d.link.firstCut.Load(); cut != nil {
		d.link.noteRefusal(syscall.ECONNREFUSED, cut)
		v.Reset()
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns[v] = struct{}{}
	return func() {
		defer d.forget(v)
		d.carry(v)
	}
}

func (d *ingress) forget(v *socket.Inbound) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, v)
}

// carry joins one connection to one of the link's own until either ends.
func (d *ingress) carry(v *socket.Inbound) {
	buf := make([]byte, 16<<10)
	n, err := v.Read(buf)
	if err != nil {
		return // without a word
	}
	if buf[0] == prefaceMark { // Settle: all who came before have been noted
		_, _ = v.Write(buf[:1])
		return
	}
	far, err := d.link.enter(d.loop.Context())
	switch {
	case errors.Is(err, errUnanswered):
		v.Passed()
		d.swallow(v)
		return
	case err != nil:
		v.Reset()
		return
	}
	var down sync.WaitGroup
	down.Go(func() { bring(v, far) })
	send(v, far, buf, n)
	down.Wait()
}

// swallow drops what comes until the partition is over: what was dropped leaves a
// hole, with which the connection ends.
func (d *ingress) swallow(v *socket.Inbound) {
	left := make(chan struct{})
	var heal sync.WaitGroup
	heal.Go(func() {
		select {
		case <-d.link.answered():
			v.Reset()
		case <-d.loop.Context().Done():
		case <-left:
		}
	})
	var err error
	for buf := make([]byte, 4<<10); err == nil; v.Passed() {
		_, err = v.Read(buf)
	}
	close(left)
	heal.Wait()
}

// send passes on what the client says, n bytes of buf first, until it leaves or
// the link's connection takes no more.
func send(v *socket.Inbound, far *conn, buf []byte, n int) {
	for {
		_, err := far.Write(buf[:n])
		v.Passed()
		if err == nil {
			n, err = v.Read(buf)
		}
		if err != nil {
			break
		}
	}
	if far.over.Load() {
		far.noticed.Store(true)
	}
	_, _ = far.Close(), v.Close()
}

// bring passes on what comes from the link. Its end reaches the client as an end,
// a reset as a reset. An ended connection stays until the client has noticed.
func bring(v *socket.Inbound, far *conn) {
	buf := make([]byte, 16<<10)
	for {
		n, err := far.Read(buf)
		if n > 0 {
			if _, failed := v.Write(buf[:n]); failed != nil {
				_, _ = far.Close(), v.Close()
				return
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			_ = v.CloseWrite()
			return
		default:
			if !errors.Is(err, net.ErrClosed) || far.gone.Load() {
				v.Reset()
			}
			_, _ = far.Close(), v.Close()
			return
		}
	}
}

// settlePoll is the pause between two looks at what is on its way.
const settlePoll = 200 * time.Microsecond

// Drain implements Opener.
func (l *proxyLink) Drain(ctx context.Context) {
	d := l.ingress.Load()
	if d == nil {
		return
	}
	d.ring(ctx)
	for !d.idle() {
		select {
		case <-ctx.Done():
			return
		case <-d.loop.Context().Done():
			return
		case <-time.After(settlePoll):
		}
	}
}

// ring returns when everybody who has dialled before has been noted. Of a link that is
// cut or partitioned nobody is let in.
func (d *ingress) ring(ctx context.Context) {
	if d.link.firstCut.Load() != nil || d.link.partitioned() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ringLimit)
	defer cancel()
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp4", d.addr)
	if err != nil {
		return
	}
	defer c.Close()
	deadline, _ := ctx.Deadline()
	_ = c.SetDeadline(deadline)
	if _, err := c.Write([]byte{prefaceMark}); err == nil {
		_, _ = c.Read(make([]byte, 1))
	}
}

// ringLimit bounds ring where a partition begins meanwhile.
const ringLimit = time.Second

func (d *ingress) idle() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for v := range d.conns {
		if !v.Idle() {
			return false
		}
	}
	return true
}

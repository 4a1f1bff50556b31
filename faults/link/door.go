package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// An Opener is a Link that clients in other processes can enter as this process
// does: what they send is tapped, counted and accounted for in receipts.
type Opener interface {
	// OpenDoor returns where they dial (host:port), for as long as the fabric
	// stands. While the link is cut, connections are reset as soon as they are
	// made; where it is partitioned, dials are left unanswered, of which nobody
	// hears. It is an error where the system has no sockets to build it of.
	OpenDoor(ctx context.Context) (addr string, err error)

	// DoorAddr returns the same once the door is open, and nothing before.
	DoorAddr() string

	// Settle returns when everything that they have sent by now has been tapped,
	// or when ctx ends.
	Settle(ctx context.Context)
}

// A door is a port on loopback that leads into a link. Whoever comes in speaks
// first, as all clients of Redis do; from then on the connection is carried over
// one that the link itself has dialled.
type door struct {
	link     *proxyLink
	addr     string
	reserved func() error // lets other processes have links on the port
	running  sync.WaitGroup

	ctx context.Context // ends with the door
	end context.CancelFunc

	listener net.Listener
	answer   func() error // lets dials be answered again; nil while they are; under link.changes

	mu     sync.Mutex
	visits map[*visit]struct{} // nil once closed
}

// OpenDoor implements Opener.
func (l *proxyLink) OpenDoor(ctx context.Context) (addr string, err error) {
	if err := canVisit(); err != nil {
		return "", err
	}
	err = l.change(ctx, "open the door of", func(context.Context) error {
		if d := l.door.Load(); d != nil {
			addr = d.addr
			return nil
		}
		d, err := openDoor(l)
		if err != nil {
			return err
		}
		addr = d.addr
		l.door.Store(d)
		return d.silence(l.silent.partitions > 0)
	})
	return addr, err
}

// DoorAddr implements Opener.
func (l *proxyLink) DoorAddr() string {
	if d := l.door.Load(); d != nil {
		return d.addr
	}
	return ""
}

// silenceDoor has the door leave dials unanswered, or not. The caller holds
// link.changes.
func (l *proxyLink) silenceDoor(on bool) error {
	d := l.door.Load()
	if d == nil {
		return nil
	}
	if err := d.silence(on); err != nil {
		return fmt.Errorf("door at %s: %w", d.addr, err)
	}
	return nil
}

// openDoor takes a port for a door.
func openDoor(l *proxyLink) (*door, error) {
	const ports = lastPort - firstPort + 1
	d := &door{link: l, visits: map[*visit]struct{}{}}
	d.ctx, d.end = context.WithCancel(context.Background())
	var err error
	for first, n := rand.IntN(ports), 0; n < ports; n++ {
		port := firstPort + (first+n)%ports
		if d.reserved, err = reserve(port); err != nil {
			continue // a link has it
		}
		d.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if err = d.listen(); err == nil {
			return d, nil
		}
		err = errors.Join(err, d.reserved())
	}
	d.end()
	return nil, err
}

func (d *door) listen() (err error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false) // whose sockets bear no filter
	if d.listener, err = c.Listen(d.ctx, "tcp4", d.addr); err == nil {
		d.running.Go(d.accept)
	}
	return err
}

// silence has dials answered or not.
func (d *door) silence(on bool) (err error) {
	switch {
	case on && d.answer == nil && d.ctx.Err() == nil:
		d.answer, err = dropDials(d.addr)
	case !on && d.answer != nil:
		answer := d.answer
		d.answer = nil
		err = answer()
	}
	return err
}

// close ends the door and every connection through it.
func (d *door) close() error {
	d.end()
	err := d.listener.Close()
	d.mu.Lock()
	visits := d.visits
	d.visits = nil
	d.mu.Unlock()
	for v := range visits {
		_ = v.near.Close()
	}
	d.running.Wait()
	return errors.Join(err, d.reserved())
}

// accept ends with the listener. Whoever comes while the link is cut is turned away
// before a word: to refuse the dial itself would leave no trace.
func (d *door) accept() {
	for {
		near, err := d.listener.Accept()
		if err != nil {
			return
		}
		v, err := newVisit(near)
		if err != nil {
			_ = near.Close()
			continue
		}
		if cut := d.link.firstCut.Load(); cut != nil {
			d.link.noteRefusal(syscall.ECONNREFUSED, cut)
			v.reset()
			continue
		}
		if !d.note(v) {
			_ = near.Close()
			continue
		}
		d.running.Go(func() { d.carry(v) })
	}
}

func (d *door) note(v *visit) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.visits == nil {
		return false
	}
	d.visits[v] = struct{}{}
	return true
}

func (d *door) forget(v *visit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.visits, v)
	_ = v.near.Close()
}

// carry joins one connection to one of the link's own until either ends.
func (d *door) carry(v *visit) {
	defer d.forget(v)
	buf := make([]byte, 16<<10)
	n, err := v.read(buf)
	if err != nil {
		return // without a word
	}
	if buf[0] == prefaceMark { // Settle: all who came before have been noted
		_, _ = v.near.Write(buf[:1])
		return
	}
	far, err := d.link.enter(d.ctx)
	switch {
	case errors.Is(err, errUnanswered):
		v.passed()
		d.swallow(v)
		return
	case err != nil:
		v.reset()
		return
	}
	var down sync.WaitGroup
	down.Go(func() { v.bring(far) })
	v.send(far, buf, n)
	down.Wait()
}

// swallow drops what comes until the partition is over: what was dropped leaves a
// hole, with which the connection ends.
func (d *door) swallow(v *visit) {
	left := make(chan struct{})
	var heal sync.WaitGroup
	heal.Go(func() {
		select {
		case <-d.link.answered():
			v.reset()
		case <-d.ctx.Done():
		case <-left:
		}
	})
	var err error
	for buf := make([]byte, 4<<10); err == nil; v.passed() {
		_, err = v.read(buf)
	}
	close(left)
	heal.Wait()
}

// send passes on what the client says, n bytes of buf first, until it leaves or
// the link's connection takes no more.
func (v *visit) send(far *conn, buf []byte, n int) {
	for {
		_, err := far.Write(buf[:n])
		v.passed()
		if err == nil {
			n, err = v.read(buf)
		}
		if err != nil {
			break
		}
	}
	if far.over.Load() {
		far.noticed.Store(true)
	}
	_, _ = far.Close(), v.near.Close()
}

// bring passes on what comes from the link. Its end reaches the client as an end,
// a reset as a reset. An ended connection stays until the client has noticed.
func (v *visit) bring(far *conn) {
	buf := make([]byte, 16<<10)
	for {
		n, err := far.Read(buf)
		if n > 0 {
			if _, failed := v.near.Write(buf[:n]); failed != nil {
				_, _ = far.Close(), v.near.Close()
				return
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			_ = v.near.CloseWrite()
			return
		default:
			if !errors.Is(err, net.ErrClosed) || far.gone.Load() {
				v.reset()
			}
			_, _ = far.Close(), v.near.Close()
			return
		}
	}
}

// A visit is one connection of a client in another process.
type visit struct {
	near *net.TCPConn
	raw  syscall.RawConn

	mu      sync.Mutex
	passing bool // bytes have been read that the link has not taken yet
}

func newVisit(near net.Conn) (v *visit, err error) {
	v = &visit{near: near.(*net.TCPConn)}
	v.raw, err = v.near.SyscallConn()
	return v, err
}

// passed notes that the link has taken what was read.
func (v *visit) passed() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.passing = false
}

// reset closes the client's connection by RST.
func (v *visit) reset() {
	_ = v.near.SetLinger(0)
	_ = v.near.Close()
}

// settlePoll is the pause between two looks at what is on its way.
const settlePoll = 200 * time.Microsecond

// Settle implements Opener.
func (l *proxyLink) Settle(ctx context.Context) {
	d := l.door.Load()
	if d == nil {
		return
	}
	d.ring(ctx)
	for !d.settled() {
		select {
		case <-ctx.Done():
			return
		case <-d.ctx.Done():
			return
		case <-time.After(settlePoll):
		}
	}
}

// ring returns when everybody who has dialled before has been noted. Of a link that is
// cut or partitioned nobody is let in.
func (d *door) ring(ctx context.Context) {
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

func (d *door) settled() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for v := range d.visits {
		if !v.idle() {
			return false
		}
	}
	return true
}

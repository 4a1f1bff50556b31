package link

import (
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// A virtualConn is the client's end of a connection of a virtual fabric.
type virtualConn struct {
	port     *virtualPort
	number   uint64
	born     int // order of the last effect that was there before it
	session  Session
	up, down *virtualFlow

	mu       sync.Mutex
	inbox    []byte
	eof      bool // the server has closed, or the connection was destroyed
	closed   bool // by the client
	closedAt time.Time
	deadline time.Time
	wake     chan struct{}
}

func newVirtualConn(p *virtualPort, number uint64) *virtualConn {
	c := &virtualConn{port: p, number: number, wake: make(chan struct{}, 1), born: p.order}
	c.up, c.down = &virtualFlow{conn: c, toward: Up}, &virtualFlow{conn: c, toward: Down}
	return c
}

func (c *virtualConn) flow(d Direction) *virtualFlow {
	if d == Up {
		return c.up
	}
	return c.down
}

func (c *virtualConn) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Read implements net.Conn. At its deadline it has timed out, also where the client closes the
// connection at that very instant: who comes first then would not repeat.
func (c *virtualConn) Read(b []byte) (int, error) {
	for {
		c.mu.Lock()
		deadline := c.deadline
		switch {
		case c.closed && !c.closedAt.Equal(deadline):
			c.mu.Unlock()
			return 0, net.ErrClosed
		case !deadline.IsZero() && !time.Now().Before(deadline):
			c.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case len(c.inbox) > 0 || len(b) == 0:
			n := copy(b, c.inbox)
			c.inbox = c.inbox[n:]
			c.mu.Unlock()
			return n, nil
		case c.eof:
			c.mu.Unlock()
			return 0, io.EOF
		}
		c.mu.Unlock()
		if deadline.IsZero() {
			<-c.wake
			continue
		}
		timer := time.NewTimer(time.Until(deadline))
		select {
		case <-c.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Write implements net.Conn. It never blocks.
func (c *virtualConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	closed, eof := c.closed, c.eof
	c.mu.Unlock()
	switch {
	case closed:
		return 0, net.ErrClosed
	case eof:
		return 0, io.ErrClosedPipe
	}
	c.up.send(b)
	return len(b), nil
}

// Close implements net.Conn. What was written before still arrives.
func (c *virtualConn) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return net.ErrClosed
	}
	c.closed, c.closedAt, c.inbox = true, time.Now(), nil
	c.mu.Unlock()
	c.poke()
	c.up.finish()
	return nil
}

// SetDeadline implements net.Conn.
func (c *virtualConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetReadDeadline implements net.Conn.
func (c *virtualConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	c.deadline = t
	c.mu.Unlock()
	c.poke()
	return nil
}

// SetWriteDeadline implements net.Conn: writes do not wait.
func (c *virtualConn) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr implements net.Conn.
func (c *virtualConn) LocalAddr() net.Addr { return virtualAddr{} }

// RemoteAddr implements net.Conn.
func (c *virtualConn) RemoteAddr() net.Addr { return virtualAddr{} }

// arrive hands bytes to the client.
func (c *virtualConn) arrive(b []byte) {
	c.mu.Lock()
	if !c.closed {
		c.inbox = append(c.inbox, b...)
	}
	c.mu.Unlock()
	c.poke()
}

// hungUp tells the client that the server has closed.
func (c *virtualConn) hungUp() {
	c.mu.Lock()
	c.eof = true
	c.mu.Unlock()
	c.poke()
}

// destroy ends the connection at once, with all that it holds: at an instant of
// its own, so that whoever waits on several wakes up one after the other.
func (c *virtualConn) destroy() {
	c.port.forget(c)
	c.up.dry()
	c.down.dry()
	at := c.port.instant(time.Now(), Down, c.number)
	c.port.at(at, func() {
		c.hungUp()
		c.session.Gone()
	})
}

// A virtualFlow is one direction of a connection.
type virtualFlow struct {
	conn   *virtualConn
	toward Direction

	mu       sync.Mutex
	dried    bool // destroyed: nothing arrives any more
	finished bool // its sender has closed
	passed   int64
	held     []heldPiece
	lost     map[*virtualEffect]bool // dropped bytes
	queue    []queuedPiece           // on the way, in order
	last     time.Time               // of the last of them
	busy     time.Time               // until when a bandwidth is used up
	sent     time.Time               // of the last bytes that were on the way already
}

// A heldPiece waits for the heal of an effect; nil is the end of the stream.
type heldPiece struct {
	data []byte
	by   *virtualEffect
}

// A queuedPiece is on its way; nil is the end of the stream.
type queuedPiece struct {
	data   []byte
	at     time.Time // when it arrives
	soon   time.Time // when it would, had no effect delayed it and nothing been before it
	delays []lateness
}

// A lateness is by how much an effect delays a piece, until it is healed.
type lateness struct {
	by    *virtualEffect
	later time.Duration
}

// send takes bytes from the sender.
func (f *virtualFlow) send(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.dried && !f.finished {
		f.enter(append([]byte(nil), b...), 0)
	}
}

// finish takes the end of the stream from the sender. It passes where bytes are
// dropped, as it has nothing to wait for.
func (f *virtualFlow) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.finished || f.dried {
		return
	}
	f.finished = true
	f.enter(nil, 0)
}

// enter lets a piece pass the effects above the order, as far as it gets.
func (f *virtualFlow) enter(data []byte, order int) {
	var delays []lateness
	for _, l := range f.conn.port.suffered(f.conn, f.toward, order) {
		e := l.effect
		if data == nil {
			if e.treatment == linger {
				delays = append(delays, lateness{l, e.impair.Delay})
				e.ended.Add(1)
			}
			if e.treatment == hold {
				f.held = append(f.held, heldPiece{nil, l})
				return
			}
			continue
		}
		n := int64(len(data))
		if e.treatment != slice && e.treatment != limit && e.treatment != linger {
			e.affected.Add(n)
			e.packets.Add(1)
		}
		switch e.treatment {
		case hold:
			f.held = append(f.held, heldPiece{data, l})
			return
		case lose:
			if f.lost == nil {
				f.lost = map[*virtualEffect]bool{}
			}
			f.lost[l] = true
			return
		case snap:
			e.ended.Add(1)
			f.conn.up.breakOff(f)
			f.conn.down.breakOff(f)
			f.shutDown()
			return
		case lag:
			seed := mix(e.impair.Seed, uint64(time.Now().UnixNano()))
			delays = append(delays, lateness{l, e.impair.delay(rand.New(rand.NewPCG(seed, f.conn.port.number)))})
		case pace:
			from := time.Now()
			if f.busy.After(from) {
				from = f.busy
			}
			f.busy = from.Add(time.Duration(float64(n) / float64(e.impair.Rate) * float64(time.Second)))
			delays = append(delays, lateness{l, time.Until(f.busy)})
		case limit:
			room := max(e.impair.Bytes-f.passed, 0)
			f.passed += min(room, n)
			if room < n {
				e.affected.Add(n - room)
				e.ended.Add(1)
				if room > 0 {
					f.deliver(data[:room], delays)
				}
				f.finished = true
				f.deliver(nil, delays)
				f.conn.up.breakOff(f)
				return
			}
		case slice:
			if n > e.impair.Bytes {
				e.affected.Add(n)
				for size := e.impair.Bytes; int64(len(data)) > size; delays = append(slices.Clip(delays), lateness{l, e.impair.Delay}) {
					f.deliver(data[:size], delays)
					data = data[size:]
				}
			}
		}
	}
	f.deliver(data, delays)
}

// breakOff has f carry nothing more; from is the flow whose lock is held.
func (f *virtualFlow) breakOff(from *virtualFlow) {
	if f != from {
		f.mu.Lock()
		defer f.mu.Unlock()
	}
	f.dried, f.held, f.queue = true, nil, nil
}

// shutDown closes the connection towards the client, at an instant at which nothing else happens.
func (f *virtualFlow) shutDown() {
	c := f.conn
	c.port.forget(c)
	at := c.port.instant(time.Now(), Down, c.number)
	c.port.at(at, func() {
		c.hungUp()
		c.session.Gone()
	})
}

// deliver puts a piece on the way. Pieces sent at the same instant travel as one.
func (f *virtualFlow) deliver(data []byte, delays []lateness) {
	p := f.conn.port
	now := time.Now()
	if n := len(f.queue); n > 0 && f.sent.Equal(now) && len(delays) == 0 && data != nil && f.queue[n-1].data != nil {
		f.queue[n-1].data = append(f.queue[n-1].data, data...)
		return
	}
	piece := queuedPiece{data: data, soon: now.Add(p.travel(f.toward)), delays: delays}
	piece.at = f.arrival(&piece, f.last)
	f.last, f.sent = piece.at, now
	f.queue = append(f.queue, piece)
	if m := p.fabric.manual; m != nil {
		m.sent(f)
		return
	}
	f.landAt(piece.at)
}

// arrival is when a piece arrives, after the one before it.
func (f *virtualFlow) arrival(piece *queuedPiece, before time.Time) time.Time {
	at := piece.soon
	for _, d := range piece.delays {
		at = at.Add(d.later)
	}
	if !at.After(before) {
		at = before.Add(1)
	}
	return f.conn.port.instant(at, f.toward, f.conn.number)
}

// landAt has the piece land that is due at an instant, if it still is then: a heal may have had it
// arrive earlier.
func (f *virtualFlow) landAt(at time.Time) {
	f.conn.port.at(at, func() {
		f.mu.Lock()
		isDue := len(f.queue) > 0 && f.queue[0].at.Equal(at)
		f.mu.Unlock()
		if isDue {
			f.land()
		}
	})
}

// hurry has pieces that an effect delays arrive without its delay, from now on at the earliest.
func (f *virtualFlow) hurry(l *virtualEffect) {
	if l.effect.treatment == pace {
		f.busy = time.Time{}
	}
	before := time.Now()
	for i := range f.queue {
		piece := &f.queue[i]
		piece.delays = slices.DeleteFunc(slices.Clone(piece.delays), func(d lateness) bool { return d.by == l })
		at := f.arrival(piece, before)
		if at.Before(piece.at) && f.conn.port.fabric.manual == nil {
			f.landAt(at)
			piece.at = at
		}
		before = piece.at
	}
	if n := len(f.queue); n > 0 {
		f.last = f.queue[n-1].at
	}
}

// carries reports whether something is on the way.
func (f *virtualFlow) carries() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.queue) > 0
}

// land hands over the piece that is due.
func (f *virtualFlow) land() {
	f.mu.Lock()
	if f.dried || len(f.queue) == 0 {
		f.mu.Unlock()
		return
	}
	piece := f.queue[0]
	f.queue = f.queue[1:]
	f.mu.Unlock()
	c := f.conn
	switch {
	case f.toward == Up && piece.data == nil:
		c.port.forget(c)
		c.session.Gone()
	case f.toward == Up:
		c.session.Request(piece.data)
	case piece.data == nil:
		c.hungUp()
	default:
		c.arrive(piece.data)
	}
}

// lift lets go of what an effect has held or delays; where it has dropped bytes, the
// connection ends.
func (f *virtualFlow) lift(l *virtualEffect) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dried {
		return
	}
	if f.lost[l] {
		l.effect.ended.Add(1)
		f.conn.up.breakOff(f)
		f.conn.down.breakOff(f)
		f.shutDown()
		return
	}
	f.hurry(l)
	held := f.held
	f.held = nil
	for _, h := range held {
		if h.by != l {
			f.held = append(f.held, h)
			continue
		}
		f.enter(h.data, l.order)
	}
}

// dry has the flow carry nothing more.
func (f *virtualFlow) dry() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dried, f.held, f.queue = true, nil, nil
}

// virtualAddr is the address of what has none.
type virtualAddr struct{}

func (virtualAddr) Network() string { return "memory" }
func (virtualAddr) String() string  { return "memory" }

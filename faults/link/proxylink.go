package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
)

// A road implements Link, Listener and Tapper over one port.
type road struct {
	client, node string
	addr         string
	port         port

	sent, received  atomic.Int64 // bytes
	requests        atomic.Int64
	opened, refused atomic.Int64 // dials
	notices         notices
	silent          silence
	pieces, torn    atomic.Int64 // reads, and connections, that ended in the middle of a reply
	forsaken        atomic.Int64 // connections that ended with a command unanswered

	changes   sync.Mutex   // serialises changes to the port
	cuts      []*wound     // that want the proxy stopped, the oldest first, under changes
	lastWound atomic.Int64 // number of the last one

	mu         sync.Mutex
	wounds     map[*wound]struct{}
	conns      map[*conn]struct{}
	unanswered []unanswered
	closed     bool

	taps     atomic.Pointer[[]*tap] // replaced under mu, never changed
	firstCut atomic.Pointer[wound]  // the oldest of cuts, which answers for refused dials; nil without any
}

// Client implements Link.
func (r *road) Client() string { return r.client }

// Node implements Link.
func (r *road) Node() string { return r.node }

// Addr implements Listener.
func (r *road) Addr() string { return r.addr }

// Traffic implements Link.
func (r *road) Traffic() Traffic {
	return Traffic{
		Sent: r.sent.Load(), Received: r.received.Load(), Conns: r.opened.Load(),
		Refused: r.refused.Load(), Unanswered: r.silent.dials.Load(),
	}
}

// Dial implements Link. On a partitioned road it waits for ctx or for the heal.
func (r *road) Dial(ctx context.Context) (net.Conn, error) {
	if err := r.awaitAnswer(ctx); err != nil {
		return nil, err
	}
	cut := r.firstCut.Load()
	if cut != nil {
		cut.dialling.Add(1)
		defer cut.dialling.Add(-1)
	}
	raw, err := r.connect(ctx)
	if err != nil {
		r.noteRefusal(err, cut)
		return nil, err
	}
	c := newConn(raw, r, uint64(r.opened.Add(1)))
	if _, ok := r.port.(interface{ takesPreface() }); ok {
		c.passage, c.passageNumber, c.preface = newPassage()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.Join(net.ErrClosed, raw.Close())
	}
	r.conns[c] = struct{}{}
	return c, nil
}

// connect reaches the port, by the network unless it has a way of its own.
func (r *road) connect(ctx context.Context) (net.Conn, error) {
	if p, ok := r.port.(interface {
		dial(context.Context) (net.Conn, error)
	}); ok {
		return p.dial(ctx)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", r.addr)
}

// noteRefusal counts a dial that was refused, and whose doing that was: the
// cut's that was in force when the dial began, or a later one's.
func (r *road) noteRefusal(err error, cut *wound) {
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return
	}
	r.refused.Add(1)
	if cut == nil {
		cut = r.firstCut.Load()
	}
	if cut != nil {
		cut.refused.Add(1)
	}
}

// uncut takes w off the road's cuts.
func (r *road) uncut(w *wound) {
	r.cuts = slices.DeleteFunc(r.cuts, func(x *wound) bool { return x == w })
	if len(r.cuts) == 0 {
		r.firstCut.Store(nil)
		return
	}
	r.firstCut.Store(r.cuts[0])
}

// claimConns lists the open connections that no cut has ended yet.
func (r *road) claimConns() (ended []*conn) {
	for _, c := range r.open() {
		if c.cut.CompareAndSwap(false, true) {
			ended = append(ended, c)
		}
	}
	return ended
}

// open lists the connections that are open at this moment.
func (r *road) open() []*conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	conns := make([]*conn, 0, len(r.conns))
	for c := range r.conns {
		conns = append(conns, c)
	}
	return conns
}

// resetConns resets the connections that are open at this moment. It returns
// on how many of them a command was under way, and on how many none.
func (r *road) resetConns() (busy, idle int) {
	for _, c := range r.open() {
		if c.atWork() {
			busy++
		} else {
			idle++
		}
		c.reset()
	}
	return busy, idle
}

// change makes one change to the port at a time, under the watchdog. After a
// change that hangs every other one fails too, by time.
func (r *road) change(ctx context.Context, what string, do func(context.Context) error) error {
	return guard(ctx, fmt.Sprintf("%s link %s→%s", what, r.client, r.node), func(ctx context.Context) error {
		r.changes.Lock()
		defer r.changes.Unlock()
		return do(ctx)
	})
}

// reset heals every wound.
func (r *road) reset(ctx context.Context) error {
	r.mu.Lock()
	wounds := make([]*wound, 0, len(r.wounds))
	for w := range r.wounds {
		wounds = append(wounds, w)
	}
	r.mu.Unlock()
	var errs []error
	for _, w := range wounds {
		_, err := w.Heal(ctx)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// close ends the client's connections.
func (r *road) close() {
	r.mu.Lock()
	r.closed = true
	conns := r.conns
	r.conns = map[*conn]struct{}{}
	r.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close()
	}
}

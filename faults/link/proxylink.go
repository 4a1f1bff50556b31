package link

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
)

// A proxyLink implements Link, Listener and Tapper over one port.
type proxyLink struct {
	client, node string
	addr         string
	port         port

	sent, received  atomic.Int64 // bytes
	requests        atomic.Int64
	opened, refused atomic.Int64 // dials
	notices         notices
	silent          silence
	pieces, torn    atomic.Int64            // reads, and connections, that ended in the middle of a reply
	forsaken        atomic.Int64            // connections that ended with a command unanswered
	ingress         atomic.Pointer[ingress] // for clients in other processes; nil without one

	changes     sync.Mutex   // serialises changes to the port
	cuts        []*applied   // that want the proxy stopped, the oldest first, under changes
	lastApplied atomic.Int64 // number of the last one

	mu         sync.Mutex
	inForce    map[*applied]struct{}
	conns      map[*conn]struct{}
	unanswered []unanswered
	closed     bool

	taps     atomic.Pointer[[]*tap]  // replaced under mu, never changed
	firstCut atomic.Pointer[applied] // the oldest of cuts, which answers for refused dials; nil without any
}

// Client implements Link.
func (l *proxyLink) Client() string { return l.client }

// Node implements Link.
func (l *proxyLink) Node() string { return l.node }

// Addr implements Listener.
func (l *proxyLink) Addr() string { return l.addr }

// Traffic implements Link.
func (l *proxyLink) Traffic() Traffic {
	return Traffic{
		Sent: l.sent.Load(), Received: l.received.Load(), Conns: l.opened.Load(),
		Refused: l.refused.Load(), Unanswered: l.silent.dials.Load(), Waiting: l.waiting(),
	}
}

// waiting counts the requests on open connections that have no reply.
func (l *proxyLink) waiting() (n int) {
	l.mu.Lock()
	open := slices.Collect(maps.Keys(l.conns))
	l.mu.Unlock()
	for _, c := range open {
		n += c.unreplied()
	}
	return n
}

// Dial implements Link. On a partitioned link it waits for ctx or for the heal.
func (l *proxyLink) Dial(ctx context.Context) (net.Conn, error) {
	if err := l.awaitAnswer(ctx); err != nil {
		return nil, err
	}
	c, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// enter is Dial for a client in another process, which does not wait.
func (l *proxyLink) enter(ctx context.Context) (*conn, error) {
	if l.partitioned() {
		l.silent.dials.Add(1)
		return nil, errUnanswered
	}
	return l.open(ctx, outside)
}

// errUnanswered says that a dial met a partition.
var errUnanswered = errors.New("the link is partitioned")

// outside marks a connection as one of a client in another process.
func outside(c *conn) { c.outside = true }

// open makes a connection through the proxy, marked as told.
func (l *proxyLink) open(ctx context.Context, marks ...func(*conn)) (*conn, error) {
	cut := l.firstCut.Load()
	if cut != nil {
		cut.dialling.Add(1)
		defer cut.dialling.Add(-1)
	}
	raw, err := l.connect(ctx)
	if err != nil {
		l.noteRefusal(err, cut)
		return nil, err
	}
	c := newConn(raw, l, uint64(l.opened.Add(1)))
	for _, mark := range marks {
		mark(c)
	}
	if _, ok := l.port.(interface{ takesPreface() }); ok {
		c.progress, c.progressNumber, c.preface = newProgress()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.Join(net.ErrClosed, raw.Close())
	}
	l.conns[c] = struct{}{}
	return c, nil
}

// connect reaches the port, by the network unless it has a way of its own.
func (l *proxyLink) connect(ctx context.Context) (net.Conn, error) {
	if p, ok := l.port.(interface {
		dial(context.Context) (net.Conn, error)
	}); ok {
		return p.dial(ctx)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", l.addr)
}

// noteRefusal counts a dial that was refused, and whose doing that was: the
// cut's that was in force when the dial began, or a later one's.
func (l *proxyLink) noteRefusal(err error, cut *applied) {
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return
	}
	l.refused.Add(1)
	if cut == nil {
		cut = l.firstCut.Load()
	}
	if cut != nil {
		cut.refused.Add(1)
	}
}

// uncut takes a off the link's cuts.
func (l *proxyLink) uncut(a *applied) {
	l.cuts = slices.DeleteFunc(l.cuts, func(x *applied) bool { return x == a })
	if len(l.cuts) == 0 {
		l.firstCut.Store(nil)
		return
	}
	l.firstCut.Store(l.cuts[0])
}

// claimConns lists the open connections that no cut has ended yet.
func (l *proxyLink) claimConns() (ended []*conn) {
	for _, c := range l.openConns() {
		if c.cut.CompareAndSwap(false, true) {
			ended = append(ended, c)
		}
	}
	return ended
}

// openConns lists the connections of which neither end is closed.
func (l *proxyLink) openConns() []*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	conns := make([]*conn, 0, len(l.conns))
	for c := range l.conns {
		if !c.over.Load() {
			conns = append(conns, c)
		}
	}
	return conns
}

// resetConns resets the connections that are open at this moment. It returns
// on how many of them a command was under way, and on how many none.
func (l *proxyLink) resetConns() (busy, idle int) {
	for _, c := range l.openConns() {
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
func (l *proxyLink) change(ctx context.Context, what string, do func(context.Context) error) error {
	return guard(ctx, fmt.Sprintf("%s link %s→%s", what, l.client, l.node), func(ctx context.Context) error {
		l.changes.Lock()
		defer l.changes.Unlock()
		return do(ctx)
	})
}

// reset heals every impairment.
func (l *proxyLink) reset(ctx context.Context) error {
	l.mu.Lock()
	inForce := make([]*applied, 0, len(l.inForce))
	for a := range l.inForce {
		inForce = append(inForce, a)
	}
	l.mu.Unlock()
	var errs []error
	for _, a := range inForce {
		_, err := a.Heal(ctx)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// close ends the client's connections, and the ingress.
func (l *proxyLink) close(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	conns := l.conns
	l.conns = map[*conn]struct{}{}
	l.mu.Unlock()
	for c := range conns {
		_ = c.Conn.Close()
	}
	if d := l.ingress.Load(); d != nil {
		return l.change(ctx, "close the ingress of", func(context.Context) error { return d.close() })
	}
	return nil
}

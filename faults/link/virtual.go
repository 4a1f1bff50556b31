package link

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"locktorture/faults/link/internal/agenda"
)

// A Server takes the connections of a virtual fabric. Its methods must not
// block; what it sends it hands to reply, in the call of Request or later, and
// hangup closes the connection from its end. An error refuses the connection.
type Server interface {
	Accept(reply func([]byte), hangup func()) (Session, error)
}

// A Session is the server's end of one connection.
type Session interface {
	Request([]byte) // bytes have arrived, in pieces of any size
	Gone()          // the client has closed
}

// NewVirtual returns a fabric without sockets, with a single goroutine, for the
// virtual time of a testing/synctest bubble. Its links bear the same
// impairments as the embedded one's; a write never blocks.
//
// Runs repeat exactly: how long a message takes depends on the seed, its link,
// its direction and the instant at which it was sent, and on nothing that was
// drawn before; and each direction of each connection delivers at nanoseconds
// of its own, so that no two messages arrive at the same instant.
func NewVirtual(seed uint64, p Pace, server func(upstream string) Server) Fabric {
	if p == (Pace{}) {
		p = Pace{Least: 100 * time.Microsecond, Spread: 300 * time.Microsecond}
	}
	return newFabric(&virtual{seed: seed, pace: p, server: server})
}

// virtual is a backend without sockets.
type virtual struct {
	seed   uint64
	pace   Pace
	server func(upstream string) Server
	manual *Manual // nil: messages arrive by themselves

	mu     sync.Mutex
	ports  []*virtualPort
	agenda *agenda.Agenda // nil before the first link
	ranks  *ranking
}

// open implements backend.
func (v *virtual) open(_ context.Context, name, upstream string) (port, string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.agenda == nil {
		v.agenda = agenda.New()
		if v.pace.Ranks != nil {
			v.ranks = newRanking(v.pace.Ranks, v.seed)
		}
	}
	if v.ranks != nil {
		v.ranks.add(name)
	}
	p := &virtualPort{fabric: v, name: name, agenda: v.agenda, upstream: upstream, enabled: true, number: uint64(len(v.ports))}
	v.ports = append(v.ports, p)
	return p, "", nil
}

// close implements backend.
func (v *virtual) close(context.Context) error {
	v.mu.Lock()
	ports, schedule := v.ports, v.agenda
	v.ports, v.agenda = nil, nil
	v.mu.Unlock()
	for _, p := range ports {
		for _, c := range p.open() {
			c.up.dry()
			c.down.dry()
			c.hungUp()
			c.session.Gone()
		}
	}
	if schedule != nil {
		schedule.Close()
	}
	return nil
}

// grain is how far apart the instants are of which each direction of each
// connection has one of its own.
const grain = 1 << 12 * time.Nanosecond

// connsApart is how many connections of one link have instants of their own.
const connsApart = 4

// A virtualPort is one link's way to its server.
type virtualPort struct {
	fabric   *virtual
	name     string
	agenda   *agenda.Agenda // nil for Direct: timers of their own do
	upstream string
	number   uint64

	mu       sync.Mutex
	enabled  bool
	opened   uint64
	answered time.Time      // when the last dial so far is answered
	conns    []*virtualConn // that are open, in the order in which they came
	laid     []*virtualEffect
	order    int
}

// A virtualEffect is an effect on one direction of a port.
type virtualEffect struct {
	name   string
	toward Direction
	order  int
	effect *effect
}

// dial opens a connection: it takes as long as a packet there and back.
func (p *virtualPort) dial(ctx context.Context) (net.Conn, error) {
	refused := &net.OpError{Op: "dial", Net: "memory", Err: syscall.ECONNREFUSED}
	timer := time.NewTimer(time.Until(p.answer()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: ctx.Err()}
	}
	p.mu.Lock()
	if !p.enabled {
		p.mu.Unlock()
		return nil, refused
	}
	c := newVirtualConn(p, p.opened)
	p.opened++
	p.conns = append(p.conns, c)
	p.mu.Unlock()
	session, err := p.fabric.server(p.upstream).Accept(c.down.send, c.down.finish)
	if err != nil {
		p.forget(c)
		return nil, refused
	}
	c.session = session
	return c, nil
}

// answer is when a dial that begins now is answered: at an instant of its own also
// among those that begin at once, whose timers Go would fire in any order.
func (p *virtualPort) answer() time.Time {
	at := p.instant(time.Now().Add(p.travel(Up)+p.travel(Down)), Down, 0)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !at.After(p.answered) {
		at = p.instant(p.answered.Add(1), Down, 0)
	}
	p.answered = at
	return at
}

// at has something done at an instant.
func (p *virtualPort) at(t time.Time, do func()) {
	if p.agenda == nil {
		time.AfterFunc(time.Until(t), do)
		return
	}
	p.agenda.At(t, do)
}

// travel draws how long a message takes that is sent now.
func (p *virtualPort) travel(d Direction) time.Duration {
	return p.fabric.pace.travel(p.fabric.seed, p.fabric.ranks, flowID{p.name, p.number, d})
}

// instant returns the first instant from t on that belongs to the direction of a
// connection.
func (p *virtualPort) instant(t time.Time, d Direction, conn uint64) time.Time {
	own := int64(((p.number<<1|side(d))*connsApart + conn%connsApart) % uint64(grain))
	behind := (own - t.UnixNano()) % int64(grain)
	if behind < 0 {
		behind += int64(grain)
	}
	return t.Add(time.Duration(behind))
}

func (p *virtualPort) forget(c *virtualConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = slices.DeleteFunc(p.conns, func(x *virtualConn) bool { return x == c })
}

func (p *virtualPort) open() []*virtualConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.conns)
}

// sever destroys what the connections hold, and ends them.
func (p *virtualPort) sever() {
	for _, c := range p.open() {
		c.destroy()
	}
}

// add implements port.
func (p *virtualPort) add(_ context.Context, s toxicSpec) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order++
	p.laid = append(p.laid, &virtualEffect{name: s.name, toward: s.toward, order: p.order, effect: s.effect})
	return nil
}

// remove implements port.
func (p *virtualPort) remove(_ context.Context, s toxicSpec) error {
	p.mu.Lock()
	i := slices.IndexFunc(p.laid, func(l *virtualEffect) bool { return l.name == s.name })
	if i < 0 {
		p.mu.Unlock()
		return nil
	}
	gone := p.laid[i]
	p.laid = slices.Delete(p.laid, i, i+1)
	conns := slices.Clone(p.conns)
	p.mu.Unlock()
	gone.effect.healed.Store(true)
	for _, c := range conns {
		c.flow(gone.toward).lift(gone)
	}
	return nil
}

// enable implements port.
func (p *virtualPort) enable(_ context.Context, on bool) error {
	p.mu.Lock()
	p.enabled = on
	p.mu.Unlock()
	if !on {
		p.sever()
	}
	return nil
}

// state implements port.
func (p *virtualPort) state(context.Context) (portState, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := map[string]bool{}
	for _, l := range p.laid {
		names[l.name] = true
	}
	return portState{enabled: p.enabled, toxics: names}, nil
}

// suffered lists the effects on one direction of a connection that come after
// the one of the given order.
func (p *virtualPort) suffered(c *virtualConn, d Direction, after int) (all []*virtualEffect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.laid {
		if l.toward == d && l.order > after && (l.order > c.born || l.effect.meets(c)) {
			all = append(all, l)
		}
	}
	return all
}

// Direct connects to a server past every link, in virtual time: a message takes
// a microsecond. Connections to servers of different numbers, from 0, share no
// instant.
func Direct(s Server, number uint64) (net.Conn, error) {
	p := &virtualPort{
		fabric: &virtual{pace: Pace{Least: time.Microsecond}}, enabled: true,
		number: 400 + number, // beyond those of a fabric
	}
	c := newVirtualConn(p, 0)
	session, err := s.Accept(c.down.send, c.down.finish)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	c.session = session
	return c, nil
}

package link

import (
	"slices"
	"sync"
)

// A Manual fabric is a virtual one in which a message arrives when somebody says so,
// and not before: Waiting lists what is on the way, Deliver lets one message arrive,
// Break ends the connection that carries one. Within one direction of a connection
// messages keep their order, as TCP's do. Dialling, and the end of a connection that
// an effect ends, take their own time as in any virtual fabric.
//
// It is for whoever tries all orders in which messages can arrive. All of its methods
// are called from one goroutine of the bubble, at instants that are nobody else's.
type Manual struct {
	mu    sync.Mutex
	flows []*virtualFlow // that have something on the way
	news  chan struct{}  // something was sent since the last look
}

// NewManual returns a fabric whose messages wait for Deliver. Seed and server are as
// for NewVirtual.
func NewManual(seed uint64, server func(upstream string) Server) (Fabric, *Manual) {
	m := &Manual{news: make(chan struct{}, 1)}
	v := &virtual{seed: seed, pace: Pace{Least: leastManual}, server: server, manual: m}
	return newFabric(v), m
}

// leastManual is half of what dialling takes.
const leastManual = 10_000 // ns

// A Message is the first piece that is on the way in one direction of a connection.
type Message struct {
	Flow
	Data []byte // nil: the end of the stream

	flow *virtualFlow
}

// A Flow is one direction of a connection.
type Flow struct {
	Link   string // client.node
	Conn   uint64 // number of the connection among those of the link
	Toward Direction
}

// Waiting lists the first message of each direction of each connection that carries
// any, in no order of their own.
func (m *Manual) Waiting() (all []Message) {
	m.mu.Lock()
	select {
	case <-m.news:
	default:
	}
	flows := slices.Clone(m.flows)
	m.mu.Unlock()
	for _, f := range flows {
		f.mu.Lock()
		if len(f.queue) > 0 && !f.dried {
			all = append(all, Message{Flow{f.conn.port.name, f.conn.number, f.toward}, f.queue[0].data, f})
		}
		f.mu.Unlock()
	}
	return all
}

// News is ready once something was sent that Waiting has not been asked for since.
func (m *Manual) News() <-chan struct{} { return m.news }

// Deliver lets a message arrive now.
func (m *Manual) Deliver(msg Message) {
	m.gone(msg.flow)
	msg.flow.land()
	if msg.flow.carries() {
		m.sent(msg.flow)
	}
}

// Break ends the connection that carries a message, with all that it holds.
func (m *Manual) Break(msg Message) {
	m.gone(msg.flow.conn.up)
	m.gone(msg.flow.conn.down)
	msg.flow.conn.destroy()
}

// sent has a flow wait for Deliver.
func (m *Manual) sent(f *virtualFlow) {
	m.mu.Lock()
	if !slices.Contains(m.flows, f) {
		m.flows = append(m.flows, f)
	}
	m.mu.Unlock()
	select {
	case m.news <- struct{}{}:
	default:
	}
}

func (m *Manual) gone(f *virtualFlow) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flows = slices.DeleteFunc(m.flows, func(x *virtualFlow) bool { return x == f })
}

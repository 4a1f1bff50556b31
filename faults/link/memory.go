package link

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// memory is a backend without sockets.
type memory struct {
	dial func(ctx context.Context, upstream string) (net.Conn, error)

	mu    sync.Mutex
	ports []*memoryPort
}

// NewMemory returns a fabric without sockets, whose links bear the same
// impairments as the embedded one's: for runs in the virtual time of a
// testing/synctest bubble, where a real socket would stop the clock. dial
// connects to the node at upstream, in memory too.
//
// A link without a Delay takes no time at all: clients that never wait would
// stop the clock. What happens at the same instant happens in no particular
// order: give links a Delay with a Seed where runs must repeat exactly.
func NewMemory(dial func(ctx context.Context, upstream string) (net.Conn, error)) Fabric {
	return newFabric(&memory{dial: dial})
}

// open implements backend.
func (m *memory) open(_ context.Context, _, upstream string) (port, string, error) {
	p := &memoryPort{enabled: true, conns: map[net.Conn]struct{}{}}
	p.dialNode = func(ctx context.Context) (net.Conn, error) { return m.dial(ctx, upstream) }
	p.up = &toxic{}
	p.down = &toxic{}
	p.up.Direction, p.directions.up = newDirection(nil)
	p.down.Direction, p.directions.down = newDirection(p.directions.up)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ports = append(m.ports, p)
	return p, "", nil
}

// close implements backend.
func (m *memory) close(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.ports {
		if err := p.enable(ctx, false); err != nil {
			return err
		}
		p.carriers.Wait()
		directions.Delete(p.up.Direction)
		directions.Delete(p.down.Direction)
	}
	m.ports = nil
	return nil
}

// A memoryPort stands for a proxy: it carries bytes between two connections in
// memory, through the toxics that toxiproxy would run.
type memoryPort struct {
	directionPort
	dialNode func(context.Context) (net.Conn, error)
	up, down *toxic
	carriers sync.WaitGroup

	mu      sync.Mutex
	enabled bool
	conns   map[net.Conn]struct{}
}

// dial opens a connection through the port.
func (p *memoryPort) dial(ctx context.Context) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.enabled {
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: syscall.ECONNREFUSED}
	}
	near, ours := newPipe()
	far, err := p.dialNode(ctx)
	if err != nil { // a proxy accepts first, and then finds nobody
		_ = ours.Close()
		return near, nil
	}
	p.conns[ours], p.conns[far] = struct{}{}, struct{}{}
	upState, downState := p.up.NewState(), p.down.NewState()
	p.carry(p.up, upState, ours, far)
	p.carry(p.down, downState, far, ours)
	return near, nil
}

// carry moves bytes from one connection to another until either ends.
func (p *memoryPort) carry(t *toxic, state any, from, to net.Conn) {
	in, out := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk)
	stub := toxics.NewToxicStub(in, out)
	stub.State = state
	p.carriers.Go(func() { t.Pipe(stub) })
	p.carriers.Go(func() {
		defer close(in)
		for {
			buf := make([]byte, 4096)
			n, err := from.Read(buf)
			if n > 0 {
				in <- &stream.StreamChunk{Data: buf[:n], Timestamp: time.Now()}
			}
			if err != nil {
				return
			}
		}
	})
	p.carriers.Go(func() {
		for chunk := range out { // to the end, whether anybody listens or not
			_, _ = to.Write(chunk.Data)
		}
		_ = to.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, to)
	})
}

// enable implements port.
func (p *memoryPort) enable(_ context.Context, on bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.enabled = on
	if on {
		return nil
	}
	p.sever()
	for c := range p.conns {
		_ = c.Close()
	}
	return nil
}

// state implements port.
func (p *memoryPort) state(context.Context) (portState, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return portState{enabled: p.enabled, toxics: p.names()}, nil
}

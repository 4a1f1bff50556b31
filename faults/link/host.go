package link

import (
	"sync"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// A host runs one stock toxic of toxiproxy on one connection's way, on a stub of
// its own, as toxiproxy does, and differs from toxiproxy in when it stops it:
// at its own heal, never because a neighbour comes or goes. What the toxic lets
// through goes on to the next effect.
type host struct {
	stub   *toxics.ToxicStub
	in     chan *stream.StreamChunk
	shutIn bool            // in is closed: the sender has nothing more
	wake   chan<- struct{} // told whenever something has come out
	ends   sync.WaitGroup  // of the toxic and of collect

	mu     sync.Mutex
	out    []*stream.StreamChunk
	closed bool // nothing more will come out
}

// hostBuffer is how many chunks wait for a toxic. Those that find it full
// wait before it.
const hostBuffer = 1024

func newHost(t toxics.Toxic, wake chan<- struct{}) *host {
	in, out := make(chan *stream.StreamChunk, hostBuffer), make(chan *stream.StreamChunk)
	h := &host{stub: toxics.NewToxicStub(in, out), in: in, wake: wake}
	if s, ok := t.(toxics.StatefulToxic); ok {
		h.stub.State = s.NewState()
	}
	h.ends.Go(func() { h.stub.Run(&toxics.ToxicWrapper{Toxic: t, Toxicity: 1}) })
	h.ends.Go(func() { h.collect(out) })
	return h
}

// collect takes what comes out, so that the toxic never waits for the far end.
func (h *host) collect(out <-chan *stream.StreamChunk) {
	for chunk := range out {
		if len(chunk.Data) > 0 { // a stock bandwidth of 0 sends empty ones
			h.note(func() { h.out = append(h.out, chunk) })
		}
	}
	h.note(func() { h.closed = true })
}

func (h *host) note(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// offer gives a chunk to the toxic, unless too many wait already.
func (h *host) offer(chunk *stream.StreamChunk) bool {
	select {
	case h.in <- chunk:
		return true
	default:
		return false
	}
}

// shut tells the toxic that the sender has closed.
func (h *host) shut() {
	if !h.shutIn {
		h.shutIn = true
		close(h.in)
	}
}

// drain returns the chunks that have come out since it was last called, and whether the
// toxic has closed the connection.
func (h *host) drain() (chunks []*stream.StreamChunk, closed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	chunks, h.out = h.out, nil
	return chunks, h.closed
}

// stop ends the toxic and returns what it had not let through yet, in order.
// It passes on what it was working at, as at a removal by toxiproxy. closed
// says that the toxic itself had closed the connection before.
func (h *host) stop() (rest []*stream.StreamChunk, closed bool) {
	running := h.stub.InterruptToxic()
	if running {
		h.stub.Close()
	}
	h.ends.Wait()
	rest, _ = h.drain()
	h.shut()
	for chunk := range h.in {
		if running {
			rest = append(rest, chunk)
		}
	}
	return rest, !running
}

// arrived returns chunk with the present time as its arrival, from which stock toxics compute
// delays.
func arrived(chunk *stream.StreamChunk) *stream.StreamChunk {
	return &stream.StreamChunk{Data: chunk.Data, Timestamp: time.Now()}
}

// emerge moves on what has come out of the stock toxic of effect i. It reports
// whether the toxic has closed: then that effect and those before it are gone.
func (f *flow) emerge(i int) bool {
	e := f.effects[i]
	chunks, closed := e.emerge()
	for _, chunk := range chunks {
		f.enter(i+1, chunk)
	}
	if !closed {
		return false
	}
	e.conclude()
	f.dismiss(i + 1)
	f.closing = true
	return true
}

// dismiss removes the first n effects, and drops what they hold.
func (f *flow) dismiss(n int) {
	for _, e := range f.effects[:n] {
		if e.host != nil {
			e.host.stop()
		}
		e.conns.Add(-1)
	}
	f.effects = f.effects[n:]
}

// passEnd tells the next stock toxic that the sender has closed, once all that
// came before has reached it.
func (f *flow) passEnd() {
	if !f.eof && !f.closing {
		return
	}
	for _, e := range f.effects {
		switch {
		case len(e.queue) > 0:
			return
		case e.host != nil:
			if !e.end && e.treatment == linger {
				e.ended.Add(1)
				f.pair.lingering.Store(e.effect)
			}
			e.end = true
			e.host.shut()
			return
		}
	}
}

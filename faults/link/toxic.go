package link

import (
	"sync"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"
	zlog "github.com/rs/zerolog/log"
)

// wireType is the name under which toxiproxy knows wire.
const wireType = "locktorture"

// stuckAfter is how long a connection waits for its far end before it counts
// as dead: toxiproxy stops reading once it cannot write.
const stuckAfter = time.Second

// register makes wire known to toxiproxy, once per process, and keeps the stock
// bandwidth toxic from tracing every removal to the process's own log.
var register = sync.OnceFunc(func() {
	toxics.Register(wireType, new(wire))
	zlog.Logger = zlog.Logger.Level(max(zlog.Logger.GetLevel(), zerolog.DebugLevel))
})

// A wire is the one toxic of each direction of each proxy. It stays for the
// proxy's life and lets the effects on its lane act: to add and remove stock
// toxics under load lets held bytes slip, hangs when a neighbour is blocked,
// and panics on a dying connection.
type wire struct {
	Lane uint64 `json:"lane"`
}

// NewState implements toxics.StatefulToxic: called once per connection.
func (w *wire) NewState() any {
	found, ok := lanes.Load(w.Lane)
	if !ok {
		_, found = newLane(nil)
	}
	l := found.(*lane)
	c := &conduit{lane: l, pair: l.pairUp(), wake: make(chan struct{}, 1)}
	if l.twin != nil {
		c.replies.whole = func(first byte, _ bool, _ [][]byte) {
			if first != '>' {
				c.pair.passage.Load().answer(c.replies.shape())
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.severed, c.born = l.severed, l.last
	return c
}

// Pipe implements toxics.Toxic. It always takes its input, whatever becomes of
// its output.
func (w *wire) Pipe(stub *toxics.ToxicStub) {
	c := stub.State.(*conduit)
	for {
		changed, next := c.advance()
		if c.over() {
			c.end(stub)
			return
		}
		var in <-chan *stream.StreamChunk
		if !c.eof && !c.closing {
			in = stub.Input
		}
		var out chan<- *stream.StreamChunk
		var head *stream.StreamChunk
		if len(c.out) > 0 {
			out, head, next = stub.Output, c.out[0], sooner(next, c.outSince.Add(stuckAfter))
		}
		var tick <-chan time.Time
		if !next.IsZero() {
			tick = time.After(time.Until(next))
		}
		select {
		case <-stub.Interrupt:
			return
		case <-changed:
		case <-c.wake:
		case <-c.severed:
			c.broken = true
		case chunk := <-in:
			c.take(chunk)
		case out <- head:
			c.passed(head)
		case <-tick:
			c.broken = c.broken || out != nil && time.Since(c.outSince) >= stuckAfter
		}
	}
}

// sooner returns the earlier of two moments; zero is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// A conduit is one connection in one direction.
type conduit struct {
	lane     *lane
	pair     *pair
	severed  <-chan struct{}
	preface  prefaceReader // towards the node
	replies  scanner       // towards the client
	order    int           // of the last effect that it has seen
	born     int           // order of the last effect that was there before it
	stages   []*stage
	out      []*stream.StreamChunk
	outSince time.Time     // the head of out waits since
	wake     chan struct{} // told when a stock toxic has let something through
	eof      bool          // the sender has closed
	closing  bool          // a toxic has closed: what has passed it goes out, and then the connection ends
	broken   bool          // bytes are missing: the connection must end
}

// look adds a stage for every effect laid since the last look.
func (c *conduit) look() <-chan struct{} {
	laid, changed := c.lane.since(c.order)
	for _, l := range laid {
		c.order = l.order
		if l.order <= c.born && l.effect.spares() {
			continue
		}
		l.effect.stages.Add(1)
		s := &stage{effect: l.effect}
		if l.effect.stock {
			_, toxic := stock(l.effect)
			s.host = newHost(toxic, c.wake)
		} else if l.effect.treatment == lag {
			rng := l.effect.stream()
			s.draws = func() time.Duration { return l.effect.impair.delay(rng) }
		}
		c.stages = append(c.stages, s)
	}
	return changed
}

// take sends one arriving chunk on its way; nil is the end of the stream.
func (c *conduit) take(chunk *stream.StreamChunk) {
	if chunk == nil {
		c.eof = true
		return
	}
	if c.lane.twin != nil {
		c.replies.feed(chunk.Data)
	} else if chunk = c.preface.read(chunk, c.pair); chunk == nil {
		return
	}
	c.pair.missed(c.lane, chunk)
	c.look()
	c.enter(0, chunk)
}

// passed notes that the head of out has left.
func (c *conduit) passed(chunk *stream.StreamChunk) {
	c.out, c.outSince = c.out[1:], time.Now()
	if c.lane.twin == nil {
		c.pair.passage.Load().forwarded.Add(int64(len(chunk.Data)))
	}
}

// enter lets a chunk pass the stages from i on, as far as it gets.
func (c *conduit) enter(i int, chunk *stream.StreamChunk) {
	for ; i < len(c.stages); i++ {
		if !c.stages[i].passes(chunk) {
			return
		}
	}
	if len(c.out) == 0 {
		c.outSince = time.Now()
	}
	c.out = append(c.out, chunk)
}

// advance moves what is due, drops the stages of healed effects, and returns
// what to wait for next: a change of the effects, or a moment if any.
func (c *conduit) advance() (changed <-chan struct{}, next time.Time) {
	changed = c.look()
	now := time.Now()
	for i := 0; i < len(c.stages); i++ {
		s := c.stages[i]
		if s.host != nil && c.emerge(i) {
			i = -1
			continue
		}
		for s.host == nil && len(s.queue) > 0 && s.isDue(now) {
			chunk := s.queue[0].chunk
			s.queue = s.queue[1:]
			c.enter(i+1, chunk)
		}
		if healed := s.healed.Load(); s.lost && (healed || s.treatment == snap) {
			c.broken = true
			s.ended.Add(1)
			return changed, next
		} else if s.host != nil {
			continue
		} else if healed && len(s.queue) == 0 {
			s.stages.Add(-1)
			c.stages = append(c.stages[:i:i], c.stages[i+1:]...)
			i--
		} else if len(s.queue) > 0 && s.treatment != hold {
			next = sooner(next, s.queue[0].due)
		}
	}
	c.passEnd()
	return changed, next
}

// over reports whether the connection must end: bytes are missing, or the
// sender has closed and all is delivered. The end of a stream passes where
// bytes are dropped, as it has nothing to wait for.
func (c *conduit) over() bool {
	if c.broken {
		return true
	}
	if !c.eof && !c.closing || len(c.out) > 0 {
		return false
	}
	for _, s := range c.stages {
		if s.host != nil || len(s.queue) > 0 {
			return false
		}
	}
	return true
}

// end closes the connection and swallows what still comes in until toxiproxy
// has closed the input, so that nothing before it waits for ever.
func (c *conduit) end(stub *toxics.ToxicStub) {
	c.dismiss(len(c.stages))
	c.out = nil
	if c.lane.twin == nil {
		c.pair.passage.Load().ended.Store(true)
	}
	stub.Close()
	for !c.eof {
		_, more := <-stub.Input
		c.eof = !more
	}
}

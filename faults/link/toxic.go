package link

import (
	"slices"
	"sync"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"
	zlog "github.com/rs/zerolog/log"

	"locktorture/faults/link/internal/resp"
)

// toxicType is the name under which toxiproxy knows the toxic of this package.
const toxicType = "locktorture"

// stuckAfter is how long a connection waits for its far end before it counts
// as dead: toxiproxy stops reading once it cannot write.
const stuckAfter = time.Second

// register makes the toxic known to toxiproxy, once per process, and keeps the stock
// bandwidth toxic from tracing every removal to the process's own log.
var register = sync.OnceFunc(func() {
	toxics.Register(toxicType, new(toxic))
	zlog.Logger = zlog.Logger.Level(max(zlog.Logger.GetLevel(), zerolog.DebugLevel))
})

// A toxic is the only one of each direction of each proxy. It stays for the
// proxy's life and lets the effects on its direction act: to add and remove stock
// toxics under load lets held bytes slip, hangs when a neighbour is blocked,
// and panics on a dying connection.
type toxic struct {
	Direction uint64 `json:"direction"`
}

// NewState implements toxics.StatefulToxic: called once per connection.
func (t *toxic) NewState() any {
	found, ok := directions.Load(t.Direction)
	if !ok {
		_, found = newDirection(nil)
	}
	d := found.(*direction)
	f := &flow{direction: d, pair: d.pairUp(), wake: make(chan struct{}, 1)}
	if d.opposite != nil {
		f.replies.Whole = func(first byte, _ bool, _ [][]byte) {
			if first != '>' {
				f.pair.progress.Load().answer(f.replies.Shape())
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f.severed, f.born = d.severed, d.last
	return f
}

// Pipe implements toxics.Toxic. It always takes its input, whatever becomes of
// its output.
func (t *toxic) Pipe(stub *toxics.ToxicStub) {
	f := stub.State.(*flow)
	for {
		changed, next := f.advance()
		f.noticeSevering()
		if f.over() {
			f.shutDown(stub)
			return
		}
		var in <-chan *stream.StreamChunk
		if !f.eof && !f.closing {
			in = stub.Input
		}
		var out chan<- *stream.StreamChunk
		var head *stream.StreamChunk
		if len(f.out) > 0 {
			out, head, next = stub.Output, f.out[0], sooner(next, f.outSince.Add(stuckAfter))
		}
		var tick <-chan time.Time
		if !next.IsZero() {
			tick = time.After(time.Until(next))
		}
		select {
		case <-stub.Interrupt:
			return
		case <-changed:
		case <-f.wake:
		case <-f.severed:
			f.broken = true
		case chunk := <-in:
			f.receive(chunk)
		case out <- head:
			f.passed(head)
		case <-tick:
			f.broken = f.broken || out != nil && time.Since(f.outSince) >= stuckAfter
		}
	}
}

// noticeSevering breaks a connection that was severed. It is asked after advance: what is lifted
// after a severing must not let through what that has destroyed, however late the connection
// hears of both.
func (f *flow) noticeSevering() {
	select {
	case <-f.severed:
		f.broken = true
	default:
	}
}

// sooner returns the earlier of two moments; zero is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// A flow is one connection in one direction.
type flow struct {
	direction *direction
	pair      *pair
	severed   <-chan struct{}
	preface   prefaceReader // towards the node
	replies   resp.Scanner  // towards the client
	order     int           // of the last effect that it has seen
	born      int           // order of the last effect that was there before it
	effects   []*connEffect
	out       []*stream.StreamChunk
	outSince  time.Time     // the head of out waits since
	wake      chan struct{} // told when a stock toxic has let something through
	eof       bool          // the sender has closed
	closing   bool          // a toxic has closed: what has passed it goes out, and then the connection ends
	broken    bool          // bytes are missing: the connection must end
}

// addNewEffects adds every effect that was laid since the last call to those of the connection,
// and returns the channel that announces the next change.
func (f *flow) addNewEffects() <-chan struct{} {
	laid, changed := f.direction.since(f.order)
	for _, l := range laid {
		f.order = l.order
		if l.order <= f.born && !l.effect.meets(f.pair) {
			continue
		}
		l.effect.conns.Add(1)
		e := &connEffect{effect: l.effect}
		if l.effect.stock {
			_, toxic := stock(l.effect)
			e.host = newHost(toxic, f.wake)
		} else if l.effect.travel != nil {
			e.draws = l.effect.travel
		} else if l.effect.treatment == lag {
			rng := l.effect.stream()
			e.draws = func() time.Duration { return l.effect.impair.delay(rng) }
		}
		f.place(e)
	}
	return changed
}

// place puts an effect behind the others, but before the pace of the fabric's messages: what is
// on its way has met the faults that were in force when it was sent, and meets no later one.
func (f *flow) place(e *connEffect) {
	if n := len(f.effects); n > 0 && f.effects[n-1].travel != nil {
		f.effects = slices.Insert(f.effects, n-1, e)
		return
	}
	f.effects = append(f.effects, e)
}

// receive sends one arriving chunk on its way; nil is the end of the stream.
func (f *flow) receive(chunk *stream.StreamChunk) {
	if chunk == nil {
		f.eof = true
		return
	}
	if f.direction.opposite != nil {
		f.replies.Feed(chunk.Data)
	} else if chunk = f.preface.read(chunk, f.pair); chunk == nil {
		return
	}
	f.pair.missed(f.direction, chunk)
	f.addNewEffects()
	f.enter(0, chunk)
}

// passed notes that the head of out has left.
func (f *flow) passed(chunk *stream.StreamChunk) {
	f.out, f.outSince = f.out[1:], time.Now()
	if f.direction.opposite == nil {
		f.pair.progress.Load().forwarded.Add(int64(len(chunk.Data)))
	}
}

// enter lets a chunk pass the effects from i on, as far as it gets.
func (f *flow) enter(i int, chunk *stream.StreamChunk) {
	for ; i < len(f.effects); i++ {
		if !f.effects[i].passes(chunk) {
			return
		}
	}
	if len(f.out) == 0 {
		f.outSince = time.Now()
	}
	f.out = append(f.out, chunk)
}

// advance moves what is due, drops the effects that are healed, and returns
// what to wait for next: a change of the effects, or a moment if any.
func (f *flow) advance() (changed <-chan struct{}, next time.Time) {
	changed = f.addNewEffects()
	now := time.Now()
	for i := 0; i < len(f.effects); i++ {
		e := f.effects[i]
		if e.host != nil && f.emerge(i) {
			i = -1
			continue
		}
		for e.host == nil && len(e.queue) > 0 && e.isDue(now) {
			chunk := e.queue[0].chunk
			e.queue = e.queue[1:]
			f.enter(i+1, chunk)
		}
		if healed := e.healed.Load(); e.lost && (healed || e.treatment == snap) {
			f.broken = true
			e.ended.Add(1)
			return changed, next
		} else if e.host != nil {
			continue
		} else if healed && len(e.queue) == 0 {
			e.conns.Add(-1)
			f.effects = append(f.effects[:i:i], f.effects[i+1:]...)
			i--
		} else if len(e.queue) > 0 && e.treatment != hold {
			next = sooner(next, e.queue[0].due)
		}
	}
	f.passEnd()
	return changed, next
}

// over reports whether the connection must end: bytes are missing, or the
// sender has closed and all is delivered. The end of a stream passes where
// bytes are dropped, as it has nothing to wait for.
func (f *flow) over() bool {
	if f.broken {
		return true
	}
	if !f.eof && !f.closing || len(f.out) > 0 {
		return false
	}
	for _, e := range f.effects {
		if e.host != nil || len(e.queue) > 0 {
			return false
		}
	}
	return true
}

// shutDown closes the connection and discards its input until toxiproxy has closed that, so
// that no toxic before this one blocks for ever.
func (f *flow) shutDown(stub *toxics.ToxicStub) {
	f.dismiss(len(f.effects))
	f.out = nil
	if f.direction.opposite == nil {
		f.pair.progress.Load().ended.Store(true)
	}
	stub.Close()
	for !f.eof {
		_, more := <-stub.Input
		f.eof = !more
	}
}

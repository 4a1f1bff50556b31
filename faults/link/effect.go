package link

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// A treatment is what an effect does to the bytes of one direction.
type treatment int

const (
	hold   treatment = iota // keep until the heal
	lag                     // pass on later
	pace                    // pass on at a rate
	lose                    // drop; connections that lost bytes end at the heal
	snap                    // drop, and end the connection at once
	limit                   // pass on so many bytes, and end the connection
	slice                   // pass on in small pieces, with pauses between
	linger                  // pass on the end of the connection later
)

// A recipe is how a kind of impairment treats each direction; a direction without a treatment
// is not impaired.
type recipe map[Direction]treatment

// recipes defines the kinds of impairment. Cut is not among them: it stops the proxy.
var recipes = map[Kind]recipe{
	BlackHole:       {Up: lose, Down: lose},
	RequestLost:     {Up: lose},
	ResponseLost:    {Down: lose},
	Stall:           {Up: hold, Down: hold},
	Zombie:          {Up: hold},
	StuckConnection: {Up: hold},
	SlowReply:       {Down: hold},
	FastLostReply:   {Down: snap},
	Delay:           {Up: lag, Down: lag},
	Bandwidth:       {Up: pace, Down: pace},
	Slicer:          {Down: slice},
	LimitData:       {Down: limit},
	SlowClose:       {Down: linger},
}

// An effect is one impairment in one direction of one link.
type effect struct {
	treatment treatment
	impair    Impairment
	blind     bool // it runs in an external toxiproxy: it sees nothing itself
	stock     bool // the stock toxic does the work, in place of this package's treatment

	travel func() time.Duration // of a lag: how much later a packet comes; nil: as impair says

	onNext bool         // no connection was open when it came
	first  atomic.Value // the connection that came next, where that is so

	healed   atomic.Bool
	conns    atomic.Int64  // connections on whose way it lies
	streams  atomic.Uint64 // random streams given out
	affected atomic.Int64  // bytes held, delayed, cut or dropped
	packets  atomic.Int64  // of those held by effects of this package
	ended    atomic.Int64  // connections that it ended
}

// spares reports whether connections that come after the effect are left alone, as a rule.
func (e *effect) spares() bool { return e.impair.Kind == StuckConnection }

// meets reports whether the effect lies on the way of a connection that came after it: that of an effect
// which spares those is the first of them, where none was open when it came, as for a client that dials
// for each command.
func (e *effect) meets(conn any) bool {
	if !e.spares() {
		return true
	}
	if !e.onNext {
		return false
	}
	e.first.CompareAndSwap(nil, conn)
	return e.first.Load() == conn
}

// stream returns random draws of their own for the next connection.
func (e *effect) stream() *rand.Rand {
	return rand.New(rand.NewPCG(e.impair.Seed, e.streams.Add(1)))
}

// delay draws how much later one packet comes.
func (i Impairment) delay(rng *rand.Rand) time.Duration {
	j := float64(i.Jitter)
	if j <= 0 {
		return i.Delay
	}
	var extra float64
	switch i.Spread {
	case Exponential:
		extra = rng.ExpFloat64() * j
	case HeavyTail:
		const shape, limit = 1.5, 100
		extra = j * min(limit, math.Pow(1-rng.Float64(), -1/shape)-1)
	default:
		extra = (2*rng.Float64() - 1) * j
	}
	return max(0, i.Delay+time.Duration(extra))
}

package link

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A lane is one direction of one embedded proxy: the effects in force on all of
// its connections.
type lane struct {
	mu      sync.Mutex
	effects []laidEffect  // in the order in which they came
	last    int           // order of the last one
	changed chan struct{} // closed and replaced when effects change
	severed chan struct{} // closed and replaced when the connections are destroyed
	twin    *lane         // for the lane towards the client: the other one
	newest  *pair         // of the connection that toxiproxy is setting up, while only one lane knows it
}

// A laidEffect is an effect with its place on the lane.
type laidEffect struct {
	name   string
	order  int
	effect *effect
}

// lanes finds the lane that a toxic was made for: toxiproxy makes toxics out
// of JSON, which can carry a number but no pointer.
var (
	lanes    sync.Map // number → *lane
	lastLane atomic.Uint64
)

// newLane returns a lane towards the node, or the one towards the client that
// belongs to twin.
func newLane(twin *lane) (number uint64, l *lane) {
	l = &lane{changed: make(chan struct{}), severed: make(chan struct{}), twin: twin}
	number = lastLane.Add(1)
	lanes.Store(number, l)
	return number, l
}

// pairUp returns the pair of a connection being set up. Toxiproxy sets up one
// connection of a proxy at a time, towards the node first.
func (l *lane) pairUp() *pair {
	if l.twin == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.newest = newPair()
		return l.newest
	}
	l.twin.mu.Lock()
	defer l.twin.mu.Unlock()
	p := l.twin.newest
	if l.twin.newest = nil; p == nil {
		p = newPair()
	}
	return p
}

// lay puts an effect on the lane: every byte that arrives from then on suffers
// it.
func (l *lane) lay(name string, e *effect) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	l.effects = append(l.effects, laidEffect{name: name, order: l.last, effect: e})
	l.wake()
}

// wake makes every connection look at the effects again.
func (l *lane) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// lift takes an effect off the lane and returns when every connection has
// passed on what it held. One that is not there is no error.
func (l *lane) lift(ctx context.Context, name string) error {
	e := l.take(name)
	if e == nil {
		return nil
	}
	for e.stages.Load() > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("lift %s: %d connections still suffer it: %w", name, e.stages.Load(), ctx.Err())
		case <-time.After(liftPoll):
		}
	}
	return nil
}

// liftPoll is the pause between two looks at the connections that still suffer
// a lifted effect.
const liftPoll = 100 * time.Microsecond

func (l *lane) take(name string) *effect {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, laid := range l.effects {
		if laid.name == name {
			l.effects = append(l.effects[:i:i], l.effects[i+1:]...)
			laid.effect.healed.Store(true)
			l.wake()
			return laid.effect
		}
	}
	return nil
}

// sever makes the lane's connections drop what they hold and end.
func (l *lane) sever() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.severed)
	l.severed = make(chan struct{})
}

// since returns the effects laid after the given order, and the channel that
// announces the next change.
func (l *lane) since(order int) ([]laidEffect, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, laid := range l.effects {
		if laid.order > order {
			return l.effects[i:], l.changed
		}
	}
	return nil, l.changed
}

// names returns what lies on the lane.
func (l *lane) names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, laid := range l.effects {
		all = append(all, laid.name)
	}
	return all
}

// A lanePort is the part of a port that works through lanes.
type lanePort struct {
	lanes struct{ up, down *lane }
}

func (p *lanePort) lane(toward Direction) *lane {
	if toward == Up {
		return p.lanes.up
	}
	return p.lanes.down
}

// add implements port. Links in memory have no stock toxics but where this
// package has no treatment of its own: those wake up on clocks of their own,
// which makes instants of virtual time that nothing asked for.
func (p *lanePort) add(_ context.Context, s toxicSpec) error {
	s.effect.stock = s.effect.stock || s.effect.stockOnly()
	p.lane(s.toward).lay(s.name, s.effect)
	return nil
}

// remove implements port.
func (p *lanePort) remove(ctx context.Context, s toxicSpec) error {
	return p.lane(s.toward).lift(ctx, s.name)
}

// takesPreface marks the ports that take prefaces out.
func (p *lanePort) takesPreface() {}

// sever destroys what the connections hold, and ends them.
func (p *lanePort) sever() {
	p.lanes.up.sever()
	p.lanes.down.sever()
}

// names returns what lies on the lanes.
func (p *lanePort) names() map[string]bool {
	all := map[string]bool{}
	for _, l := range []*lane{p.lanes.up, p.lanes.down} {
		for _, name := range l.names() {
			all[name] = true
		}
	}
	return all
}

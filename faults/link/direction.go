package link

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A direction is one direction of one embedded proxy: the effects in force on all of its
// connections.
type direction struct {
	mu       sync.Mutex
	effects  []laidEffect  // in the order in which they came
	last     int           // order of the last one
	changed  chan struct{} // closed and replaced when effects change
	severed  chan struct{} // closed and replaced when the connections are destroyed
	opposite *direction    // for the direction towards the client: the other one
	newest   *pair         // of the connection that toxiproxy is setting up, while only one direction knows it
}

// A laidEffect is an effect with its place in the direction.
type laidEffect struct {
	name   string
	order  int
	effect *effect
}

// directions finds the direction that a toxic was made for: toxiproxy makes
// toxics out of JSON, which can carry a number but no pointer.
var (
	directions    sync.Map // number → *direction
	lastDirection atomic.Uint64
)

// newDirection returns a direction towards the node, or the one towards the
// client that belongs to opposite.
func newDirection(opposite *direction) (number uint64, d *direction) {
	d = &direction{changed: make(chan struct{}), severed: make(chan struct{}), opposite: opposite}
	number = lastDirection.Add(1)
	directions.Store(number, d)
	return number, d
}

// pairUp returns the pair of a connection being set up. Toxiproxy sets up one
// connection of a proxy at a time, towards the node first.
func (d *direction) pairUp() *pair {
	if d.opposite == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.newest = newPair()
		return d.newest
	}
	d.opposite.mu.Lock()
	defer d.opposite.mu.Unlock()
	p := d.opposite.newest
	if d.opposite.newest = nil; p == nil {
		p = newPair()
	}
	return p
}

// lay adds an effect to the direction: it applies to every byte that arrives from then on.
func (d *direction) lay(name string, e *effect) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	d.effects = append(d.effects, laidEffect{name: name, order: d.last, effect: e})
	d.wake()
}

// wake makes every connection look for changed effects.
func (d *direction) wake() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// lift removes an effect from the direction, and returns when every connection has passed on
// what it held because of it. Removing one that is not there is no error.
func (d *direction) lift(ctx context.Context, name string) error {
	e := d.remove(name)
	if e == nil {
		return nil
	}
	for e.conns.Load() > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("lift %s: %d connections still suffer it: %w", name, e.conns.Load(), ctx.Err())
		case <-time.After(liftPoll):
		}
	}
	return nil
}

// liftPoll is the pause between two looks at the connections that still suffer
// a lifted effect.
const liftPoll = 100 * time.Microsecond

func (d *direction) remove(name string) *effect {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, laid := range d.effects {
		if laid.name == name {
			d.effects = append(d.effects[:i:i], d.effects[i+1:]...)
			laid.effect.healed.Store(true)
			d.wake()
			return laid.effect
		}
	}
	return nil
}

// sever makes the direction's connections drop what they hold and end.
func (d *direction) sever() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.severed)
	d.severed = make(chan struct{})
}

// since returns the effects laid after the given order, and the channel that
// announces the next change.
func (d *direction) since(order int) ([]laidEffect, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, laid := range d.effects {
		if laid.order > order {
			return d.effects[i:], d.changed
		}
	}
	return nil, d.changed
}

// names returns what lies in the direction.
func (d *direction) names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for _, laid := range d.effects {
		all = append(all, laid.name)
	}
	return all
}

// A directionPort is the part of a port that works through directions.
type directionPort struct {
	directions struct{ up, down *direction }
}

func (p *directionPort) direction(toward Direction) *direction {
	if toward == Up {
		return p.directions.up
	}
	return p.directions.down
}

// add implements port. Links in memory have no stock toxics but where this
// package has no treatment of its own: those wake up on clocks of their own,
// which makes instants of virtual time that nothing asked for.
func (p *directionPort) add(_ context.Context, s toxicSpec) error {
	s.effect.stock = s.effect.stock || s.effect.stockOnly()
	p.direction(s.toward).lay(s.name, s.effect)
	return nil
}

// remove implements port.
func (p *directionPort) remove(ctx context.Context, s toxicSpec) error {
	return p.direction(s.toward).lift(ctx, s.name)
}

// takesPreface marks the ports that take prefaces out.
func (p *directionPort) takesPreface() {}

// sever destroys what the connections hold, and ends them.
func (p *directionPort) sever() {
	p.directions.up.sever()
	p.directions.down.sever()
}

// names returns what lies in the directions.
func (p *directionPort) names() map[string]bool {
	all := map[string]bool{}
	for _, d := range []*direction{p.directions.up, p.directions.down} {
		for _, name := range d.names() {
			all[name] = true
		}
	}
	return all
}

package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// An applied implements Applied: an impairment in force.
type applied struct {
	link    *proxyLink
	toxics  []toxicSpec
	cut     bool    // it stops the proxy
	reset   bool    // it resets the connections, and is over
	notify  Kind    // it impairs notification connections alone, in this way
	noticed bool    // it does so at this moment, under link.changes
	down    bool    // it is among the link's cuts at this moment, under link.changes
	parts   bool    // it is a partition: dials are not answered
	parted  bool    // it is among the link's partitions at this moment, under link.changes
	before  counts  // when it began
	busy    int     // connections that a reset ended while a command was under way on them
	idle    int     // connections that a reset ended at rest
	cutting []*conn // connections that a cut ended, as the first of its link

	dialling    atomic.Int64 // dials under way that began while it was the first cut of its link
	refused     atomic.Int64 // dials, while it was the first cut of its link
	interrupted atomic.Int64 // connections that came up as it began and ended with it, under a command

	healing chan struct{} // holds an element while Heal runs, which waits: no mutex, which virtual time does not wait for

	mu     sync.Mutex
	healed bool
	impact Impact
}

// Impair implements Link.
func (l *proxyLink) Impair(ctx context.Context, i Impairment) (Applied, error) {
	a := &applied{link: l, before: l.counts(), healing: make(chan struct{}, 1)}
	if err := a.prepare(i); err != nil {
		return nil, fmt.Errorf("impair link %s→%s: %w", l.client, l.node, err)
	}
	if !l.register(a) {
		return nil, fmt.Errorf("impair link %s→%s: %w", l.client, l.node, net.ErrClosed)
	}
	if err := l.change(ctx, "impair", a.apply); err != nil {
		_, undo := a.Heal(context.WithoutCancel(ctx))
		return nil, errors.Join(err, undo)
	}
	return a, nil
}

// register registers a, so that Reset can remove it, unless the link is closed.
func (l *proxyLink) register(a *applied) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.inForce[a] = struct{}{}
	}
	return !l.closed
}

// prepare makes the impairment's effects, without any of them in force yet.
func (a *applied) prepare(i Impairment) error {
	recipe, known := recipes[i.Kind]
	switch {
	case !known && i.Kind != Cut && i.Kind != Reset && !i.Kind.notifies():
		return fmt.Errorf("unknown kind %q", i.Kind)
	case i.Kind == Bandwidth && i.Rate <= 0:
		return fmt.Errorf("bandwidth %d: a positive rate in bytes per second is needed", i.Rate)
	case i.Delay < 0 || i.Jitter < 0:
		return fmt.Errorf("delay %s, jitter %s: neither can be negative", i.Delay, i.Jitter)
	}
	if err := i.checkPieces(); err != nil {
		return err
	}
	a.cut, a.reset, a.parts = i.Kind == Cut, i.Kind == Reset, i.Kind == BlackHole
	if i.Kind.notifies() {
		a.notify = i.Kind
	}
	id := a.link.lastApplied.Add(1)
	for _, toward := range []Direction{Up, Down} {
		t, ok := recipe[toward]
		if !ok || i.Toward != "" && i.Toward != toward && (i.Kind == Delay || i.Kind == Bandwidth) {
			continue
		}
		a.toxics = append(a.toxics, toxicSpec{
			name: fmt.Sprintf("%s-%d-%s", i.Kind, id, toward), toward: toward, effect: &effect{treatment: t, impair: i},
		})
	}
	return nil
}

// apply applies the impairment to the port, and verifies that.
func (a *applied) apply(ctx context.Context) error {
	l := a.link
	if a.cut {
		a.down = true
		l.cuts = append(l.cuts, a)
		l.firstCut.Store(l.cuts[0])
		a.cutting = l.claimConns()
		if err := l.port.enable(ctx, false); err != nil {
			return err
		}
	}
	if a.reset {
		a.busy, a.idle = l.resetConns()
		a.before = l.counts()
	}
	if a.parts {
		a.parted = true
		if err := l.isolate(); err != nil {
			return err
		}
	}
	if a.notify != "" {
		a.applyNotices()
	}
	for _, t := range a.toxics {
		t.effect.onNext = len(l.openConns()) == 0
		if err := l.port.add(ctx, t); err != nil {
			return err
		}
	}
	return a.verify(ctx, true)
}

// verify compares the port with what this impairment, in force or healed, asks
// of it.
func (a *applied) verify(ctx context.Context, inForce bool) error {
	s, err := a.link.port.state(ctx)
	if err != nil {
		return err
	}
	if enabled := len(a.link.cuts) == 0; s.enabled != enabled {
		return fmt.Errorf("the proxy is up: %t, in place of %t", s.enabled, enabled)
	}
	for _, t := range a.toxics {
		if s.toxics[t.name] != inForce {
			return fmt.Errorf("toxic %s is there: %t, in place of %t", t.name, s.toxics[t.name], inForce)
		}
	}
	return nil
}

// Heal implements Applied. A heal that failed can be tried again.
func (a *applied) Heal(ctx context.Context) (Impact, error) {
	a.healing <- struct{}{}
	defer func() { <-a.healing }()
	if a.isHealed() {
		return a.Impact(), nil
	}
	if err := a.link.change(ctx, "heal", a.remove); err != nil {
		return a.Impact(), err
	}
	a.awaitDials()
	a.mu.Lock()
	a.healed = true
	a.impact = a.count()
	a.mu.Unlock()
	a.link.mu.Lock()
	delete(a.link.inForce, a)
	a.link.mu.Unlock()
	return a.Impact(), nil
}

func (a *applied) isHealed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.healed
}

// awaitDials waits a moment for dials that a cut has refused and that nobody has
// counted yet.
func (a *applied) awaitDials() {
	for wait := time.Duration(0); a.dialling.Load() > 0 && wait < dialWait; wait += liftPoll {
		time.Sleep(liftPoll)
	}
}

// dialWait bounds awaitDials.
const dialWait = 20 * time.Millisecond

// remove removes the impairment from the port, and verifies that.
func (a *applied) remove(ctx context.Context) error {
	l := a.link
	if a.down && len(l.cuts) == 1 {
		if err := l.port.enable(ctx, true); err != nil {
			return err
		}
	}
	if a.down {
		a.down = false
		l.uncut(a)
	}
	a.removeNotices()
	for _, t := range a.toxics {
		if err := l.port.remove(ctx, t); err != nil {
			return err
		}
	}
	if a.parted {
		if err := l.rejoin(); err != nil {
			return err
		}
		a.parted = false
	}
	return a.verify(ctx, false)
}

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

// A wound implements Wound.
type wound struct {
	road    *road
	toxics  []toxicSpec
	cut     bool    // it stops the proxy
	reset   bool    // it resets the connections, and is over
	notify  Kind    // it hurts notification connections alone, in this way
	noticed bool    // it does so at this moment, under road.changes
	down    bool    // it is among the road's cuts at this moment, under road.changes
	parts   bool    // it is a partition: dials are not answered
	parted  bool    // it is among the road's partitions at this moment, under road.changes
	before  counts  // when it began
	busy    int     // connections that a reset ended while a command was under way on them
	idle    int     // connections that a reset ended at rest
	cutting []*conn // connections that a cut ended, as the first of its road

	dialling    atomic.Int64 // dials under way that began while it was the first cut of its road
	refused     atomic.Int64 // dials, while it was the first cut of its road
	interrupted atomic.Int64 // connections that came up as it began and ended with it, under a command

	mu     sync.Mutex
	healed bool
	bite   Bite
}

// counts is a road's counters at one moment.
type counts struct{ sent, received, requests, unanswered, severed, swallowed, pieces, torn, forsaken int64 }

func (r *road) counts() counts {
	return counts{
		sent: r.sent.Load(), received: r.received.Load(), requests: r.requests.Load(), unanswered: r.silent.dials.Load(),
		severed: r.notices.severed.Load(), swallowed: r.notices.swallowed.Load(),
		pieces: r.pieces.Load(), torn: r.torn.Load(), forsaken: r.forsaken.Load(),
	}
}

// Impair implements Link.
func (r *road) Impair(ctx context.Context, i Impairment) (Wound, error) {
	w := &wound{road: r, before: r.counts()}
	if err := w.prepare(i); err != nil {
		return nil, fmt.Errorf("impair link %s→%s: %w", r.client, r.node, err)
	}
	if !r.keep(w) {
		return nil, fmt.Errorf("impair link %s→%s: %w", r.client, r.node, net.ErrClosed)
	}
	if err := r.change(ctx, "impair", w.inflict); err != nil {
		_, undo := w.Heal(context.WithoutCancel(ctx))
		return nil, errors.Join(err, undo)
	}
	return w, nil
}

// keep remembers w for a reset, unless the road is closed.
func (r *road) keep(w *wound) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.wounds[w] = struct{}{}
	}
	return !r.closed
}

// prepare makes the wound's effects, which do nothing yet.
func (w *wound) prepare(i Impairment) error {
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
	w.cut, w.reset, w.parts = i.Kind == Cut, i.Kind == Reset, i.Kind == BlackHole
	if i.Kind.notifies() {
		w.notify = i.Kind
	}
	id := w.road.lastWound.Add(1)
	for _, toward := range []Direction{Up, Down} {
		t, ok := recipe[toward]
		if !ok || i.Toward != "" && i.Toward != toward && (i.Kind == Delay || i.Kind == Bandwidth) {
			continue
		}
		w.toxics = append(w.toxics, toxicSpec{
			name: fmt.Sprintf("%s-%d-%s", i.Kind, id, toward), toward: toward, effect: &effect{treatment: t, impair: i},
		})
	}
	return nil
}

// inflict puts the wound on the port and looks whether it is there.
func (w *wound) inflict(ctx context.Context) error {
	r := w.road
	if w.cut {
		w.down = true
		r.cuts = append(r.cuts, w)
		r.firstCut.Store(r.cuts[0])
		w.cutting = r.claimConns()
		if err := r.port.enable(ctx, false); err != nil {
			return err
		}
	}
	if w.reset {
		w.busy, w.idle = r.resetConns()
		w.before = r.counts()
	}
	if w.parts {
		w.parted = true
		if err := r.isolate(); err != nil {
			return err
		}
	}
	if w.notify != "" {
		w.inflictNotices()
	}
	for _, t := range w.toxics {
		if err := r.port.add(ctx, t); err != nil {
			return err
		}
	}
	return w.verify(ctx, true)
}

// verify compares the port with what this wound, in force or healed, asks of
// it.
func (w *wound) verify(ctx context.Context, inForce bool) error {
	s, err := w.road.port.state(ctx)
	if err != nil {
		return err
	}
	if enabled := len(w.road.cuts) == 0; s.enabled != enabled {
		return fmt.Errorf("the proxy is up: %t, in place of %t", s.enabled, enabled)
	}
	for _, t := range w.toxics {
		if s.toxics[t.name] != inForce {
			return fmt.Errorf("toxic %s is there: %t, in place of %t", t.name, s.toxics[t.name], inForce)
		}
	}
	return nil
}

// Heal implements Wound. A heal that failed can be tried again.
func (w *wound) Heal(ctx context.Context) (Bite, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.healed {
		return w.bite, nil
	}
	if err := w.road.change(ctx, "heal", w.mend); err != nil {
		return w.count(), err
	}
	w.awaitDials()
	w.healed = true
	w.bite = w.count()
	w.road.mu.Lock()
	delete(w.road.wounds, w)
	w.road.mu.Unlock()
	return w.bite, nil
}

// awaitDials waits a moment for dials that a cut has refused and that nobody has
// counted yet.
func (w *wound) awaitDials() {
	for wait := time.Duration(0); w.dialling.Load() > 0 && wait < dialWait; wait += liftPoll {
		time.Sleep(liftPoll)
	}
}

// dialWait bounds awaitDials.
const dialWait = 20 * time.Millisecond

// mend takes the wound off the port and looks whether it is gone.
func (w *wound) mend(ctx context.Context) error {
	r := w.road
	if w.down && len(r.cuts) == 1 {
		if err := r.port.enable(ctx, true); err != nil {
			return err
		}
	}
	if w.down {
		w.down = false
		r.uncut(w)
	}
	w.mendNotices()
	for _, t := range w.toxics {
		if err := r.port.remove(ctx, t); err != nil {
			return err
		}
	}
	if w.parted {
		if err := r.rejoin(); err != nil {
			return err
		}
		w.parted = false
	}
	return w.verify(ctx, false)
}

// Bite implements Wound.
func (w *wound) Bite() Bite {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.healed {
		return w.bite
	}
	return w.count()
}

// count says what the wound itself has done so far, and nothing that another
// one on the road did, or the node's own death. What the effects saw is exact.
// A cut counts the commands that it interrupted and, as the first of its road,
// the dials that it refused; a reset the connections that it closed under a
// command, or that a later command missed. An external toxiproxy is judged
// from the client's end.
func (w *wound) count() Bite {
	now := w.road.counts()
	if w.notify != "" {
		return w.countNotices(now)
	}
	b := Bite{
		Conns:    w.busy,
		Dials:    int(w.refused.Load()),
		Requests: int(now.requests - w.before.requests),
	}
	if w.parts {
		b.Dials = int(now.unanswered - w.before.unanswered)
	}
	if b.Requests > 0 {
		b.Conns += w.idle
	}
	b.Conns += int(w.interrupted.Load())
	for _, c := range w.cutting {
		if c.missed.Load() || c.atWork() {
			b.Conns++
		}
	}
	for _, t := range w.toxics {
		if t.effect.blind {
			b.Bytes = w.blindBytes(t.effect, now)
		}
		b.Bytes += t.effect.hurt.Load()
		if t.effect.spares() { // the link's requests are not all on the connections that suffer
			b.Requests = int(t.effect.packets.Load())
		}
		b.Conns = max(b.Conns, int(t.effect.ended.Load()))
		t.effect.countPieces(&b, w.before, now)
	}
	return b
}

// blindBytes is what a stock toxic must have touched: what was sent into it.
// Where it lets bytes pass, only replies tell that the node was there at all.
func (w *wound) blindBytes(e *effect, now counts) int64 {
	sent, received := now.sent-w.before.sent, now.received-w.before.received
	if e.treatment == lag || e.treatment == pace {
		return min(sent, received)
	}
	return sent
}

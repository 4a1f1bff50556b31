package redlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"locktorture/lockimpl/redlock/internal/node"
	"locktorture/lockimpl/redlock/internal/script"
)

// The reasons for which Bootstrap admits nobody. The nodes are as they were:
// those that are not admitted sit out their quarantine, which begins when a
// client first meets them, and serve by themselves after it.
var (
	// ErrNotFirstTime reports nodes that are empty, and a Config that does not
	// say that this is their first time: they may have lost everything.
	ErrNotFirstTime = errors.New("the nodes are empty, and Config.FirstTime does not say that they have never served")

	// ErrServedBefore reports a node that is not admitted and remembers tokens.
	ErrServedBefore = errors.New("a node has served before: it must sit out its quarantine")

	// ErrPartlyAdmitted reports a set of which some nodes are admitted and
	// others are not: those have lost something.
	ErrPartlyAdmitted = errors.New("some nodes are admitted and others are not: those must sit out their quarantine")
)

// Bootstrap admits a set of nodes that has never
// served, at once. A new set and one that has lost everything look the same,
// and admitting the second gives leases away that are still valid: so it asks
// for Config.FirstTime and belongs in the program that sets up the nodes, not
// into those that use them, which need no call. Every node must answer. It
// returns nil when a quorum is admitted and no other node says that it is not.
// Several clients may call it together.
func (l *Lock) Bootstrap(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("bootstrap: %w: nil context", ErrMisconfigured)
	}
	patience := time.Now().Add(2 * l.cfg.NodeTimeout) // for another client that is at it
	for {
		err := l.bootstrap(ctx)
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrPartlyAdmitted) || ctx.Err() != nil || !time.Now().Before(patience) {
			return fmt.Errorf("bootstrap: %w", err)
		}
		sleep(ctx, min(l.cfg.RetryMin, time.Until(patience)))
	}
}

// bootstrap makes one pass.
func (l *Lock) bootstrap(ctx context.Context) error {
	all, errs := l.greetEach(ctx)
	admitted, answered, served, clock := 0, 0, false, int64(0)
	for _, g := range all {
		if g == nil {
			continue
		}
		answered++
		if g.state == isAdmitted {
			admitted++
		}
		served = served || g.state != isAdmitted && g.hw > 0
		clock = max(clock, g.now)
	}
	switch {
	case admitted >= l.quorum && admitted == answered:
		return nil
	case served:
		return ErrServedBefore
	case admitted > 0:
		return ErrPartlyAdmitted
	case answered < len(all):
		return oneLine(errs...)
	case !l.cfg.FirstTime:
		return ErrNotFirstTime
	}
	for i, g := range all {
		if ok, err := l.admitWith(ctx, i, g.ticket, clock, true); err != nil {
			return err
		} else if !ok {
			return ErrPartlyAdmitted
		}
	}
	return nil
}

// RaiseMaxTTL has the nodes grant leases as long as Config.MaxTTL where they
// were admitted for shorter ones. Every client must have been given the larger
// MaxTTL before: a client with the smaller one would believe too early that the
// leases of a node that lost everything have ended. It returns an error when
// any node did not take it over; calling it again is safe.
//
// There is no opposite: a node takes over a smaller MaxTTL when it is admitted
// again. Let no client ask for a longer lease than the new MaxTTL first, wait as
// long as the old one, and then give all clients the smaller one.
func (l *Lock) RaiseMaxTTL(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("raise max ttl: %w: nil context", ErrMisconfigured)
	}
	errs := make([]error, len(l.nodes))
	l.eachNode(func(i int) { errs[i] = l.raiseLimit(ctx, i) })
	return oneLine(errs...)
}

func (l *Lock) raiseLimit(ctx context.Context, i int) error {
	n := l.nodes[i]
	r, err := n.Do(ctx, func(w *node.Writer) {
		w.Script(script.Limit, 1)
		w.Ref(&l.space.Node)
		w.Run()
		w.Int(l.cfg.MaxTTL.Milliseconds())
	})
	if err == nil && r.Int() != 1 {
		l.admit(i)
		err = ErrNotAdmitted
	}
	if err != nil {
		return fmt.Errorf("raise max ttl: %w", l.of(i, err))
	}
	return nil
}

// eachNode calls f for every node at once and returns when all calls have.
func (l *Lock) eachNode(f func(i int)) {
	var wg sync.WaitGroup
	for i := range l.nodes {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

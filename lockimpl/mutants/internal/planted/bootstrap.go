// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var (
	errMixed  = errors.New("some nodes are admitted and others are not: those must sit out their quarantine")
	errServed = errors.New("a node has served before: it must sit out its quarantine")
)

// Bootstrap implements Bootstrapper: it admits a set of nodes that has never
// served, at once. Every node must answer. In a set of which some nodes are
// admitted and others are not, something was lost: Bootstrap refuses, and the
// others sit out their quarantine. Several clients may call it together.
func (l *Lock) Bootstrap(ctx context.Context) error {
	if ctx == nil {
		return errors.New("bootstrap: nil context")
	}
	patience := time.Now().Add(2 * l.cfg.NodeTimeout) // for another client that is at it
	for {
		err := l.bootstrap(ctx)
		if err == nil {
			return nil
		}
		if !errors.Is(err, errMixed) || ctx.Err() != nil || time.Now().After(patience) {
			return fmt.Errorf("bootstrap: %w", err)
		}
		rest(ctx, l.cfg.RetryMin)
	}
}

// bootstrap makes one pass and returns nil when every node is admitted.
func (l *Lock) bootstrap(ctx context.Context) error {
	all := make([]greeting, len(l.nodes))
	admitted, served, clock := 0, false, int64(0)
	for i := range l.nodes {
		g, err := l.greet(ctx, i)
		if err != nil {
			return err
		}
		if all[i] = g; g.state == isAdmitted {
			admitted++
		}
		served = served || g.state != isAdmitted && (g.hw > 0 || g.floor > 0)
		clock = max(clock, g.now)
	}
	switch {
	case admitted == len(l.nodes):
		return nil
	case served:
		return errServed
	case admitted > 0:
		return errMixed
	}
	for i, g := range all {
		if ok, err := l.admitWith(ctx, i, g.ticket, clock, true); err != nil {
			return err
		} else if !ok {
			return errMixed
		}
	}
	return nil
}

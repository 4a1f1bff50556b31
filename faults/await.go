package faults

import (
	"context"
	"errors"
	"time"

	"locktorture/faults/internal/wait"
	"locktorture/faults/watch"
)

// await blocks until the trigger's moment has come. It fails when ctx ends
// before.
func (n *nemesis) await(ctx context.Context, when Trigger) (Occasion, error) {
	if !wait.For(ctx, time.Until(n.began.Add(when.After))) {
		return Occasion{}, ctx.Err()
	}
	var occasion Occasion
	var err error
	tapped, isTapped := ParseTap(when.On)
	switch {
	case when.On == "":
	case when.On == Bound:
		err = n.awaitBound(ctx, when.By)
	case isTapped:
		occasion, err = n.awaitTap(ctx, when, tapped)
	case when.On.Foreseen():
		return n.awaitDue(ctx, when) // Then is part of the instant that is due
	default:
		occasion, err = n.awaitEvent(ctx, when)
	}
	if err == nil && !wait.For(ctx, when.Then) {
		occasion.release()
		err = ctx.Err()
	}
	return occasion, err
}

func (n *nemesis) awaitBound(ctx context.Context, name string) error {
	select {
	case <-n.run.whenBound(name):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n *nemesis) awaitEvent(ctx context.Context, when Trigger) (Occasion, error) {
	hit, cancel := n.t.Watch.Subscribe(func(o watch.Occasion) bool {
		return o.Moment == when.On && n.concerns(when.By, o.Owner)
	})
	defer cancel()
	select {
	case o := <-hit:
		return Occasion{Occasion: o}, nil
	case <-ctx.Done():
		return Occasion{}, ctx.Err()
	}
}

// concerns reports whether owner belongs to the client named by, which may be
// a bound name. A client that another fault has down or frozen has no
// moments, unless it is asked for by name.
func (n *nemesis) concerns(by, owner string) bool {
	client := n.t.ClientName(owner)
	if by == "" {
		return !n.run.isTaken(client)
	}
	return n.run.is(client, by)
}

// awaitDue follows the leases that are held until the moment of one of them
// falls due.
func (n *nemesis) awaitDue(ctx context.Context, when Trigger) (Occasion, error) {
	asked := n.now()
	for {
		changed := n.t.Watch.Changed()
		h, due, found := n.nextDue(when, asked)
		if found && due <= n.now() {
			return Occasion{Occasion: watch.Occasion{Moment: when.On, Time: due, Key: h.Key, Owner: h.Owner, Process: h.Process}}, nil
		}
		if err := n.until(ctx, changed, due, found); err != nil {
			return Occasion{}, err
		}
	}
}

// until waits for a change, for the instant due when there is one, or for ctx
// to end.
func (n *nemesis) until(ctx context.Context, changed <-chan struct{}, due time.Duration, found bool) error {
	if found {
		bounded, cancel := context.WithTimeoutCause(ctx, due-n.now(), errDue)
		defer cancel()
		ctx = bounded
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), errDue) {
			return nil
		}
		return ctx.Err()
	}
}

var errDue = errors.New("due")

// nextDue finds the holding whose moment falls due first after asked.
func (n *nemesis) nextDue(when Trigger, asked time.Duration) (first watch.Holding, due time.Duration, found bool) {
	for _, h := range n.t.Watch.Holders() {
		at := n.t.Deadline(h) + when.Then
		if when.On == watch.RenewalDue {
			at = h.Renewed + n.t.TTL/3 + when.Then
		}
		if at <= asked || !n.concerns(when.By, h.Owner) {
			continue
		}
		if !found || at < due {
			first, due, found = h, at, true
		}
	}
	return first, due, found
}

func (n *nemesis) now() time.Duration { return n.rec.Since(time.Now()) }

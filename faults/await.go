package faults

import (
	"context"
	"errors"
	"time"

	"locktorture/faults/internal/wait"
	"locktorture/faults/watch"
)

// await blocks until the moment of a step has come. It fails when ctx ends
// before.
func (n *nemesis) await(ctx context.Context, s Step) (Occasion, error) {
	when := s.When
	if !wait.For(ctx, time.Until(n.began.Add(when.After))) {
		return Occasion{}, ctx.Err()
	}
	var occasion Occasion
	var err error
	tapped, isTapped := ParseTap(when.On)
	op, isMidway := midways[when.On]
	switch {
	case when.On == "":
	case when.On == Bound:
		err = n.awaitBound(ctx, when.By)
	case isTapped:
		occasion, err = n.awaitTap(ctx, when, tapped)
	case isMidway:
		occasion, err = n.awaitMidway(ctx, s, op)
	case when.On.Foreseen():
		return n.awaitDue(ctx, when) // Then is part of the instant that is due
	default:
		occasion, err = n.awaitEvent(ctx, s)
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

// awaitEvent waits for an event of the history. Where a fault of links is to be injected at a
// request, the client is held back until the fault is in force, so that the fault meets this
// very request.
func (n *nemesis) awaitEvent(ctx context.Context, s Step) (Occasion, error) {
	var free chan struct{} // written inside the subscription, read once that has ended or hit
	hit, cancel := n.t.Watch.Subscribe(func(o watch.Occasion) bool {
		if free != nil || !n.isMoment(s, o) {
			return false
		}
		free = make(chan struct{})
		if client := n.heldBack(s, o); client != nil {
			client.HoldBack(Occasion{free: free, until: time.Now().Add(tapPatience)}.wait)
		}
		return true
	})
	defer cancel()
	select {
	case o := <-hit:
		return Occasion{Occasion: o, free: free}, nil
	case <-ctx.Done():
		cancel()
		if free != nil {
			close(free)
		}
		return Occasion{}, ctx.Err()
	}
}

// lateShare is the share of a lease's TTL that is left, at most, when it is extended or
// released late.
const lateShare = 3

// isMoment reports whether an occasion is the one that a step waits for.
func (n *nemesis) isMoment(s Step, o watch.Occasion) bool {
	on, late := s.When.On.Late()
	if o.Moment != on || !n.concerns(s.When.By, o.Owner) {
		return false
	}
	if late && (o.Renewed == 0 || o.Time-o.Renewed < n.t.TTL-n.t.TTL/lateShare) {
		return false
	}
	switch role, _ := SplitRole(s.Spec().Client, RoleAny); role {
	case RoleTaker:
		return on != watch.AcquireSent || o.Free
	case RoleNested:
		return o.Nested || s.When.turned
	case RoleReader:
		return o.Shared
	}
	return true
}

// heldBack is the client that waits at its request until the fault of a step is in force; nil
// where none does.
func (n *nemesis) heldBack(s Step, o watch.Occasion) PatientClient {
	_, onLinks := s.Fault.(LinkFault)
	on, _ := s.When.On.Late()
	sends := on == watch.AcquireSent || on == watch.RenewalSent || on == watch.ReleaseSent
	if !onLinks || !sends || s.When.Then > 0 {
		return nil
	}
	name := n.t.ClientName(o.Owner)
	for _, c := range n.t.Clients {
		if patient, can := c.(PatientClient); can && c.Name() == name {
			return patient
		}
	}
	return nil
}

// concerns reports whether owner belongs to the client named by, which may be a bound name. A
// client that another fault has stopped or killed has no moments, unless it is asked for by
// name.
func (n *nemesis) concerns(by, owner string) bool {
	client := n.t.ClientName(owner)
	if by == "" {
		return !n.run.isTaken(client)
	}
	return n.run.is(client, by)
}

// awaitDue waits until the moment of one of the leases that are held is due.
func (n *nemesis) awaitDue(ctx context.Context, when Trigger) (Occasion, error) {
	asked := n.now()
	var awaited watch.Holding // whose moment is waited for
	for {
		changed := n.t.Watch.Changed()
		if h, early := n.renewedEarly(when, awaited); early {
			if !wait.For(ctx, when.Then) {
				return Occasion{}, ctx.Err()
			}
			return dueAt(when.On, h, n.now()), nil
		}
		h, due, found := n.nextDue(when, asked)
		if found && due <= n.now() {
			return dueAt(when.On, h, due), nil
		}
		awaited = h
		if err := n.until(ctx, changed, due, found); err != nil {
			return Occasion{}, err
		}
	}
}

func dueAt(m watch.Moment, h watch.Holding, at time.Duration) Occasion {
	return Occasion{Occasion: watch.Occasion{Moment: m, Time: at, Key: h.Key, Owner: h.Owner, Process: h.Process}}
}

// earlyShare is how much of a lease a renewal may come early, as a share of the TTL: locks count
// its third from when they asked, and what is seen here is when they were answered.
const earlyShare = 20

// renewedEarly reports whether the renewal that a step waits for has come just before it was
// thought due, and returns the lease as it is since. The next renewal is another one: to wait
// for that would move the step by a third of a lease whenever clients and nodes are quick.
func (n *nemesis) renewedEarly(when Trigger, awaited watch.Holding) (h watch.Holding, early bool) {
	if when.On == watch.Expiry || when.Then < 0 || awaited.Owner == "" {
		return h, false
	}
	soonest := awaited.Renewed + n.t.TTL/3 - n.t.TTL/earlyShare
	for _, h := range n.t.Watch.Holders() {
		if h.Grant == awaited.Grant && h.Renewed > awaited.Renewed && h.Renewed > soonest {
			return h, n.concerns(when.By, h.Owner)
		}
	}
	return h, false
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

// nextDue finds the holding whose moment is due first after asked.
func (n *nemesis) nextDue(when Trigger, asked time.Duration) (first watch.Holding, due time.Duration, found bool) {
	for _, h := range n.t.Watch.Holders() {
		at := n.t.Deadline(h) + when.Then
		if when.On != watch.Expiry {
			at = h.Renewed + n.t.TTL/3 + when.Then
		}
		again := when.On != watch.NextRenewalDue || h.Renewed > h.Since
		if at <= asked || !again || !n.concerns(when.By, h.Owner) {
			continue
		}
		if !found || at < due {
			first, due, found = h, at, true
		}
	}
	return first, due, found
}

func (n *nemesis) now() time.Duration { return n.rec.Since(time.Now()) }

package workload

import (
	"context"
	"fmt"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload/history"
)

// watch starts what runs beside the section until s.done is closed: automatic renewal, if it is
// wanted and the lease can be renewed or renews itself, and waiting for a loss. A client can be
// stopped between starting the watch of one lease and of the next, and in virtual time does no
// two things at one instant.
func (s *section) watch(ctx context.Context, renew bool) {
	s.done = make(chan struct{})
	for i := range s.parts {
		if i > 0 && !s.client.pause(ctx) {
			return
		}
		p := &s.parts[i]
		_, unasked := p.lease.(lockimpl.SelfRenewer)
		if r, can := p.lease.(lockimpl.Renewer); can && (renew || unasked) {
			r.Renew(s.renewed(i))
		}
		if n, can := p.lease.(lockimpl.LostNotifier); can {
			lost, e := n.Lost(), s.beside(history.Lost, i)
			s.watched.Go(func() { s.awaitLoss(ctx, e, lost) })
		}
	}
}

// beside begins the event of something on the section's i-th key that the lock does, not the
// worker.
func (s *section) beside(op history.Op, i int) history.Event {
	e := s.event(op, i)
	e.Process, e.Owner, e.Kind = s.side, s.inc.owner, history.OK
	return e
}

// awaitLoss records e when the library reports the loss of a lease. A client that is paused
// receives the report later: the event's began_ns is when it was made.
func (s *section) awaitLoss(ctx context.Context, e history.Event, lost <-chan struct{}) {
	select {
	case <-lost:
	case <-s.done:
		select {
		case <-lost: // while nobody looked
		default:
			return
		}
	}
	e.Began, e.Has = s.rec.Since(time.Now()), history.HasBegan
	defer s.looking()()
	if !s.client.pause(ctx) || s.inc.crashed() {
		return
	}
	s.lost = true
	s.rec.Append(e)
}

// renewed returns what records the rounds of the i-th lease's renewal. It is
// called from the lock's own goroutine.
func (s *section) renewed(i int) func(lockimpl.Renewal) {
	e, inc, rec := s.beside(history.Extend, i), s.inc, s.rec
	e.Has = history.HasBegan | history.HasEnded
	return func(r lockimpl.Renewal) {
		if !inc.crashed() {
			recordRenewal(rec, e, r)
		}
	}
}

// recordRenewal records one round. The round of a lock that promises no time
// looks like an extension by hand, of a process of its own.
func recordRenewal(rec *history.Recorder, e history.Event, r lockimpl.Renewal) {
	e.Kind, e.Began, e.Ended = outcome(r.Err), rec.Since(r.Began), rec.Since(r.Ended)
	switch {
	case r.Err != nil:
		e.Err = history.OneLine(r.Err.Error())
	case r.ValidUntil.IsZero():
		e.Process = rec.NewProcess()
		invoked := e
		invoked.Kind, invoked.Has = history.Invoke, 0
		rec.Append(invoked)
	default:
		e.ValidUntil, e.Has = rec.Since(r.ValidUntil), e.Has|history.HasValidUntil
	}
	rec.Append(e)
}

// extend renews every lease of the section by hand, and returns the worst outcome.
// An unknown one leaves the lease as long as it was, and the section may go on.
func (s *section) extend(ctx context.Context) history.Kind {
	worst := history.OK
	for i := range s.parts {
		if !s.client.pause(ctx) {
			return history.Fail
		}
		lease, asked := s.parts[i].lease, time.Now()
		kind := s.do(ctx, s.event(history.Extend, i), func(ctx context.Context, e *history.Event) error {
			err := lease.Extend(ctx, s.cfg.TTL)
			if err == nil {
				*e, s.parts[i].asked = granted(s.rec, *e, lease), asked
			}
			return err
		})
		if kind == history.Fail || ctx.Err() != nil {
			s.refused = kind == history.Fail
			return history.Fail
		}
		worst = max(worst, kind)
	}
	return worst
}

// nested re-enters the section's key, writes, and releases the inner hold. Within it the outer
// lease may be extended, or end.
func (s *section) nested(ctx context.Context) bool {
	if !s.client.pause(ctx) {
		return false
	}
	var inner lockimpl.Lease
	kind := s.do(ctx, s.event(history.Acquire, 0), func(ctx context.Context, e *history.Event) (err error) {
		e.Fence = 0
		if inner, err = s.reenter(ctx, e.Key, s.cfg.TTL); err == nil {
			*e = took(s.rec, granted(s.rec, *e, inner), inner)
		}
		return err
	})
	if kind != history.OK {
		return false
	}
	outer := s.parts[0]
	goesOn := !s.use.nestOuter || s.can.extendless || s.extend(ctx) != history.Fail
	s.parts[0].lease, s.parts[0].fence = inner, inner.Fence()
	goesOn = goesOn && (!s.use.nestLong || s.wait(ctx, s.use.hold))
	wrote := goesOn && s.write(ctx, 0, false)
	e := s.event(history.Release, 0)
	s.parts[0].lease, s.parts[0].fence = outer.lease, outer.fence
	return ctx.Err() == nil && s.client.pause(ctx) && s.release(ctx, e, inner) && wrote
}

// release releases one hold. A lost lease need not be released, but the client cannot know that
// it is lost.
func (s *section) release(ctx context.Context, e history.Event, lease lockimpl.Lease) bool {
	return s.do(ctx, e, func(ctx context.Context, e *history.Event) error {
		err := lease.Release(ctx)
		*e = took(s.rec, *e, lease)
		return err
	}) == history.OK
}

// torn notes that the row was changed by somebody else during the section.
func (s *section) torn(knew, found uint64) string {
	s.tears.Add(1)
	return fmt.Sprintf("the row changed within the section: its version was %d, this write replaced %d", knew, found)
}

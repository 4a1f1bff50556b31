package workload

import (
	"context"
	"sync"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload/history"
	"locktorture/workload/store"
)

// A section is one critical section: what a client does between the grant and
// the release. In it the client is as correct as a client can be: it checks
// before every write that its leases still hold, and stops at once when one
// does not. It can be stopped itself between a check and its write, and then
// writes all the same.
type section struct {
	*worker
	use   use
	parts []part

	// A loss is reported either before a check, and then the client stops, or
	// after the write that follows the check was invoked: lossLock is held from
	// the one to the other. It stands for the one thread of a real client. It is a channel,
	// since whoever waits for a client that is paused waits for time to pass.
	lossLock chan struct{}
	lost     bool

	refused bool // an extension was: the client knows that it holds no more

	done    chan struct{} // closed to end the watchers
	watched sync.WaitGroup
}

// A part is the section's hold of one key.
type part struct {
	key   string
	mode  history.Mode
	lease lockimpl.Lease
	asked time.Time // when the lease was asked for, or its last extension that was granted
	fence uint64
	seen  uint64 // version of the row that the section knows
}

// until is when the part's lease ends: by the lock's word, or, where it gives none, a TTL after it
// was asked for.
func (p *part) until(ttl time.Duration) time.Time {
	if until := p.lease.ValidUntil(); !until.IsZero() {
		return until
	}
	return p.asked.Add(ttl)
}

// run goes through the section and releases. It returns early, leaving all as
// it is, when the incarnation ends.
func (s *section) run(ctx context.Context) {
	hold, long := s.plan()
	renews := long && !s.use.byHand || s.cfg.Renew
	s.watch(ctx, renews)
	s.body(ctx, hold)
	if !renews {
		s.goOn(ctx)
	}
	close(s.done)
	s.watched.Wait()
	for i := len(s.parts) - 1; i >= 0; i-- {
		if !s.client.pause(ctx) {
			return
		}
		s.release(ctx, s.event(history.Release, i), s.parts[i].lease)
	}
}

// plan draws how long to hold. A long hold lasts 1.2 to 2 TTL.
func (s *section) plan() (hold time.Duration, long bool) {
	if s.use.long && s.can.extendless && !s.renews() { // nothing keeps the lease that long
		s.use.long, s.use.hold = false, s.cfg.TTL*7/10
	}
	if s.use.hold > 0 {
		return s.use.hold, s.use.long
	}
	hold = s.cfg.Hold.Draw(s.rng)
	if s.rng.Float64() >= s.cfg.LongHold {
		return hold, false
	}
	return s.cfg.TTL*6/5 + time.Duration(s.rng.Int64N(int64(s.cfg.TTL)*4/5+1)), true
}

// body is the work: a read, then writes to each key in turn with the hold
// spread between them, the first computed from what was read. It stops at the
// first thing that is not as it should be.
func (s *section) body(ctx context.Context, hold time.Duration) {
	if !s.read(ctx) {
		return
	}
	writes := s.cfg.Writes * len(s.parts)
	if s.use.long { // in one piece, between the first write and the last
		writes = 2 * len(s.parts)
	}
	extend, gaps, nest := s.rng.Float64() < s.cfg.Extend, max(writes-1, 1), writes-1
	if s.use.nestFirst {
		nest = 0
	}
	for n := range writes {
		last := n == writes-1
		// With a single write the hold lies between the read and the write.
		if (n > 0 || last) && !s.stay(ctx, hold/time.Duration(gaps)) {
			return
		}
		if last && (extend || s.use.last) && !s.can.extendless && !s.extendOnce(ctx) {
			return
		}
		if n == nest && s.use.how == ModeReentrant && !s.nested(ctx) {
			return
		}
		if !s.write(ctx, n%len(s.parts), n < len(s.parts)) {
			return
		}
	}
}

// extendOnce extends by hand, stays on where that was granted and the section is to rely on it, and
// reports whether the section goes on.
func (s *section) extendOnce(ctx context.Context) bool {
	switch kind := s.extend(ctx); {
	case kind == history.Fail || ctx.Err() != nil:
		return false
	case kind == history.OK && s.use.after > 0:
		return s.wait(ctx, s.use.after)
	}
	return true
}

// event starts the event of an operation on the section's i-th key.
func (s *section) event(op history.Op, i int) history.Event {
	p := &s.parts[i]
	process := s.main
	if i > 0 {
		process = s.second
	}
	return history.Event{Process: process, Op: op, Key: p.key, Mode: p.mode, Fence: p.fence}
}

// do records one operation around act, which completes the event.
func (s *section) do(ctx context.Context, e history.Event, act func(ctx context.Context, e *history.Event) error) history.Kind {
	return s.finish(ctx, s.begin(e), act)
}

func (s *section) finish(ctx context.Context, e history.Event, act func(ctx context.Context, e *history.Event) error) history.Kind {
	s.client.heldBack(ctx)
	ctx, cancel := s.boundedBy(ctx, 0, s.timeout(e.Op))
	defer cancel()
	err := act(ctx, &e)
	return s.complete(e, err)
}

// timeout is how long the client waits for an answer. A steady client hears of an extension that
// takes effect behind the end of its lease.
func (s *section) timeout(op history.Op) time.Duration {
	if op == history.Extend {
		return max(s.cfg.Timeout, s.use.timeout)
	}
	return s.cfg.Timeout
}

// writesItself reports whether the client's writes are its own affair.
func (s *section) writesItself() bool { return s.inc.conn.Store == nil }

// read reads every row of the section.
func (s *section) read(ctx context.Context) bool {
	if s.writesItself() {
		return true
	}
	for i := range s.parts {
		if s.parts[i].mode == history.Shared {
			continue // its writes are reads that leave their mark
		}
		if !s.client.pause(ctx) {
			return false
		}
		kind := s.do(ctx, s.event(history.Read, i), func(ctx context.Context, e *history.Event) error {
			row, err := s.inc.conn.Store.Read(ctx, e.Key, e.Fence)
			if err == nil {
				e.Value, e.Seq, s.parts[i].seen = row.Value, row.Seq, row.Seq
				if row.Seq > 0 { // else nobody has written it
					e.Has |= history.HasSeq
				}
			}
			return err
		})
		if kind != history.OK {
			return false
		}
	}
	return true
}

// wait holds for d, as long as the leases last. At the end of the phase it returns early, and
// the section goes on.
func (s *section) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.over:
	case <-ctx.Done():
	}
	return ctx.Err() == nil && s.holds()
}

// looking keeps a loss from being reported until the function that it returns is called.
func (s *section) looking() (done func()) {
	s.lossLock <- struct{}{}
	return func() { <-s.lossLock }
}

// holds checks, like a correct client, that every lease still lasts.
func (s *section) holds() bool {
	defer s.looking()()
	return s.sound()
}

// isLost reports whether the lock has reported a loss.
func (s *section) isLost() bool {
	defer s.looking()()
	return s.lost
}

// sound reports whether no loss was reported and every lease is valid, where the lock promises
// deadlines. The caller holds the lock on loss reports.
func (s *section) sound() bool {
	now := time.Now()
	for i := range s.parts {
		if until := s.parts[i].lease.ValidUntil(); !until.IsZero() && !now.Before(until) {
			return false
		}
	}
	return !s.lost
}

// write writes to the row of the section's i-th key. The first write says on
// which version it is based.
func (s *section) write(ctx context.Context, i int, first bool) bool {
	if s.writesItself() {
		return true
	}
	e := s.event(history.Write, i)
	if e.Mode == history.Shared {
		e.Op = history.Read
	} else if first {
		e.Base, e.Has = s.parts[i].seen, history.HasBase
	}
	e, invoked := s.invoke(ctx, e)
	return invoked && s.finish(ctx, e, s.put(&s.parts[i])) == history.OK
}

// invoke makes the check, passes the gate, and stamps the invocation: a client
// stopped at the gate goes on to write without looking again. There is no gate
// before the check, which would catch nearly every stop and make each client
// one that is stopped at convenient moments only.
func (s *section) invoke(ctx context.Context, e history.Event) (history.Event, bool) {
	defer s.looking()()
	if !s.sound() || !s.client.pause(ctx) {
		return e, false
	}
	e.Value = s.value()
	return s.begin(e), true
}

// put sends a write, or a read that leaves its mark, to the store.
func (s *section) put(p *part) func(ctx context.Context, e *history.Event) error {
	return func(ctx context.Context, e *history.Event) error {
		ack, err := s.inc.conn.Store.Write(ctx, store.Write{
			Key: e.Key, Owner: e.Owner, Fence: e.Fence, Value: e.Value, Base: e.Base, Mode: e.Mode.String(),
		})
		if ack.Seq == 0 {
			return err
		}
		e.Seq, e.Has = ack.Seq, e.Has|history.HasSeq
		if p.mode == history.Shared {
			e.Base, e.Has = ack.Over, e.Has|history.HasBase
			return err
		}
		if ack.Over != p.seen && err == nil {
			e.Note = s.torn(p.seen, ack.Over)
		}
		p.seen = ack.Seq
		return err
	}
}

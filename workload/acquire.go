package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload/history"
)

// A LacksError reports that the lock under test lacks an ability that the
// workload needs.
type LacksError struct {
	Ability string // in plain words
}

func (e *LacksError) Error() string { return "the lock has no " + e.Ability }

// Lacks is a *LacksError that names what the mode needs and l cannot do, or nil.
func Lacks(m Mode, l lockimpl.Locker) error {
	var has bool
	var ability string
	switch m {
	case ModeRW:
		_, has = l.(lockimpl.SharedLocker)
		ability = "shared leases"
	case ModeFair:
		_, has = l.(lockimpl.FairLocker)
		ability = "fair waiting"
	case ModeReentrant:
		_, has = l.(lockimpl.ReentrantLocker)
		ability = "re-entry"
	case ModeMulti:
		_, has = l.(lockimpl.MultiLocker)
		ability = "taking several keys at once"
	default:
		return nil
	}
	if has {
		return nil
	}
	return fmt.Errorf("mode %s: %w", m, &LacksError{Ability: ability})
}

// obtain asks for the arrival's keys until they are granted, the client's patience is
// exhausted, or the phase ends. It returns nil without a grant.
func (w *worker) obtain(ctx context.Context, a arrival) *section {
	began := time.Now()
	asks := false // is counted as one who does
	quit := func() {
		if asks {
			w.askers.leave(a.keys[0])
			asks = false
		}
	}
	defer quit()
	until := began.Add(w.cfg.Patience)
	for try := 0; ; try++ {
		quit() // who stands still asks for nothing
		if !w.client.pause(ctx) || w.isOver() || w.leaves(a, try, began) {
			return nil
		}
		if try == 0 {
			a.first = w.uses(a.keys[0])
		}
		if a.use.stays {
			w.askers.join(a.keys[0])
			asks = true
		}
		if s := w.attempt(ctx, a); s != nil {
			return s
		}
		pause := w.cfg.Backoff.draw(w.rng, try)
		if w.alone.isOn() {
			pause = max(pause, w.cfg.TTL/aloneShare) // what was given back just before is gone by then
		}
		if time.Now().Add(pause).After(until) && (!asks || w.askers.leaveUnlessLast(a.keys[0])) {
			asks = false
			return nil
		}
		if !w.sleep(ctx, pause) {
			return nil
		}
	}
}

// draw returns the pause after the n-th refusal, counted from 0.
func (b Backoff) draw(rng *rand.Rand, n int) time.Duration {
	ceiling := b.Max
	if n < 32 && b.Min<<n < b.Max {
		ceiling = b.Min << n
	}
	return time.Duration(rng.Int64N(int64(ceiling) + 1))
}

// attempt makes and records one attempt: for several keys, one operation each,
// of a process of its own, all of them answered at once.
func (w *worker) attempt(ctx context.Context, a arrival) *section {
	processes := []int{w.main, w.second}
	events := make([]history.Event, len(a.keys))
	for i, key := range a.keys {
		e := history.Event{Process: processes[i], Op: history.Acquire, Key: key, Mode: a.mode}
		if !a.due.IsZero() {
			e.Intended, e.Has = w.rec.Since(a.due), history.HasIntended
		}
		e.Note = w.asks(a)
		events[i] = w.begin(e)
		events[i].Note = ""
	}
	w.client.heldBack(ctx)
	asked, alone := time.Now(), w.alone.isOn()
	leases, err := w.acquire(ctx, a)
	kind := history.OK
	s := &section{worker: w, use: a.use, lossLock: make(chan struct{}, 1)}
	for i, e := range events {
		if err == nil {
			if leases[i].ValidUntil().IsZero() {
				w.vague.Store(true)
			}
			e = took(w.rec, granted(w.rec, e, leases[i]), leases[i])
			s.parts = append(s.parts, part{key: e.Key, mode: e.Mode, lease: leases[i], asked: asked, fence: e.Fence})
		}
		kind = max(kind, w.complete(e, err))
	}
	if kind != history.OK {
		return nil
	}
	if alone {
		delete(w.refused, leftKey{a.keys[0], a.mode})
		w.alone.granted(leftKey{a.keys[0], a.mode})
	}
	s.outstay(a)
	return s
}

// granted completes an acquisition's event with what the lease promises.
func granted(rec *history.Recorder, e history.Event, l lockimpl.Lease) history.Event {
	e.Fence = l.Fence()
	if until := l.ValidUntil(); !until.IsZero() {
		e.ValidUntil, e.Has = rec.Since(until), e.Has|history.HasValidUntil
	}
	return e
}

// A timed lease says when its acquisition, or the release since, really began and ended, where
// a child process between the harness and the lock delays the answer. Both times are zero for a
// release that was not answered.
type timed interface {
	Took() (began, ended time.Time)
}

// took adds these times to the event of an acquisition or a release.
func took(rec *history.Recorder, e history.Event, l lockimpl.Lease) history.Event {
	t, can := l.(timed)
	if !can {
		return e
	}
	began, ended := t.Took()
	if !began.IsZero() && !ended.IsZero() {
		e.Began, e.Ended, e.Has = rec.Since(began), rec.Since(ended), e.Has|history.HasBegan|history.HasEnded
	}
	return e
}

// acquire asks the lock once, in the way that the arrival and the mode call for.
func (w *worker) acquire(ctx context.Context, a arrival) ([]lockimpl.Lease, error) {
	if len(a.keys) > 1 {
		ctx, cancel := w.bounded(ctx, 0)
		defer cancel()
		return w.inc.conn.Locker.(lockimpl.MultiLocker).AcquireAll(ctx, a.keys, w.cfg.TTL)
	}
	acquire, wait := w.method(a)
	ctx, cancel := w.boundedBy(ctx, wait, or(a.use.timeout, w.cfg.Timeout))
	defer cancel()
	ttl := w.cfg.TTL
	if w.can.untimed && (w.cfg.Renew || a.use.long && !a.use.byHand) {
		ttl = 0
	}
	lease, err := acquire(ctx, a.keys[0], ttl)
	return []lockimpl.Lease{lease}, err
}

// method picks the lock's method for one key, and says how long it may wait; 0
// when it does not. That the lock has it was checked before the phase began.
func (w *worker) method(a arrival) (acquire func(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error), wait time.Duration) {
	locker := w.inc.conn.Locker
	switch {
	case a.mode == history.Shared:
		return locker.(lockimpl.SharedLocker).AcquireShared, 0
	case a.use.how == ModeFair:
		return locker.(lockimpl.FairLocker).AcquireFair, or(a.use.wait, w.cfg.Patience)
	case a.use.how == ModeReentrant:
		return w.reenter, 0
	}
	if waiter, can := locker.(lockimpl.WaitLocker); can && a.use.wait > 0 {
		return waiter.AcquireWait, a.use.wait
	}
	return locker.Acquire, 0
}

// asks says how an arrival asks for its keys, where its mode does not.
func (w *worker) asks(a arrival) string {
	_, waits := w.inc.conn.Locker.(lockimpl.WaitLocker)
	switch {
	case len(a.keys) > 1:
		return history.AskMulti
	case a.mode == history.Shared:
		return ""
	case a.use.how == ModeFair:
		return history.AskFair
	case a.use.how == ModeReentrant:
		return history.AskReentry
	case waits && a.use.wait > 0:
		return history.AskWait
	}
	return ""
}

// reenter acquires key again for the client, which holds it.
func (w *worker) reenter(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return w.inc.conn.Locker.(lockimpl.ReentrantLocker).AcquireAs(ctx, w.inc.owner, key, ttl)
}

// bounded limits one operation: to wait, and to the phase, when it is one that
// waits, and to the configured timeout when it is not. Client.Cancel ends it
// early.
func (w *worker) bounded(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	return w.boundedBy(ctx, wait, w.cfg.Timeout)
}

// behind is what the limit of an operation is longer by than it says: a lock may give itself the same length from the
// same instant, and which of two timers of one instant fires first is drawn by chance, in virtual time too.
const behind = time.Nanosecond

// boundedBy is bounded with another timeout than the configured one.
func (w *worker) boundedBy(ctx context.Context, wait, timeout time.Duration) (context.Context, context.CancelFunc) {
	if wait == 0 {
		ctx, cancel := context.WithTimeout(ctx, timeout+behind)
		return ctx, w.client.cancellable(w.inc, cancel)
	}
	ctx, cancel := context.WithTimeout(ctx, wait+behind)
	cancel = w.client.cancellable(w.inc, cancel)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-w.over:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() { cancel(); watch.Wait() }
}

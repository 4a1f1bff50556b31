package workload

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload/history"
	"locktorture/workload/store"
)

// A worker is one client at work in one phase. It is one goroutine.
type worker struct {
	*phase
	client *Client
	rng    *rand.Rand
	keys   keySource
	mine   []int       // the keys that are left to this client at the end, by turns
	asked  map[int]int // how often it has turned to each

	refused map[leftKey]bool // of those, what it was refused when it last turned there

	inc    *incarnation
	main   int // process of its operations
	second int // process of those on the second key of ModeMulti
	side   int // process of what happens beside them: renewals and losses, which need no invocation

	doubtful string // key of the last acquire or release without an answer, in a mixed load; empty: none since
	used     string // the key among whose users it is counted; empty: none
}

// stream returns the random numbers of one actor, so that no actor's draws
// shift another's.
func stream(seed uint64, actor string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(actor))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// work acts for one incarnation after the other until the phase is over.
func (w *worker) work(ctx context.Context) {
	for !w.isOver() {
		inc, life := w.client.await(ctx, w.over)
		if inc == nil {
			return
		}
		w.inc = inc
		w.doubtful = ""
		w.main, w.second, w.side = w.rec.NewProcess(), w.rec.NewProcess(), w.rec.NewProcess()
		w.serve(life)
	}
}

func (w *worker) serve(ctx context.Context) {
	defer w.client.release(w.inc)
	for ctx.Err() == nil {
		a, more := w.next(ctx)
		if !more {
			return
		}
		w.cycle(ctx, w.again(a))
	}
}

// An arrival is the demand for one critical section.
type arrival struct {
	keys []string
	mode history.Mode
	use  use
	due  time.Time // when it should begin; zero in a closed loop

	began time.Time // closed loop: when it did
	first bool      // of a mixed load: no other client of this process asked for the first key, or held it
}

// next waits for the next arrival. It reports false at the end of the phase or
// of the incarnation.
func (w *worker) next(ctx context.Context) (a arrival, more bool) {
	if w.queue == nil {
		if !w.sleep(ctx, w.cfg.Think.Draw(w.rng)) {
			return a, false
		}
		if !w.alone.isOn() {
			a = w.draw(w.rng, w.keys)
		} else if a, more = w.nextOfMine(); !more {
			w.alone.granted() // the other clients here may have no key either
			w.sleep(ctx, w.cfg.Final)
			return a, false
		}
		a.began = time.Now()
		w.demand.offer()
		return a, true
	}
	select {
	case a = <-w.queue:
		if w.isOver() {
			w.demand.finish(a, false, true)
			return a, false
		}
		return a, true
	case <-w.over:
	case <-ctx.Done():
	}
	return a, false
}

// cycle serves one arrival: acquire, critical section, release.
func (w *worker) cycle(ctx context.Context, a arrival) {
	defer w.usesNoMore()
	s := w.obtain(ctx, a)
	w.demand.finish(a, s != nil, w.isOver())
	if s == nil {
		return
	}
	w.client.setHolds(w.inc, a.keys)
	s.run(ctx)
	if ctx.Err() == nil {
		w.client.setHolds(w.inc, nil)
	}
}

// uses counts the worker among those who use a key of a mixed load, until usesNoMore, and reports whether
// nobody else does.
func (w *worker) uses(key string) (first bool) {
	if w.cfg.Mode != ModeMixed {
		return false
	}
	w.used = key
	return w.users.join(key)
}

func (w *worker) usesNoMore() {
	if w.used != "" {
		w.users.leave(w.used)
		w.used = ""
	}
}

// begin records an invocation, and returns the event that its completion
// starts from.
func (w *worker) begin(e history.Event) history.Event {
	e.Kind, e.Owner = history.Invoke, w.inc.owner
	w.rec.Append(e)
	e.Has &^= history.HasIntended
	return e
}

// complete records a completion. A process that saw an unknown outcome is retired.
// Whatever a crashed client was answered is recorded as unknown: it could not act on it.
func (w *worker) complete(e history.Event, err error) history.Kind {
	e.Kind = outcome(err)
	if w.inc.crashed() {
		e.Kind, err = history.Info, errors.Join(errCrashed, err)
	}
	if err != nil {
		e.Err = history.OneLine(err.Error())
	}
	if e.Kind != history.OK && e.Op == history.Acquire {
		e.Fence = 0
	}
	if e.Kind != history.OK {
		e.Has &^= history.HasValidUntil
	}
	if e.Kind != history.OK && e.Op == history.Acquire || w.inc.crashed() {
		e.Has &^= history.HasBegan | history.HasEnded
	}
	if e.Kind == history.Info {
		e.Has &^= history.HasSeq
		if w.inc.conn.Drain != nil {
			w.inc.conn.Drain()
		}
	}
	w.rec.Append(e)
	if e.Kind == history.Info {
		w.retire(e.Process)
		if w.cfg.Mode == ModeMixed && (e.Op == history.Acquire || e.Op == history.Release) {
			w.doubtful = e.Key
		}
	}
	return e.Kind
}

var errCrashed = errors.New("client crashed")

func (w *worker) retire(process int) {
	switch process {
	case w.main:
		w.main = w.rec.NewProcess()
	case w.second:
		w.second = w.rec.NewProcess()
	}
}

// outcome sorts the errors of locks and of the store into what is certain and
// what is not.
func outcome(err error) history.Kind {
	switch {
	case err == nil:
		return history.OK
	case errors.Is(err, lockimpl.ErrHeld), errors.Is(err, lockimpl.ErrNoQuorum), errors.Is(err, lockimpl.ErrLost),
		errors.Is(err, store.ErrStale), errors.Is(err, store.ErrUnreached):
		return history.Fail
	default:
		return history.Info
	}
}

// value returns a text that nobody else writes.
func (w *worker) value() string {
	w.inc.writes++
	return w.inc.owner + "/" + strconv.Itoa(w.inc.writes)
}

// sleep waits for d. It reports false when the phase or the incarnation ended.
func (w *worker) sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil && !w.isOver()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.over:
	case <-ctx.Done():
	}
	return false
}

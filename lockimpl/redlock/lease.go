package redlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// A lease is what a successful attempt yields.
type lease struct {
	l     *Lock
	a     *attempt
	fence uint64

	mu       sync.Mutex
	began    time.Time // start of the acquisition or of the last extension
	wall     time.Time // began by the wall clock alone
	until    time.Time // end of validity, as the holder was told
	stopped  time.Time // when it ended
	expires  time.Time // no key of the lease outlives this on any node
	ttl      time.Duration
	ended    bool // released or lost
	released *release
	wasValid bool // it could be relied on until it was released
	lost     chan struct{}
	cause    error           // why it ended
	ctx      context.Context // ends with the lease; nil until somebody asks for one
	cancels  []context.CancelCauseFunc
	timer    *time.Timer

	rounding chan struct{} // closed at the end of the round of renewal that is under way
	mayCount uint64        // nodes that count for the next round, if they have the lease
	renewal  *renewal
}

func newLease(a *attempt) *lease {
	a.mu.Lock()
	token := a.token
	a.mu.Unlock()
	return &lease{
		l: a.l, a: a, fence: uint64(token), ttl: a.r.ttl,
		began: a.start, wall: a.start.Round(0), until: a.until, expires: a.start.Add(a.r.ttl + a.l.cfg.NodeTimeout),
		mayCount: a.l.everyNode(),
	}
}

// ValidUntil returns the end of validity, or when the lease ended before that.
func (e *lease) ValidUntil() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.noticeSleep()
	if e.ended && e.stopped.Before(e.until) {
		return e.stopped
	}
	return e.until
}

// deadline returns the end of validity as the holder was last told, whatever became of
// the lease.
func (e *lease) deadline() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.until
}

// alive reports whether the lease can be relied on. mu is held.
func (e *lease) alive() bool {
	e.noticeSleep()
	return !e.ended && time.Now().Before(e.until)
}

// noticeSleep ends a lease through which the machine was suspended: the
// monotonic clock stands still then, and when the wall clock has moved on by a
// second more, nobody knows how much of the lease is left. mu is held.
func (e *lease) noticeSleep() {
	now := time.Now()
	if e.ended || now.Round(0).Sub(e.wall)-now.Sub(e.began) < time.Second {
		return
	}
	e.endBy("the machine was suspended")
}

// sleepCheck is how often a lease looks whether the machine was suspended.
const sleepCheck = time.Second

// untilCheck is the time to the next look at the lease. mu is held.
func (e *lease) untilCheck() time.Duration { return min(time.Until(e.until), sleepCheck) }

// valid is alive for those who do not hold mu.
func (e *lease) valid() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.alive()
}

// Lost returns the channel that is closed when the lease ends.
func (e *lease) Lost() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.watch()
}

// watch is Lost for those who hold mu.
func (e *lease) watch() <-chan struct{} {
	if e.lost != nil {
		return e.lost
	}
	alive := e.alive()
	e.lost = make(chan struct{})
	switch {
	case alive:
		e.timer = time.AfterFunc(e.untilCheck(), e.expire)
	case e.ended:
		close(e.lost)
	default:
		e.end()
	}
	return e.lost
}

// expire ends the lease at its deadline, or waits for one that has moved.
func (e *lease) expire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return
	}
	if e.alive() {
		e.timer.Reset(e.untilCheck())
		return
	}
	e.end()
}

// why returns why the lease ended, or nil while it can be relied on.
func (e *lease) why() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.alive() {
		e.end()
	}
	return e.cause
}

// isReleased reports whether the release has been put to the nodes.
func (e *lease) isReleased() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.released != nil
}

// heldUnder is the key of the value by which a context that ends with a lease names it: a
// waiter for the same key would wait for the end of its own context.
type heldUnder struct {
	l   *Lock
	key string
}

// notUnder refuses a wait with a context that ends before the key can be had.
func (l *Lock) notUnder(ctx context.Context, key string, r request) error {
	e, _ := ctx.Value(heldUnder{l, key}).(*lease)
	if e == nil || r.shared && e.a.r.shared || !e.valid() {
		return nil
	}
	return fmt.Errorf("acquire %s: %w: the context ends with a lease on the key, which is held until then", shown(key), ErrMisconfigured)
}

// contextIn returns a child of ctx that ends with the lease, for its reason.
func (e *lease) contextIn(ctx context.Context) context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.child(ctx)
}

// contextWith returns a context that ends with the lease, with the values of another. However
// many there are, the lease keeps one.
func (e *lease) contextWith(values context.Context) context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx == nil {
		e.ctx = e.child(context.Background())
	}
	return valued{e.ctx, values}
}

// valued is a context with the values of another beside its own.
type valued struct {
	context.Context
	values context.Context
}

// Value implements context.Context.
func (c valued) Value(key any) any {
	if own := c.Context.Value(key); own != nil {
		return own
	}
	return c.values.Value(key)
}

// child is contextIn for those who hold mu.
func (e *lease) child(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, heldUnder{e.l, e.a.k.Name}, e))
	e.watch()
	if e.ended {
		cancel(e.cause)
	} else {
		e.cancels = append(e.cancels, cancel)
	}
	return ctx
}

// endBy is end for a reason other than that the lease ran out. mu is held.
func (e *lease) endBy(reason string) {
	if !e.ended {
		e.cause = fmt.Errorf("%w: %s", lockimpl.ErrLost, reason)
	}
	e.end()
}

// end marks the lease as one that nobody may rely on. mu is held.
func (e *lease) end() {
	if e.ended {
		return
	}
	e.ended, e.stopped = true, time.Now()
	if e.cause == nil {
		e.cause = fmt.Errorf("%w: it ran out", lockimpl.ErrLost)
	}
	for _, cancel := range e.cancels {
		cancel(e.cause)
	}
	e.cancels = nil
	e.notifyLost()
	if e.lost != nil {
		close(e.lost)
	}
	if e.timer != nil {
		e.timer.Stop()
	}
}

// notifyLost tells the observer of a loss. mu is held.
func (e *lease) notifyLost() {
	l, cause := e.l, e.cause
	if l.cfg.Observer == nil || errors.Is(cause, ErrReleased) {
		return
	}
	l.tell(Event{Op: OpLost, Key: e.a.k.Name, Fence: e.fence, Began: e.a.start, Err: cause})
}

// AwaitReleaseSent returns when a release that has ended the lease has been put to the
// nodes.
func (e *lease) AwaitReleaseSent() {
	e.mu.Lock()
	defer e.mu.Unlock()
}

// lose ends the lease and gives back what may be left of it.
func (e *lease) lose() {
	e.mu.Lock()
	if !e.ended {
		e.cause = ErrReleased
	}
	e.end()
	e.sendRelease()
	e.mu.Unlock()
}

// abandon gives back what may be left of a lease that can no longer be relied on, and may
// be taken yet by what is still on its way.
func (e *lease) abandon() {
	e.stopRenewal()
	e.mu.Lock()
	e.end()
	e.sendRelease()
	e.mu.Unlock()
}

// sendRelease sends the release, once. mu is held.
func (e *lease) sendRelease() {
	if e.queueRelease() {
		for _, n := range e.l.nodes {
			n.Flush()
		}
		e.l.lines.Poke(e.a.k.Name)
	}
}

// queueRelease puts the release to the nodes and reports whether it has not been
// sent before. mu is held.
func (e *lease) queueRelease() bool {
	if e.released != nil {
		return false
	}
	e.released = e.a.releaseBy(e.expires)
	return true
}

// Release gives the lease back; see Lease.Release.
func (e *lease) Release(ctx context.Context) error {
	e.stopRenewal()
	began := time.Now()
	e.mu.Lock()
	if e.released == nil {
		e.wasValid = e.alive()
	}
	if e.wasValid && !e.ended {
		e.cause = ErrReleased
	}
	e.end()
	if e.released == nil && e.l.closed.Load() {
		e.mu.Unlock()
		return fmt.Errorf("release %s: %w", shown(e.a.k.Name), e.closedOrLost())
	}
	first := e.queueRelease()
	released, wasValid := e.released, e.wasValid
	e.mu.Unlock()
	if ctx == nil {
		ctx = context.Background()
	}
	e.l.active.Add(1)
	defer e.l.active.Add(-1)
	if first {
		e.l.lines.Poke(e.a.k.Name)
		e.l.flushOrRun(ctx, e.l.everyNode())
	}
	if err := released.wait(ctx, began); err != nil || wasValid {
		return err
	}
	return fmt.Errorf("release %s: %w", shown(e.a.k.Name), lockimpl.ErrLost)
}

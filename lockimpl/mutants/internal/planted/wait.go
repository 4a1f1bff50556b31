// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/mutants/internal/planted/keys"
	"locktorture/lockimpl/mutants/internal/planted/waiting"
)

// AcquireWait waits until it is granted key or ctx ends. Of the waiters of one client for one key
// one contends, and the others queue behind it in this process, and behind its
// lease. A contender queues on the nodes as well and is woken when its turn
// comes; it asks again at least three times within the patience of the queue.
func (l *Lock) AcquireWait(ctx context.Context, key string, ttl time.Duration) (*Lease, error) {
	return l.observed(ctx, key, func() (*lease, error) { return l.await(ctx, key, request{ttl: ttl}) })
}

// AcquireSharedWait is AcquireWait for a reader. Readers of one client do not
// queue behind each other.
func (l *Lock) AcquireSharedWait(ctx context.Context, key string, ttl time.Duration) (*Lease, error) {
	return l.observed(ctx, key, func() (*lease, error) { return l.await(ctx, key, request{ttl: ttl, shared: true}) })
}

// AcquireFair is AcquireWait, first come first served: every call queues on the nodes for
// itself, in the order in which the calls were made by their clients' clocks.
// On one master nobody is overtaken. Over a quorum, two calls that are closer
// together than the clocks agree, or of which one reached too few nodes, may
// change places; nobody is overtaken again and again.
func (l *Lock) AcquireFair(ctx context.Context, key string, ttl time.Duration) (*Lease, error) {
	return l.observed(ctx, key, func() (*lease, error) {
		k, r := l.keys(key), request{ttl: ttl}
		if err := l.mayWait(ctx, k, r); err != nil {
			return nil, err
		}
		return l.contend(ctx, k, r)
	})
}

// mayWait refuses a wait before anything is sent.
func (l *Lock) mayWait(ctx context.Context, k *keys.Set, r request) error {
	if err := l.admissible(ctx, k, r); err != nil {
		return err
	}
	return l.notUnder(ctx, k.Name, r)
}

func (l *Lock) await(ctx context.Context, key string, r request) (*lease, error) {
	k := l.keys(key)
	if err := l.mayWait(ctx, k, r); err != nil {
		return nil, err
	}
	if r.shared {
		return l.ask(ctx, k, r)
	}
	leave, err := l.lines.Enter(ctx, key)
	if err != nil {
		return nil, turnEnded(key, err)
	}
	got, err := l.ask(ctx, k, r)
	if err != nil {
		leave(nil)
		return nil, err
	}
	leave(got)
	return got, nil
}

// ask tries once and then contends; at once where it had to contend the last
// time.
func (l *Lock) ask(ctx context.Context, k *keys.Set, r request) (*lease, error) {
	if l.lines.Idle(k.Name) && !l.isContended(k) {
		a := l.newAttempt(k, r)
		got, err := a.run(ctx)
		if err == nil || !retriable(ctx, err) {
			return got, waitError(ctx, err, nil)
		}
		l.lines.Note(k.Name, a.toOthers(err))
	}
	return l.contend(ctx, k, r)
}

// isContended reports whether k is the key that was contended for last, and had
// to be waited for.
func (l *Lock) isContended(k *keys.Set) bool {
	name := l.contended.Load()
	return name != nil && *name == k.Name
}

func (l *Lock) noteContention(k *keys.Set, waited bool) {
	var name *string
	if waited {
		name = &k.Name
	}
	l.contended.Store(name)
}

// contend queues on the nodes until it is granted or ctx ends.
func (l *Lock) contend(ctx context.Context, k *keys.Set, r request) (*lease, error) {
	if !l.work.Begin(1) {
		return nil, ErrClosed
	}
	defer l.work.Add(-1)              // Close waits until the queues have been left
	r.ticket = time.Now().UnixMicro() // listening may take a while
	l.listen(ctx)
	w := waiting.NewWaker(l.quorum)
	r.member, r.waiter = l.member(r.shared), w
	if !r.shared { // readers are let in together, and each asks by itself
		w.Place = waiting.Place{Member: r.member, Ticket: r.ticket, TTL: r.ttl.Milliseconds()}
	}
	defer l.lines.Join(k.Name, r.member, w)()
	var last error // of the attempt before, which was made by asked
	var asked time.Time
	var placed uint64 // nodes on which it may have a place
	for tries := 0; ; tries++ {
		w.Reset()
		r.kept = w.IsKept()
		a := l.newAttempt(k, r)
		got, err := a.run(ctx)
		placed |= a.mayQueue()
		if err == nil {
			l.quitQueue(a, placed)
			l.noteContention(k, tries > 0)
			l.lines.Progress(k.Name)
			return got, nil
		}
		if !retriable(ctx, err) {
			l.quitQueue(a, placed)
			if ctx.Err() == nil && tries > 0 { // the nodes say since a while ago what ends every wait
				l.lines.RingAll(k.Name)
			}
			return nil, waitError(ctx, err, l.newest(k, last, asked))
		}
		l.lines.Note(k.Name, a.toOthers(err))
		last, asked = err, time.Now()
		if !l.lines.Rest(ctx, k.Name, w, l.rest(k, l.pause(a, err, tries))) {
			l.quitQueue(a, placed)
			return nil, waitEnded(l.newest(k, last, asked), ctx.Err())
		}
	}
}

// newest is what the nodes said last to who asked for a waiter: by then that was said to the
// waiter itself, or later to who leads the line.
func (l *Lock) newest(k *keys.Set, own error, by time.Time) error {
	if own == nil {
		return nil
	}
	if told := l.lines.Told(k.Name, by); told != nil {
		return told
	}
	return own
}

// retriable reports whether a waiter should try again after err: what a minority of the
// nodes says does not end a wait that the others may serve.
func retriable(ctx context.Context, err error) bool {
	var never hopeless
	return ctx.Err() == nil && !errors.Is(err, ErrClosed) && !errors.As(err, &never)
}

// waitEnded is the answer to a waiter whose context ended while nothing of its
// own was under way: what the last attempt said, that somebody holds the key or
// that too few nodes answered, and why.
func waitEnded(last, cause error) error { return fmt.Errorf("%w: %w", last, cause) }

// turnEnded is the answer to a waiter whose turn in the line did not come, so that it
// has asked nobody: what those ahead of it were told.
func turnEnded(key string, err error) error {
	var e *waiting.Ended
	switch {
	case !errors.As(err, &e):
		return err
	case e.Granted:
		return waitEnded(fmt.Errorf("acquire %s: %w", shown(key), lockimpl.ErrHeld), e.Cause)
	case e.Last == nil:
		return notAsked(key, e.Cause)
	}
	return waitEnded(e.Last, e.Cause)
}

// notAsked is the answer to who asked no node before its context ended: nothing is known
// of who has the key, and nothing is left of the attempt.
func notAsked(key string, cause error) error {
	return fmt.Errorf("acquire %s: %w: no node was asked: %w", shown(key), lockimpl.ErrNoQuorum, cause)
}

// waitError is the answer to a waiter after an attempt that is not followed by
// another. One that the end of ctx cut short knows less than the one before it.
func waitError(ctx context.Context, err, last error) error {
	if ctx.Err() == nil || !errors.Is(err, lockimpl.ErrNoQuorum) && !errors.Is(err, lockimpl.ErrHeld) {
		return err
	}
	if last == nil {
		last = err
	}
	return waitEnded(last, ctx.Err())
}

// rest is how a waiter for k rests that would pause for so long.
func (l *Lock) rest(k *keys.Set, pause time.Duration) waiting.Rest {
	every := l.cfg.Patience / 3
	return waiting.Rest{
		Pause: pause, Soon: l.upTo(every), Named: l.upTo(min(l.cfg.RetryMax, every)), Every: every,
		Keep: func(line []*waiting.Waker) { l.keepPlaces(k, line) },
	}
}

// upTo is a time between half of most and most, drawn at random.
func (l *Lock) upTo(most time.Duration) time.Duration {
	return most/2 + time.Duration(l.draw(int64(max(most/2, 1))))
}

// leastPause is the shortest pause of who was not answered by enough nodes, or who watches a key,
// whatever the configuration, or the caller, says: what is known of a node that is away is told at once, so that a client
// without a pause would do nothing else.
const leastPause = time.Millisecond

// pause is how long to wait for a wake-up: not longer than the present holders
// can hold on, nor so long that the queue would think the waiter dead. When
// too few nodes answer, it is drawn at random between bounds that double.
func (l *Lock) pause(a *attempt, err error, tries int) time.Duration {
	limit := l.cfg.Patience / 3
	if errors.Is(err, lockimpl.ErrHeld) {
		if a.wait > 0 {
			return min(a.wait, limit)
		}
		return limit
	}
	if l.cfg.Backoff != nil {
		return min(max(l.cfg.Backoff(tries+1), leastPause), limit)
	}
	top := min(l.cfg.RetryMin<<min(tries, 16), l.cfg.RetryMax, limit)
	return min(l.cfg.RetryMin/2+time.Duration(l.draw(int64(max(top, 1)))), limit)
}

// draw returns a random number below n.
func (l *Lock) draw(n int64) int64 {
	l.randMu.Lock()
	defer l.randMu.Unlock()
	return l.rand.Int64N(n)
}

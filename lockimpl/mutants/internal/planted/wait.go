// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/mutants/internal/planted/node"
	"locktorture/lockimpl/mutants/internal/planted/script"
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
		if err := l.admissible(ctx, k, r); err != nil {
			return nil, err
		}
		return l.contend(ctx, k, r)
	})
}

func (l *Lock) await(ctx context.Context, key string, r request) (*lease, error) {
	k := l.keys(key)
	if err := l.admissible(ctx, k, r); err != nil {
		return nil, err
	}
	if r.shared {
		return l.ask(ctx, k, r)
	}
	leave, err := l.lines.enter(ctx, key)
	if err != nil {
		return nil, waitEnded(key, nil, err)
	}
	got, err := l.ask(ctx, k, r)
	leave(got)
	return got, err
}

// ask tries once and then contends; at once where it had to contend the last
// time.
func (l *Lock) ask(ctx context.Context, k *keySet, r request) (*lease, error) {
	if l.lines.idle(k.name) && !l.isCrowded(k) {
		got, err := l.attempt(ctx, k, r)
		if err == nil || !retriable(ctx, err) {
			return got, waitError(ctx, k.name, err, nil)
		}
	}
	return l.contend(ctx, k, r)
}

// isCrowded reports whether k is the key that was contended for last, and had
// to be waited for.
func (l *Lock) isCrowded(k *keySet) bool {
	name := l.crowded.Load()
	return name != nil && *name == k.name
}

func (l *Lock) noteCrowd(k *keySet, waited bool) {
	var name *string
	if waited {
		name = &k.name
	}
	l.crowded.Store(name)
}

// contend queues on the nodes until it is granted or ctx ends.
func (l *Lock) contend(ctx context.Context, k *keySet, r request) (*lease, error) {
	l.listen(ctx)
	r.member = l.member(r.shared)
	r.ticket = time.Now().UnixMicro()
	w := newWaker(l.quorum)
	defer l.lines.join(k.name, r.member, w)()
	var last error
	for tries := 0; ; tries++ {
		w.reset()
		a := l.newAttempt(k, r)
		got, err := a.run(ctx)
		if err == nil {
			l.quitQueue(a)
			l.noteCrowd(k, tries > 0)
			return got, nil
		}
		if !retriable(ctx, err) {
			l.quitQueue(a)
			return nil, waitError(ctx, k.name, err, last)
		}
		if !w.wait(ctx, l.pause(a, err, tries)) {
			l.quitQueue(a)
			return nil, waitEnded(k.name, err, ctx.Err())
		}
		last = err
	}
}

// member names a waiter: what it waits for, whom to wake, and which one.
func (l *Lock) member(shared bool) string {
	kind := "x:"
	if shared {
		kind = "s:"
	}
	return l.memberNamed(kind, strconv.FormatUint(l.serial.Add(1), 36))
}

// memberNamed adds for how long the waiter counts as alive between two tries.
func (l *Lock) memberNamed(kind, name string) string {
	return kind + l.id + ":" + name + "~" + strconv.FormatInt(l.cfg.Patience.Milliseconds(), 10)
}

// retriable reports whether a waiter should try again after err.
func retriable(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !errors.Is(err, ErrClosed) &&
		!errors.Is(err, ErrSameServer) && !node.IsPermanent(err)
}

// waitEnded is the answer to a waiter whose context ended while nothing of its
// own was under way: what the last attempt said, that somebody holds the key or
// that too few nodes answered, and why.
func waitEnded(key string, last, cause error) error {
	if last == nil {
		last = fmt.Errorf("acquire %s: %w", key, lockimpl.ErrHeld)
	}
	return fmt.Errorf("%w: %w", last, cause)
}

// waitError is the answer to a waiter after an attempt that is not followed by
// another. One that the end of ctx cut short knows less than the one before it.
func waitError(ctx context.Context, key string, err, last error) error {
	if ctx.Err() == nil || !errors.Is(err, lockimpl.ErrNoQuorum) && !errors.Is(err, lockimpl.ErrHeld) {
		return err
	}
	if last == nil {
		last = err
	}
	return waitEnded(key, last, ctx.Err())
}

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
		return min(max(l.cfg.Backoff(tries+1), 0), limit)
	}
	top := min(l.cfg.RetryMin<<min(tries, 16), l.cfg.RetryMax, limit)
	return l.cfg.RetryMin/2 + time.Duration(l.draw(int64(max(top, 1))))
}

// draw returns a random number below n.
func (l *Lock) draw(n int64) int64 {
	l.randMu.Lock()
	defer l.randMu.Unlock()
	return l.rand.Int64N(n)
}

// wait returns false when ctx ended first.
func (w *waker) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.bell:
		return true
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// quitQueue takes the waiter of an attempt out of the queue of every node that
// did not grant it.
func (l *Lock) quitQueue(a *attempt) {
	for i := range l.nodes {
		l.work.add(1)
		l.nodes[i].Send(&leaveCall{a: a, i: i})
	}
}

// A leaveCall takes a waiter out of the queue of one node.
type leaveCall struct {
	a *attempt
	i int
}

// Encode implements node.Call.
func (c *leaveCall) Encode(w *node.Writer) {
	l, k := c.a.l, c.a.k
	w.Script(script.Leave, 3, 3)
	w.Strs(k.lock, k.tickets, k.beats, c.a.r.member)
	w.Str(l.channels())
	w.Int(l.cfg.Patience.Milliseconds())
}

// Wanted implements node.Call: the grant took the waiter out of the queue.
func (c *leaveCall) Wanted(bool) bool {
	c.a.mu.Lock()
	defer c.a.mu.Unlock()
	return c.a.slots[c.i].state != granted
}

// Answer implements node.Call.
func (c *leaveCall) Answer(node.Reply) { c.a.l.work.add(-1) }

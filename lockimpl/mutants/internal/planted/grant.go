// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// A Lease is one holding of one key. It is safe for concurrent use.
type Lease struct {
	e      *lease
	values context.Context // of the acquire, for its values
	entry  *entry          // of an owner that may hold the key more than once; else nil
}

// An entry is one of the grants to one owner.
type entry struct {
	all  *holdings
	h    *holding
	once sync.Once
	err  error
}

// Key returns the key that is held.
func (g *Lease) Key() string { return g.e.a.k.Name }

// Fence returns the fencing token: higher than that of every lease on the key
// that was granted before (readers at the same time share theirs).
func (g *Lease) Fence() uint64 { return g.e.fence }

// TTL returns the length that was asked for when the deadline was set: an extension
// that did not move it does not change it.
func (g *Lease) TTL() time.Duration { return g.e.asked() }

// ValidUntil returns the local instant after which the holder must stop: the
// start of the acquisition, or of the last extension that succeeded, + TTL −
// Drift. It has passed once the lease is known to be lost.
func (g *Lease) ValidUntil() time.Time { return g.e.ValidUntil() }

// Err returns nil while the lease can be relied on, and then why it cannot:
// ErrReleased, or an error that wraps ErrLost.
func (g *Lease) Err() error { return g.e.why() }

// Lost returns a channel that is closed at the end of validity, by a local
// timer, or as soon as the loss or the release is known; after a suspension of
// the machine within a second.
func (g *Lease) Lost() <-chan struct{} { return g.e.Lost() }

// Context returns a context that ends with the lease: context.Cause says why,
// as Err does. It carries the values of the context of the acquire, and neither
// its deadline nor its cancellation.
func (g *Lease) Context() context.Context {
	return g.e.contextWith(g.values)
}

// Extend renews the lease for ttl from now, once. It never shortens it. After an
// error other than ErrLost the old deadline still stands. Of a lease that was given back the
// error is ErrReleased as well.
func (g *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	began := time.Now()
	err := g.e.Extend(ctx, ttl)
	g.e.l.observe(ctx, Event{Op: OpExtend, Key: g.Key(), Fence: g.Fence(), Began: began, Err: err})
	return err
}

// Renew extends the lease by its TTL, every third of it, until it is released
// or lost or ctx ends; after that it runs out by itself. It returns at once, and
// does nothing while an earlier Renew is at it.
func (g *Lease) Renew(ctx context.Context) { g.e.renew(ctx, nil) }

// Release gives the lease back, on every node that may hold a part of it; ctx
// bounds only the wait for their answers. It returns ErrLost when the lease had
// ended before, and ErrUnknown when too few nodes confirmed: then it ends by
// itself, within its TTL; so it does when the lock was closed before, which ErrClosed says.
// Releasing again sends nothing and answers the same.
func (g *Lease) Release(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	began := time.Now()
	err := g.release(ctx)
	g.e.l.observe(ctx, Event{Op: OpRelease, Key: g.Key(), Fence: g.Fence(), Began: began, Err: err})
	return err
}

func (g *Lease) release(ctx context.Context) error {
	if g.entry == nil {
		return g.e.Release(ctx)
	}
	g.entry.once.Do(func() { g.entry.err = g.leave(ctx) })
	return g.entry.err
}

// leave frees the key with the last of an owner's grants.
func (g *Lease) leave(ctx context.Context) error {
	h, err := g.entry.all.enter(context.WithoutCancel(ctx), g.entry.h.who)
	if err != nil {
		return err
	}
	defer g.entry.all.exit(h)
	if h.lease == g.e {
		if h.count--; h.count == 0 {
			return g.e.Release(ctx)
		}
	}
	if !g.e.valid() {
		return fmt.Errorf("release %s: %w", shown(h.who.key), lockimpl.ErrLost)
	}
	return nil
}

// observed makes a Lease of what acquire grants, and tells the observer.
func (l *Lock) observed(ctx context.Context, key string, acquire func() (*lease, error)) (*Lease, error) {
	began := time.Now()
	e, err := acquire()
	return l.granted(ctx, key, began, e, err)
}

func (l *Lock) granted(ctx context.Context, key string, began time.Time, e *lease, err error) (*Lease, error) {
	event := Event{Op: OpAcquire, Key: key, Began: began, Err: err}
	if err != nil {
		l.observe(ctx, event)
		return nil, err
	}
	event.Fence = e.fence
	l.observe(ctx, event)
	if l.cfg.Observer != nil {
		e.Lost() // so that the loss is told when it happens
	}
	return &Lease{e: e, values: ctx}, nil
}

// Do runs fn while it holds key: it waits for the lock until ctx ends, renews the
// lease while fn runs, and gives it back when fn returns or panics. The context
// of fn is ctx, and ends also when the lease is lost, with the cause. fence goes
// with everything that fn has the guarded resource do.
//
// The error is fn's, and wraps ErrLost as well when the lease was lost before fn
// returned: others may have been at it then, and what the resource accepted from
// fn it accepted by its fence. A release that was not confirmed is not an error
// of Do: the lease ends by itself.
//
// Within fn nobody can wait for key with its context, which ends with the lease: Do and the
// other calls that wait return ErrMisconfigured. AcquireAs grants a key to one owner twice.
func (l *Lock) Do(ctx context.Context, key string, fn func(ctx context.Context, fence uint64) error) (err error) {
	lease, err := l.AcquireWait(ctx, key, l.cfg.TTL)
	if err != nil {
		return err
	}
	defer func() {
		waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.cfg.NodeTimeout)
		defer cancel()
		lost := lease.Err()
		if released := lease.Release(waiting); lost == nil && errors.Is(released, ErrLost) {
			lost = released
		}
		if lost != nil && !errors.Is(err, ErrLost) { // fn may have returned the cause
			err = oneLine(err, lost)
		}
	}()
	lease.Renew(context.WithoutCancel(ctx))
	return fn(lease.e.contextIn(ctx), lease.Fence())
}

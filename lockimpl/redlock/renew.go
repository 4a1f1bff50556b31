package redlock

import (
	"context"
	"errors"
	"time"

	"locktorture/lockimpl"
)

// A renewal is the goroutine that keeps a lease alive.
type renewal struct {
	stop  context.CancelFunc
	ended <-chan struct{} // closed when its context has ended, or it is over
	done  chan struct{}   // closed when its goroutine has ended

	sooner time.Duration // than after a third of the TTL the lease is extended: those that began at once come one after the other
}

// spread is the part of a TTL by which the renewals of leases are spread at most.
const spread = 1024

// renew has the lease extended by its TTL every third of it, or up to a thousandth sooner, until it is
// released or lost or ctx ends. A round is bounded by the old deadline. observe
// (may be nil) is told of every round, and must not release the lease, which
// waits for it.
func (e *lease) renew(ctx context.Context, observe func(lockimpl.Renewal)) {
	if ctx == nil {
		ctx = context.Background()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.renewal
	if e.ended || before != nil && !before.isEnded() {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &renewal{stop: cancel, ended: ctx.Done(), done: make(chan struct{}), sooner: time.Duration(e.l.draw(max(int64(e.ttl/spread), 1)))}
	started := e.l.spawn(func() {
		defer close(r.done)
		defer cancel()
		defer context.AfterFunc(e.l.ctx, cancel)()
		if before != nil {
			<-before.done // it may be in the middle of a round
		}
		e.keep(ctx, r.sooner, observe)
	})
	if !started {
		cancel()
		return
	}
	e.renewal = r
}

func (r *renewal) isEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// keep runs rounds until ctx ends or the lease is lost, each sooner by some time than after a third of the TTL.
func (e *lease) keep(ctx context.Context, sooner time.Duration, observe func(lockimpl.Renewal)) {
	timer := time.NewTimer(max(e.firstPause()-sooner, 0))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		began := time.Now()
		err := e.Extend(ctx, e.asked())
		if ctx.Err() != nil {
			return
		}
		e.l.tell(Event{Op: OpExtend, Key: e.a.k.Name, Fence: e.fence, Began: began, Err: err})
		if observe != nil {
			observe(lockimpl.Renewal{Began: began, Ended: time.Now(), ValidUntil: e.ValidUntil(), Err: err})
		}
		if errors.Is(err, lockimpl.ErrLost) {
			return
		}
		timer.Reset(e.pause(err, sooner))
	}
}

// firstPause ends a third of the TTL after the lease was acquired, or extended, last: that may
// be a while ago.
func (e *lease) firstPause() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return max(e.ttl/3-time.Since(e.began), 0)
}

// pause is a third of the TTL, less what is sooner, or of what is left after a round that failed.
func (e *lease) pause(err error, sooner time.Duration) time.Duration {
	if err == nil {
		return max(e.asked()/3-sooner, 0)
	}
	return max(time.Until(e.ValidUntil())/3, time.Millisecond)
}

func (e *lease) asked() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ttl
}

// stopRenewal ends the renewal and waits for its goroutine.
func (e *lease) stopRenewal() {
	e.mu.Lock()
	r := e.renewal
	e.mu.Unlock()
	if r != nil {
		r.stop()
		<-r.done
	}
}

package rueidislock

import (
	"context"
	"errors"
	"sync"
	"time"

	"locktorture/lockimpl"
)

type lease struct {
	locker  *locker
	held    context.Context // the library's word: the lock is held while it lives
	release func()
	start   time.Time
	ttl     time.Duration
	polls   sync.WaitGroup
}

func (*lease) Fence() uint64 { return 0 }

// ValidUntil is zero: the library promises no time.
func (*lease) ValidUntil() time.Time { return time.Time{} }

// Extend is none of the library's abilities: nothing is sent.
func (*lease) Extend(context.Context, time.Duration) error { return errors.ErrUnsupported }

// Lost implements lockimpl.LostNotifier. The channel is closed by a release as
// well.
func (l *lease) Lost() <-chan struct{} { return l.held.Done() }

// RenewsUnasked implements lockimpl.SelfRenewer.
func (*lease) RenewsUnasked() {}

// Renew implements lockimpl.Renewer. The library renews by itself after every
// half of the validity and shows nobody; what it does show is that the lock's
// context still lives. So each of its renewals is reported a little after it is
// due, if the context lives then: that is the library's word that the lock is
// held for a validity from the renewal on.
func (l *lease) Renew(observe func(lockimpl.Renewal)) {
	if observe == nil {
		return
	}
	l.polls.Add(1)
	l.locker.polls.Go(func() {
		defer l.polls.Done()
		due := l.start.Add(l.ttl / 2)
		for l.lives(time.Until(due) + l.ttl/10) {
			observe(lockimpl.Renewal{Began: due, Ended: time.Now(), ValidUntil: due.Add(l.ttl)})
			due = due.Add(l.ttl / 2)
		}
	})
}

// lives waits for d and reports whether the lock's context lasted that long.
func (l *lease) lives(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return l.held.Err() == nil
	case <-l.held.Done():
		return false
	}
}

// Release gives the lock back. The library says nothing of how that went; only
// that the lock was lost before is known.
func (l *lease) Release(context.Context) error {
	lost := l.held.Err() != nil
	l.release()
	l.polls.Wait()
	if lost {
		return lockimpl.ErrLost
	}
	return nil
}

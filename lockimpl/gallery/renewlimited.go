package gallery

import (
	"context"
	"errors"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// renewLimit is how often the recipe renews a lease at most.
const renewLimit = 4

// RenewLimited is the recipe `renew-limited`: one lock object for all keys of a
// client, with re-entry counted in the process.
//
// Acquire: when the caller's owner holds the key already, count up. Otherwise
// SET key token NX EX ttl, raise the object's renewal flag, and start a task
// that, as long as the flag is up and at most 4 times, sleeps for the TTL and
// then renews: compare the token and PEXPIRE, in one script, whose answer it
// does not look at. Release: count down; at zero lower the flag, compare the
// token and delete.
//
// The caller is told no deadline: the recipe renews, as far as the caller knows.
//
// Flaws: a renewal comes exactly when the lease has ended, so that whoever
// waits gets in first (S1), and the holder, who counts on it, works on (S3z).
// It stops after 4 rounds. All locks of the object share the flag: releasing
// one ends the renewal of the others.
//
// Shown by: a hold longer than the TTL, without any fault; two keys held by one
// client.
// Corrected by: `token-watchdog`, which renews after a third of the TTL, per
// lease, and looks at the answer.
func RenewLimited() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker {
		return &renewLimited{master: m, held: make(map[hold]*countedLease)}
	})
}

func renewLimitedRecipe() Recipe {
	return Recipe{
		ID:          "renew-limited",
		Flaw:        "renews when the lease has ended, at most 4 times, by a flag that all locks of the object share",
		Needs:       "hold beyond the TTL, without any fault; two keys held by one client",
		Expected:    []string{"S1", "S3z"},
		CorrectedBy: "token-watchdog",
		Nodes:       1,
		Factory:     RenewLimited(),
	}
}

type renewLimited struct {
	master
	tasks tasks

	mu      sync.Mutex
	renewal bool
	held    map[hold]*countedLease
}

func (l *renewLimited) Close() error {
	l.tasks.close()
	return l.master.Close()
}

func (l *renewLimited) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.AcquireAs(ctx, newToken(), key, ttl)
}

// AcquireAs implements lockimpl.ReentrantLocker.
func (l *renewLimited) AcquireAs(ctx context.Context, owner, key string, ttl time.Duration) (lockimpl.Lease, error) {
	h := hold{owner, key}
	if lease := l.reenter(h); lease != nil {
		return lease, nil
	}
	token, err := l.takeToken(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	lease := &countedLease{tokenLease: token, locker: l, hold: h, count: 1}
	l.mu.Lock()
	l.held[h], l.renewal = lease, true
	l.mu.Unlock()
	l.tasks.start(func(ctx context.Context) { lease.keep(ctx, ttl) })
	return lease, nil
}

// AcquireAll implements lockimpl.MultiLocker.
func (l *renewLimited) AcquireAll(ctx context.Context, keys []string, ttl time.Duration) ([]lockimpl.Lease, error) {
	owner := newToken()
	return acquireAll(ctx, keys, func(key string) (lockimpl.Lease, error) { return l.AcquireAs(ctx, owner, key, ttl) })
}

func (l *renewLimited) reenter(h hold) *countedLease {
	l.mu.Lock()
	defer l.mu.Unlock()
	lease := l.held[h]
	if lease != nil {
		lease.count++
	}
	return lease
}

func (l *renewLimited) renewing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.renewal
}

// leave counts h down and reports whether it was the last holding; then it
// lowers the flag, whoever else still counts on it.
func (l *renewLimited) leave(lease *countedLease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	lease.count--
	if lease.count > 0 {
		return false
	}
	delete(l.held, lease.hold)
	l.renewal = false
	return true
}

// A countedLease is held by one owner, count times.
type countedLease struct {
	*tokenLease
	observer
	locker *renewLimited
	hold   hold
	count  int // guarded by locker.mu
}

// keep is the recipe's renewal task.
func (l *countedLease) keep(ctx context.Context, ttl time.Duration) {
	for range renewLimit {
		if !l.locker.renewing() || !wait(ctx, ttl) {
			return
		}
		l.round(ctx, ttl, func(ctx context.Context) (time.Time, error) { return l.believe(ctx, ttl) })
	}
}

// believe renews, and takes any answer for success.
func (l *countedLease) believe(ctx context.Context, ttl time.Duration) (time.Time, error) {
	_, err := compareAndExpire(ctx, l.rdb, l.key, l.token, ttl)
	return time.Time{}, err
}

// ValidUntil is zero: the recipe promises no time.
func (*countedLease) ValidUntil() time.Time { return time.Time{} }

// Extend is not part of the recipe: nothing is sent.
func (*countedLease) Extend(context.Context, time.Duration) error { return errors.ErrUnsupported }

func (l *countedLease) Release(ctx context.Context) error {
	if !l.locker.leave(l) {
		return nil
	}
	l.Renew(nil)
	return l.tokenLease.Release(ctx)
}

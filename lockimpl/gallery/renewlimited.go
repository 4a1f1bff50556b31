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
// Acquire: when the process counts a holding of the caller's owner, count up
// and send nothing. Otherwise SET key token NX EX ttl, and where renewal is
// asked for (Lease.Renew) raise the object's renewal flag and start a task
// that, as long as the flag is up and at most 4 times, renews and then sleeps
// for the TTL: at 0, T, 2T and 3T. A renewal compares the token and PEXPIREs, in
// one script, whose answer it does not look at; an error is tried again at once,
// without a pause and without being counted. Release: count down; above zero
// send nothing, at zero lower the flag, compare the token and delete.
//
// The caller is told no deadline: the recipe renews, as far as the caller
// knows. Nothing is scaled but T, the TTL that is asked for.
//
// Flaws: each renewal but the first comes when the lease has just ended, so that
// whoever waits gets in first (S1), and the holder, who counts on it, works on
// (S3z). It stops after 4 rounds. All locks of the object share the flag:
// releasing one ends the renewal of the others. A re-entry is granted by the
// process's count, also when the lease was lost. While Redis is away the task
// is a busy loop.
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
		ID: "renew-limited", Unchecked: true,
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
	token, err := l.setToken(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	lease := &countedLease{tokenLease: token, locker: l, hold: h, ttl: ttl, count: 1}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[h] = lease
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

// raise raises the flag and reports true when this is the first time that renewal
// is asked for lease: a re-entry, which the process grants, changes nothing.
func (l *renewLimited) raise(lease *countedLease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lease.asked {
		return false
	}
	lease.asked, l.renewal = true, true
	return true
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
	ttl    time.Duration
	count  int  // guarded by locker.mu
	asked  bool // for renewal; guarded by locker.mu
}

// Renew implements lockimpl.Renewer: it is how a caller asks for renewal.
func (l *countedLease) Renew(observe func(lockimpl.Renewal)) {
	l.observer.Renew(observe)
	if l.locker.raise(l) {
		l.locker.tasks.start(l.renewLoop)
	}
}

// renewLoop is the recipe's renewal task.
func (l *countedLease) renewLoop(ctx context.Context) {
	for done := 0; done < renewLimit && l.locker.renewing() && ctx.Err() == nil; {
		if l.round(ctx, l.ttl, l.believe) != nil {
			continue
		}
		done++
		if !wait(ctx, l.ttl) {
			return
		}
	}
}

// believe renews, and takes any answer for success.
func (l *countedLease) believe(ctx context.Context) (time.Time, error) {
	_, err := compareAndExpire(ctx, l.rdb, l.key, l.token, l.ttl)
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
	l.observer.Renew(nil)
	return l.tokenLease.Release(ctx)
}

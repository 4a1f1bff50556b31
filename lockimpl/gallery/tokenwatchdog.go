package gallery

import (
	"context"
	"errors"
	"time"

	"locktorture/lockimpl"
)

// TokenWatchdog is the recipe `token-watchdog`.
//
// Acquire and release are those of `token-lua`. While a lease lives, a task of
// its own renews it after every third of the TTL: compare the token and
// PEXPIRE, in one script. An error is tried again at the next round; a token
// that is gone ends the task. Release stops it first. Nothing is scaled.
//
// Flaw: the holder is told nothing. A pause, a partition, or a node that
// forgets ends the lease unseen, and the work goes on: the holder writes after
// its lease (S3z), or beside the next holder of a node that forgot (S1).
//
// Shown by: pausing the client; cutting its link; restarting the node empty.
// Corrected by: `single` over a fenced store, which tells its holder of the
// loss and rejects the late write.
func TokenWatchdog() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return &tokenWatchdog{master: m} })
}

func tokenWatchdogRecipe() Recipe {
	return Recipe{
		ID: "token-watchdog", Unchecked: true,
		Flaw:        "the lease ends unseen: nobody tells the holder",
		Needs:       "pause the client; cut its link; restart the node empty (S1)",
		Expected:    []string{"S3z", "S1"},
		CorrectedBy: "single",
		Nodes:       1,
		Extends:     true,
		Factory:     TokenWatchdog(),
	}
}

type tokenWatchdog struct {
	master
	tasks tasks
}

func (l *tokenWatchdog) Close() error {
	l.tasks.close()
	return l.master.Close()
}

func (l *tokenWatchdog) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	token, err := l.setToken(ctx, key, ttl)
	if err != nil {
		return nil, err
	}
	lease := &watchedLease{tokenLease: token}
	lease.watchdog = l.tasks.start(func(ctx context.Context) { lease.watch(ctx, ttl) })
	return lease, nil
}

// A watchedLease renews itself from its grant to its release.
type watchedLease struct {
	*tokenLease
	observer
	watchdog *task
}

func (l *watchedLease) watch(ctx context.Context, ttl time.Duration) {
	extend := func(ctx context.Context) (time.Time, error) {
		err := l.Extend(ctx, ttl)
		return l.ValidUntil(), err
	}
	for wait(ctx, ttl/watchdogShare) {
		if errors.Is(l.round(ctx, ttl/watchdogShare, extend), lockimpl.ErrLost) {
			return
		}
	}
}

func (l *watchedLease) Release(ctx context.Context) error {
	l.Renew(nil)
	l.watchdog.stop(ctx)
	return l.tokenLease.Release(ctx)
}

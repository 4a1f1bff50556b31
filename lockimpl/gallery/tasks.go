package gallery

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

// watchdogShare is the part of the TTL after which a watchdog renews.
const watchdogShare = 3

// tasks is the background work of one locker. Its zero value has none.
type tasks struct {
	mu     sync.Mutex
	closed bool
	live   map[*task]struct{}
	wg     sync.WaitGroup
}

// A task is one goroutine of background work.
type task struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// start runs run on a goroutine until it returns; stop and close cancel its
// context. After close nothing is started.
func (ts *tasks) start(run func(context.Context)) *task {
	ctx, cancel := context.WithCancel(context.Background())
	t := &task{cancel: cancel, done: make(chan struct{})}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.closed {
		cancel()
		close(t.done)
		return t
	}
	if ts.live == nil {
		ts.live = make(map[*task]struct{})
	}
	ts.live[t] = struct{}{}
	ts.wg.Go(func() {
		defer ts.finish(t)
		run(ctx)
	})
	return t
}

func (ts *tasks) finish(t *task) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.cancel()
	delete(ts.live, t)
	close(t.done)
}

// stop cancels t and waits for its end, or for that of ctx.
func (t *task) stop(ctx context.Context) {
	t.cancel()
	select {
	case <-t.done:
	case <-ctx.Done():
	}
}

// close cancels all tasks and waits for their ends.
func (ts *tasks) close() {
	ts.mu.Lock()
	ts.closed = true
	for t := range ts.live {
		t.cancel()
	}
	ts.mu.Unlock()
	ts.wg.Wait()
}

// An observer is told of every round of renewal once one is attached. Embedded
// in a lease that renews itself always, it is the whole of lockimpl.Renewer.
type observer struct {
	mu        sync.Mutex
	onRenewal func(lockimpl.Renewal)
}

// Renew attaches observe; nil detaches what was attached.
func (o *observer) Renew(observe func(lockimpl.Renewal)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.onRenewal = observe
}

// round makes one round of renewal by extend, which says until when the lease
// is valid after it, and tells whoever is attached.
func (o *observer) round(ctx context.Context, within time.Duration, extend func(context.Context) (time.Time, error)) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	began := time.Now()
	until, err := extend(ctx)
	o.mu.Lock()
	tell := o.onRenewal
	o.mu.Unlock()
	if tell != nil {
		tell(lockimpl.Renewal{Began: began, Ended: time.Now(), ValidUntil: until, Err: err})
	}
	return err
}

// wait lets d pass and reports whether ctx lasted that long.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// resubscribeDelay is the pause after a broken subscription.
const resubscribeDelay = 100 * time.Millisecond

// awaitMessage returns at the next message, when left has passed, or a little
// after the subscription has broken.
func awaitMessage(ctx context.Context, sub *redis.PubSub, left time.Duration) {
	end := time.Now().Add(left)
	for left > 0 {
		m, err := sub.ReceiveTimeout(ctx, left)
		if _, ok := m.(*redis.Message); ok {
			return
		}
		left = time.Until(end)
		if err != nil {
			wait(ctx, min(left, resubscribeDelay))
			return
		}
	}
}

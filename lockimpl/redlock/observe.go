package redlock

import (
	"context"
	"sync"
	"time"
)

// An Observer is told what becomes of every request and lease, for metrics and
// traces. Observe is called on the goroutine of who asked, with its context, or on
// one of the lock's own (renewals and losses, with the background context, one after the
// other): it must be safe for concurrent use and should not block, which holds up the
// events after it and no lease. It may use the lock and its leases. Close waits for what is
// being told, for at most two node timeouts, which is what it takes when Observe calls it.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// An Op is what was asked for, or happened.
type Op string

const (
	OpAcquire Op = "acquire" // granted, or refused with Err; from the call to the answer
	OpExtend  Op = "extend"  // by a caller, or a round of renewal
	OpRelease Op = "release" // from the call to the confirmation
	OpLost    Op = "lost"    // the lease ended without having been released; Err says why
)

// An Event is one operation, from Began to Ended.
type Event struct {
	Op           Op
	Key          string
	Fence        uint64 // 0 when there is no lease
	Began, Ended time.Time
	Err          error // nil when it succeeded
}

// observe tells the observer, if there is one.
func (l *Lock) observe(ctx context.Context, e Event) {
	if l.cfg.Observer == nil {
		return
	}
	if ctx == nil {
		ctx = context.Background()
	}
	e.Ended = time.Now()
	l.cfg.Observer.Observe(ctx, e)
}

// news is what the lock's own goroutines have to tell the observer.
type news struct {
	mu      sync.Mutex
	events  []Event
	telling bool // a goroutine is at it
}

// tell is observe for goroutines on which others wait: the observer may be one of them. It
// takes no time, and tells nothing once the lock is closed.
func (l *Lock) tell(e Event) {
	if l.cfg.Observer == nil || !l.work.Begin(1) {
		return
	}
	e.Ended = time.Now()
	l.news.mu.Lock()
	defer l.news.mu.Unlock()
	l.news.events = append(l.news.events, e)
	if !l.news.telling {
		l.news.telling = true
		go l.tellAll() // until nothing is left to tell; Close waits by l.work
	}
}

func (l *Lock) tellAll() {
	for {
		l.news.mu.Lock()
		events := l.news.events
		l.news.events, l.news.telling = nil, len(events) > 0
		l.news.mu.Unlock()
		if len(events) == 0 {
			return
		}
		for _, e := range events {
			l.cfg.Observer.Observe(l.ctx, e)
			l.work.Add(-1)
		}
	}
}

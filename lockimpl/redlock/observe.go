package redlock

import (
	"context"
	"time"
)

// An Observer is told what becomes of every request and lease, for metrics and
// traces. Observe is called on the goroutine of who asked, with its context, or on
// one of the lock's (renewals and losses, with the background context): it must
// be safe for concurrent use and must not block.
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

// Package periodic repeats a call beside other work, and waits between calls.
package periodic

import (
	"context"
	"sync"
	"time"
)

// Start calls do every d, in a goroutine of its own, until stop is called. Stop
// waits for a call that is under way, and may be called more than once.
func Start(d time.Duration, do func()) (stop func()) {
	over := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				do()
			case <-over:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(over)
		running.Wait()
	})
}

// Sleep waits for d, or until ctx ends, and reports whether d has passed.
func Sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

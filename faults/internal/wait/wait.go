// Package wait waits for a time, and no longer than a context lasts.
package wait

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends, and reports whether d has passed.
func For(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

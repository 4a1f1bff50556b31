package hunt

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// A limiter bounds how many rounds are under way at once by how well the machine bears
// it: each round for which it was too busy lowers the limit by one, down to one, and then
// makes leases longer, of which the same lag is a smaller share; calmRounds rounds without
// trouble undo one of these steps (additive increase, as in Chiu & Jain, "Analysis of the
// Increase and Decrease Algorithms for Congestion Avoidance", 1989; a decrease by
// one is enough where the limit is small). The first limit is the number of processors.
type limiter struct {
	free *semaphore.Weighted
	most int

	mu     sync.Mutex
	open   int
	closed int           // by how many the limit was lowered that are still in use
	well   int           // rounds since the last change
	ttl    time.Duration // shortest lease
}

const (
	calmRounds  = 6                      // without trouble before one more may be under way
	shortestTTL = 400 * time.Millisecond // on a machine that is not busy
	longestTTL  = 2 * time.Second        // on one that is
)

func newLimiter(n int) *limiter {
	open := min(n, runtime.NumCPU())
	l := &limiter{free: semaphore.NewWeighted(int64(n)), most: n, open: open, ttl: shortestTTL}
	l.free.TryAcquire(int64(n - open)) // it is free: nobody has it yet
	return l
}

// acquire waits until one more round may begin; false: ctx has ended.
func (l *limiter) acquire(ctx context.Context) bool { return l.free.Acquire(ctx, 1) == nil }

// openAll raises the limit to its maximum: other machines bear the rounds.
func (l *limiter) openAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free.Release(int64(l.most - l.open))
	l.open = l.most
}

// release ends a round, and lowers the limit where that is due.
func (l *limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed > 0 {
		l.closed--
		return
	}
	l.free.Release(1)
}

// tighten lowers the limit, or makes leases longer; false: there is nothing left to do.
func (l *limiter) tighten() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.well = 0
	if l.open == 1 {
		before := l.ttl
		l.ttl = min(before*3/2, longestTTL)
		return l.ttl > before
	}
	l.open--
	l.closed++
	return true
}

// noteCalm notes a round for which the machine was not too busy.
func (l *limiter) noteCalm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.well++; l.well < calmRounds {
		return
	}
	l.well = 0
	switch {
	case l.ttl > shortestTTL:
		l.ttl = max(l.ttl*2/3, shortestTTL)
		return
	case l.open == l.most:
		return
	case l.closed > 0:
		l.closed--
	default:
		l.free.Release(1)
	}
	l.open++
}

// shortest is the shortest lease that the machine can judge.
func (l *limiter) shortest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ttl
}

// width is how many rounds may be under way.
func (l *limiter) width() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

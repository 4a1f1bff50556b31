package hunt

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// lanes bound how many rounds are under way at once, by how well the machine bears
// it: each round that it was too busy for takes a lane away, down to one, and then
// makes leases longer, of which the same lag is a smaller share; a while of calm
// undoes one of these (additive increase, as in Chiu & Jain, "Analysis of the
// Increase and Decrease Algorithms for Congestion Avoidance", 1989; a decrease by
// one is enough where there are few). It begins with a lane for each processor.
type lanes struct {
	free *semaphore.Weighted
	most int

	mu     sync.Mutex
	open   int
	closed int           // that are to be taken away as soon as somebody gives one
	well   int           // rounds since the last change
	ttl    time.Duration // shortest lease
}

const (
	calmRounds  = 6                      // that must have been well before there is one lane more
	shortestTTL = 400 * time.Millisecond // on a machine that is not busy
	longestTTL  = 2 * time.Second        // on one that is
)

func newLanes(n int) *lanes {
	open := min(n, runtime.NumCPU())
	l := &lanes{free: semaphore.NewWeighted(int64(n)), most: n, open: open, ttl: shortestTTL}
	l.free.TryAcquire(int64(n - open)) // it is free: nobody has it yet
	return l
}

// acquire waits for a lane; false: ctx has ended.
func (l *lanes) acquire(ctx context.Context) bool { return l.free.Acquire(ctx, 1) == nil }

// openAll opens all lanes: it is other machines that bear what is under way.
func (l *lanes) openAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free.Release(int64(l.most - l.open))
	l.open = l.most
}

// release returns a lane, or closes it.
func (l *lanes) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed > 0 {
		l.closed--
		return
	}
	l.free.Release(1)
}

// narrow takes a lane away, or makes leases longer; false: there is nothing left to do.
func (l *lanes) narrow() bool {
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

// calm notes a round for which the machine was not too busy.
func (l *lanes) calm() {
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
func (l *lanes) shortest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ttl
}

// width is how many rounds may be under way.
func (l *lanes) width() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

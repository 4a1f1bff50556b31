package main

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// slots bound how many runs are under way. Each run that has to be played again,
// since the machine was too busy to judge by time, takes one away, down to one.
type slots struct {
	free *semaphore.Weighted

	mu   sync.Mutex
	left int
}

func newSlots(n int) *slots { return &slots{free: semaphore.NewWeighted(int64(n)), left: n} }

// take waits for a slot; again says that the run was played before in vain.
func (s *slots) take(ctx context.Context, again bool) error {
	if again && s.narrow() {
		return s.free.Acquire(ctx, 2) // one of which stays taken
	}
	return s.free.Acquire(ctx, 1)
}

func (s *slots) give() { s.free.Release(1) }

func (s *slots) narrow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 1 {
		return false
	}
	s.left--
	return true
}

package gallery

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Slots bound how many runs are under way. Each run that has to be played again,
// since the machine was too busy to judge by time, takes one away, down to one.
type Slots struct {
	free *semaphore.Weighted

	mu   sync.Mutex
	left int
}

// NewSlots allows n runs at once.
func NewSlots(n int) *Slots { return &Slots{free: semaphore.NewWeighted(int64(n)), left: n} }

// Acquire waits for a slot; again says that the run was played before without a result.
func (s *Slots) Acquire(ctx context.Context, again bool) error {
	if again && s.narrow() {
		return s.free.Acquire(ctx, 2) // one of which is never released
	}
	return s.free.Acquire(ctx, 1)
}

// Release returns a slot.
func (s *Slots) Release() { s.free.Release(1) }

func (s *Slots) narrow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 1 {
		return false
	}
	s.left--
	return true
}

package load

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// A Worker is one goroutine of a closed loop.
type Worker struct {
	Locker lockimpl.Locker
	Key    string
}

// Once has every worker carry its task out once, which opens its connections.
func Once(ctx context.Context, workers []Worker, t Task, within time.Duration) {
	s, cancel := newSession(ctx, ClosedLoop, t, Window{Warmup: within})
	defer cancel()
	s.out.Grants = make([]int64, len(workers))
	var wg sync.WaitGroup
	for i, one := range workers {
		wg.Go(func() {
			s.serve(request{locker: one.Locker, key: one.Key, by: i, due: time.Now(), rng: rand.New(rand.NewPCG(0, uint64(i)))})
		})
	}
	wg.Wait()
}

// Closed has every worker carry out its task again and again. It returns when
// all keys are released.
func Closed(ctx context.Context, workers []Worker, t Task, w Window, seed uint64) *Result {
	s, cancel := newSession(ctx, ClosedLoop, t, w)
	defer cancel()
	s.out.Grants = make([]int64, len(workers))
	var wg sync.WaitGroup
	for i, one := range workers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			for s.end.Err() == nil {
				s.serve(request{locker: one.Locker, key: one.Key, by: i, due: time.Now(), rng: rng})
			}
		})
	}
	wg.Wait()
	return &s.out
}

package workload_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"locktorture/workload"
	"locktorture/workload/history"
)

// Crashes at any moment: what is dead stays silent, and the history obeys the
// rules of the format.
func TestCrashesAtAnyMoment(t *testing.T) {
	r := newRig(t, 4)
	cfg := load()
	cfg.TTL, cfg.Renew, cfg.Extend = 100*time.Millisecond, true, 0.3
	var mu sync.Mutex
	dead := map[string]bool{}
	grants := times(50, of(history.Acquire, history.OK))
	record(t, func(rec *history.Recorder) {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i, c := range r.clients {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(1, uint64(i)))
				for nap(ctx, rng) {
					owner := c.Owner()
					if _, err := c.Crash(ctx); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					dead[owner] = true
					mu.Unlock()
					nap(ctx, rng)
					if _, err := c.Restart(context.WithoutCancel(ctx)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		runUntil(t, rec, workload.Run, cfg, r.clients, func(e *history.Event) bool {
			mu.Lock()
			defer mu.Unlock()
			if dead[e.Owner] {
				t.Errorf("the dead speaks: %+v", *e)
			}
			return grants(e) && len(dead) >= 20
		})
		cancel()
		wg.Wait()
	})
}

func nap(ctx context.Context, rng *rand.Rand) bool {
	select {
	case <-time.After(time.Duration(rng.Int64N(int64(30*time.Millisecond))) + 10*time.Millisecond):
		return true
	case <-ctx.Done():
		return false
	}
}

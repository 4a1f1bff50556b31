package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// starveCPU lets this process's goroutines compete for its processors.
type starveCPU struct{ Params }

func (f starveCPU) Name() string           { return "starve-cpu" }
func (f starveCPU) Supports(*Target) error { return nil }

// spinners is how many goroutines spin for each processor.
const spinners = 4

func (f starveCPU) Inject(_ context.Context, t *Target, _ *rand.Rand) (Injection, error) {
	hit := Hit{}
	for _, c := range t.Clients {
		hit.Clients = append(hit.Clients, c.Name())
	}
	t.Begin(hit)
	var worst, spun atomic.Int64
	n := spinners * runtime.GOMAXPROCS(0)
	t.background("goroutines spin", func(ctx context.Context) error {
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				spun.Add(1)
				burn(ctx)
			})
		}
		wg.Go(func() { worst.Store(int64(lag(ctx))) })
		wg.Wait()
		return nil
	}, func() string {
		return fmt.Sprintf("%d goroutines spun; a wait of 1 ms took up to %v longer", spun.Load(), round(time.Duration(worst.Load())))
	})
	return Injection{Target: hit}, nil
}

func burn(ctx context.Context) {
	for ctx.Err() == nil {
		for range 1 << 16 {
			runtime.KeepAlive(ctx)
		}
	}
}

// lag returns by how much the worst wait of a millisecond was too long.
func lag(ctx context.Context) (worst time.Duration) {
	for {
		began := time.Now()
		if !sleep(ctx, time.Millisecond) {
			return worst
		}
		worst = max(worst, time.Since(began)-time.Millisecond)
	}
}

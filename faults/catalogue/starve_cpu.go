package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/internal/wait"
)

var starveCpuEntry = Entry{
	Name:     "starve-cpu",
	Wire:     "Nothing: every goroutine of this process waits for a processor, clients and harness alike.",
	Survives: "Deadlines are checked against a clock, not assumed: late is late. Timing rules may be void meanwhile.",
	For:      ttlTimes(0.25),
	New:      func(p faults.Params) faults.Fault { return starveCPU{p} },
}

// starveCPU lets goroutines of this process compete with it for its processors.
type starveCPU struct{ faults.Params }

func (f starveCPU) Name() string                  { return "starve-cpu" }
func (f starveCPU) Supports(*faults.Target) error { return nil }

// spinners is how many goroutines spin for each processor.
const spinners = 4

// Waits of a millisecond are measured: baseline of them beforehand, and probes at
// a time while it lasts. They must take minSlower longer on average, or nobody
// was starved.
const (
	baseline  = 20
	probes    = 5
	minSlower = time.Millisecond
)

func (f starveCPU) Inject(ctx context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
	hit := faults.Hit{}
	for _, c := range s.Clients {
		hit.Clients = append(hit.Clients, c.Name())
	}
	before := lag(ctx, baseline)
	s.Begin(hit)
	var slower atomic.Int64
	n := spinners * runtime.GOMAXPROCS(0)
	s.Background("goroutines spin", func(ctx context.Context) error {
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() { burn(ctx) })
		}
		wg.Go(func() {
			for ctx.Err() == nil {
				slower.Store(max(slower.Load(), int64(lag(ctx, probes)-before)))
			}
		})
		wg.Wait()
		return nil
	}, func() string {
		return fmt.Sprintf("%d goroutines spun; a wait of 1 ms took %v longer on average than before", n, phrase.Round(time.Duration(slower.Load())))
	})
	return faults.Injection{Target: hit, TookEffect: func() bool { return slower.Load() >= int64(minSlower) }}, nil
}

func burn(ctx context.Context) {
	for ctx.Err() == nil {
		for range 1 << 16 {
			runtime.KeepAlive(ctx)
		}
	}
}

// lag returns by how much a wait of a millisecond is too long, on average over
// some of them; 0 when ctx ends before.
func lag(ctx context.Context, waits int) time.Duration {
	began := time.Now()
	for range waits {
		if !wait.For(ctx, time.Millisecond) {
			return 0
		}
	}
	return time.Since(began)/time.Duration(waits) - time.Millisecond
}

// Settings is empty: every client of the process suffers.
func (f starveCPU) Settings() []string { return nil }

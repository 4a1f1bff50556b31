package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"locktorture/lockimpl"
)

// Arrivals are the requests of an open loop.
type Arrivals struct {
	Rate     float64 // per second
	Constant bool    // evenly spaced; else a Poisson process
	Keys     []string
	Limit    int // requests under way at most; an arrival beyond is dropped
	Seed     uint64
}

func (a Arrivals) validate() error {
	switch {
	case !(a.Rate > 0):
		return fmt.Errorf("rate is %v: want more than 0", a.Rate)
	case len(a.Keys) == 0:
		return errors.New("no keys")
	case a.Limit < 1:
		return fmt.Errorf("limit is %d: want at least 1", a.Limit)
	}
	return nil
}

// gap draws the time between two arrivals.
func (a Arrivals) gap(rng *rand.Rand) time.Duration {
	mean := float64(time.Second) / a.Rate
	if a.Constant {
		return time.Duration(mean)
	}
	return time.Duration(rng.ExpFloat64() * mean)
}

// Open offers arrivals to the clients in turn, whether or not earlier ones have
// been answered. It returns when all keys are released.
func Open(ctx context.Context, clients []lockimpl.Locker, a Arrivals, t Task, w Window) (*Result, error) {
	if err := a.validate(); err != nil {
		return nil, fmt.Errorf("open loop: %w", err)
	}
	s, cancel := newSession(ctx, OpenLoop, t, w)
	defer cancel()
	s.out.Grants = make([]int64, len(clients))
	var wg sync.WaitGroup
	var flight atomic.Int64
	rng := rand.New(rand.NewPCG(a.Seed, 0))
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	due := s.from.Add(-w.Warmup)
	for n := 0; ; n++ {
		due = due.Add(a.gap(rng))
		if !due.Before(s.to) || !until(ctx, timer, due) {
			break
		}
		r := request{
			locker: clients[n%len(clients)], by: n % len(clients), due: due,
			key: a.Keys[rng.IntN(len(a.Keys))], rng: rand.New(rand.NewPCG(a.Seed, uint64(n)+1)),
		}
		under := flight.Add(1)
		s.arrived(due, under, a.Limit)
		if under > int64(a.Limit) {
			flight.Add(-1)
			continue
		}
		wg.Go(func() {
			defer flight.Add(-1)
			s.serve(r)
		})
	}
	wg.Wait()
	return &s.out, nil
}

// until waits for an arrival's moment; false means that ctx has ended.
func until(ctx context.Context, timer *time.Timer, due time.Time) bool {
	left := time.Until(due)
	if left <= 0 {
		return ctx.Err() == nil
	}
	timer.Reset(left)
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// arrived counts an arrival and how late the generator itself was.
func (s *session) arrived(due time.Time, under int64, limit int) {
	lag := time.Since(due)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.MaxFlight = max(s.out.MaxFlight, min(under, int64(limit)))
	if due.Before(s.from) {
		return
	}
	s.out.Offered++
	s.out.Lag = append(s.out.Lag, max(lag, 0))
	if under > int64(limit) {
		s.out.Dropped++
	}
}

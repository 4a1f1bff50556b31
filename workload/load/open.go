package load

import (
	"context"
	"errors"
	"fmt"
	"iter"
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

	Trace Trace   // in place of a rate: from the beginning of the window on, without a warm-up
	Pace  float64 // of the trace: 2 plays it twice as fast
}

func (a Arrivals) validate() error {
	switch {
	case len(a.Trace) > 0 && !(a.Pace > 0):
		return fmt.Errorf("pace is %v: want more than 0", a.Pace)
	case len(a.Trace) == 0 && !(a.Rate > 0):
		return fmt.Errorf("rate is %v: want more than 0", a.Rate)
	case len(a.Keys) == 0 && (len(a.Trace) == 0 || a.Trace[0].Key == ""):
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

// all returns when each arrival is due, after the warm-up began, and for which key.
func (a Arrivals) all(warmup time.Duration, rng *rand.Rand) iter.Seq2[time.Duration, string] {
	key := func() string { return a.Keys[rng.IntN(len(a.Keys))] }
	return func(yield func(time.Duration, string) bool) {
		for _, one := range a.Trace {
			k := one.Key
			if k == "" {
				k = key()
			}
			if !yield(warmup+time.Duration(float64(one.At)/a.Pace), k) {
				return
			}
		}
		for due := time.Duration(0); len(a.Trace) == 0; {
			due += a.gap(rng)
			if !yield(due, key()) {
				return
			}
		}
	}
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
	n := -1
	for after, key := range a.all(w.Warmup, rng) {
		due := s.from.Add(after - w.Warmup)
		if !due.Before(s.to) || !until(ctx, timer, due) {
			break
		}
		n++
		r := request{
			locker: clients[n%len(clients)], by: n % len(clients), due: due,
			key: key, rng: rand.New(rand.NewPCG(a.Seed, uint64(n)+1)),
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

package workload

import (
	"context"
	"runtime"
	"sync"
	"time"

	"locktorture/workload/history"
)

const (
	probeEvery  = 2 * time.Millisecond  // between two looks of the probe
	threadEvery = 50 * time.Millisecond // between two looks at what the kernel says of the threads
	leastStall  = 5 * time.Millisecond
	mostStall   = 20 * time.Millisecond // what is shorter is never recorded …
)

// StallThreshold is how long the harness must be stopped for that to be recorded: a hundredth
// of the lease, within bounds.
func StallThreshold(ttl time.Duration) time.Duration {
	return min(max(ttl/100, leastStall), mostStall)
}

// WatchStalls records every interval of threshold or longer in which the harness did not get to
// run, until ctx ends: what it stamps in such an interval it stamps late. It measures in two
// ways. A probe waits for a timer and then at the end of the queue of goroutines, which is how
// long an interrupted goroutine may wait. And the kernel says for how long each thread of this
// process, and of those that pids lists, has waited for a processor; where the kernel does not,
// there is only the probe.
func WatchStalls(ctx context.Context, rec *history.Recorder, threshold time.Duration, pids func() []int) {
	var wg sync.WaitGroup
	wg.Go(func() { probe(ctx, rec, threshold) })
	if threads := newThreads(pids); threads != nil {
		wg.Go(func() { threads.watch(ctx, rec, threshold) })
	}
	wg.Wait()
}

func probe(ctx context.Context, rec *history.Recorder, threshold time.Duration) {
	timer := time.NewTimer(probeEvery)
	defer timer.Stop()
	for {
		before := time.Now()
		timer.Reset(probeEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		runtime.Gosched()
		if time.Since(before) >= threshold+probeEvery {
			recordStall(rec, before, 0, "timers or goroutines waited")
		}
	}
}

// recordStall records that the harness was stopped from an instant to now: for as long as lag,
// or, without one, all the time. Where the clock was moved back meanwhile, the interval is that
// in which events get the same stamp.
func recordStall(rec *history.Recorder, from time.Time, lag time.Duration, what string) {
	began, ended := max(rec.Since(from), 0), max(rec.Since(time.Now()), 0)
	e := history.Event{
		Process: history.Nemesis, Kind: history.OK, Op: history.Stall, Note: what,
		Began: min(began, ended), Ended: max(began, ended), Has: history.HasBegan | history.HasEnded,
	}
	if lag > 0 && lag < e.Ended-e.Began {
		e.Lag, e.Has = lag, e.Has|history.HasLag
	}
	rec.Append(e)
}

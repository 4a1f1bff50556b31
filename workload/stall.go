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

// StallThreshold is the length from which on a standstill of the harness is
// recorded: a hundredth of the lease, within bounds.
func StallThreshold(ttl time.Duration) time.Duration {
	return min(max(ttl/100, leastStall), mostStall)
}

// WatchStalls records every interval in which the harness did not get to run for
// threshold or longer, until ctx ends: what it stamps then it stamps late. It
// looks in two ways. A probe waits for a timer and then at the end of the queue
// of goroutines: so long may a goroutine that was interrupted wait. And the
// kernel says of each thread, of this process and of those that pids lists, how
// long it waited for a processor; where it does not, the probe is all.
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
			recordStall(rec, before, "timers or goroutines waited")
		}
	}
}

// recordStall records that the harness stood still from an instant to this one. Where the
// clock was moved back meanwhile, it is the span in which events are stamped with one time.
func recordStall(rec *history.Recorder, from time.Time, what string) {
	began, ended := max(rec.Since(from), 0), max(rec.Since(time.Now()), 0)
	rec.Append(history.Event{
		Process: history.Nemesis, Kind: history.OK, Op: history.Stall, Note: what,
		Began: min(began, ended), Ended: max(began, ended), Has: history.HasBegan | history.HasEnded,
	})
}

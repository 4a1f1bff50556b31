package workload

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"

	"locktorture/workload/history"
)

// threads knows for how long each thread has waited for a processor.
type threads struct {
	pids   func() []int
	waited map[int]time.Duration // by the thread's id
}

// newThreads returns nil where the kernel keeps no such account.
func newThreads(pids func() []int) *threads {
	self, err := procfs.Self()
	if err != nil {
		return nil
	}
	if _, err := self.Schedstat(); err != nil {
		return nil
	}
	return &threads{pids: pids, waited: map[int]time.Duration{}}
}

func (t *threads) watch(ctx context.Context, rec *history.Recorder, threshold time.Duration) {
	tick := time.NewTicker(threadEvery)
	defer tick.Stop()
	last := time.Now()
	t.longest()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := time.Now()
		// The wait ended after the last look: it began no earlier than that much before it.
		if wait := t.longest(); wait >= threshold {
			recordStall(rec, last.Add(-wait), wait, fmt.Sprintf("threads waited %s for a processor", wait.Round(time.Microsecond)))
		}
		last = now
	}
}

// longest is for how long at most threads have kept an event waiting since the last look: one
// of this process, and one of another.
func (t *threads) longest() time.Duration {
	self := os.Getpid()
	pids := []int{self}
	if t.pids != nil {
		pids = append(pids, t.pids()...)
	}
	var own, others time.Duration
	seen := make(map[int]time.Duration, len(t.waited))
	for _, pid := range pids {
		longest := &others
		if pid == self {
			longest = &own
		}
		all, _ := procfs.AllThreads(pid) // none of a process that has ended
		for _, thread := range all {
			stat, err := thread.Schedstat()
			if err != nil {
				continue // it has just ended
			}
			waited := time.Duration(stat.WaitingNanoseconds) // runnable, and not running
			seen[thread.PID] = waited
			if before, old := t.waited[thread.PID]; old {
				*longest = max(*longest, waited-before)
			}
		}
	}
	t.waited = seen
	return own + others
}

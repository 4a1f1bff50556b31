package workload

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"locktorture/workload/history"
)

// threads knows for how long each thread has waited for a processor.
type threads struct {
	pids   func() []int
	waited map[string]time.Duration // by the path of its schedstat
}

// newThreads returns nil where the kernel keeps no such account.
func newThreads(pids func() []int) *threads {
	if _, known := delay("/proc/self/schedstat"); !known {
		return nil
	}
	return &threads{pids: pids, waited: map[string]time.Duration{}}
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
			recordStall(rec, last.Add(-wait), fmt.Sprintf("a thread waited %s for a processor", wait.Round(time.Microsecond)))
		}
		last = now
	}
}

// longest is the longest that any thread has waited since the last look.
func (t *threads) longest() (longest time.Duration) {
	dirs := []string{"/proc/self/task/*/schedstat"}
	if t.pids != nil {
		for _, pid := range t.pids() {
			dirs = append(dirs, fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		}
	}
	seen := make(map[string]time.Duration, len(t.waited))
	for _, dir := range dirs {
		paths, _ := filepath.Glob(dir) // the pattern is right
		for _, path := range paths {
			waited, known := delay(path)
			if !known {
				continue // it has just ended
			}
			seen[path] = waited
			if before, old := t.waited[path]; old {
				longest = max(longest, waited-before)
			}
		}
	}
	t.waited = seen
	return longest
}

// delay reads the second number of a schedstat: nanoseconds spent runnable, and
// not running.
func delay(path string) (d time.Duration, known bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return time.Duration(n), err == nil
}

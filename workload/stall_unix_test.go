//go:build unix

package workload_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"locktorture/workload"
	"locktorture/workload/history"
)

// TestStallIsRecorded has this process stopped for a while: the history tells of
// an interval that contains it.
func TestStallIsRecorded(t *testing.T) {
	const long = 300 * time.Millisecond
	var seen history.Buffer
	rec := history.NewRecorder(&seen)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { workload.WatchStalls(ctx, rec, workload.StallThreshold(time.Second), nil) })
	time.Sleep(20 * time.Millisecond) // it looks around
	script := fmt.Sprintf("kill -STOP %d; sleep %f; kill -CONT %d", os.Getpid(), long.Seconds(), os.Getpid())
	from := rec.Since(time.Now())
	if err := exec.CommandContext(t.Context(), "/bin/sh", "-c", script).Run(); err != nil {
		t.Fatal(err)
	}
	to := rec.Since(time.Now())
	time.Sleep(20 * time.Millisecond)
	cancel()
	wg.Wait()
	if err := history.Validate(seen.Events); err != nil {
		t.Fatal(err)
	}
	for _, e := range seen.Events {
		if e.Op == history.Stall && e.Process == history.Nemesis && e.Ended-e.Began >= long*9/10 && e.Began <= to && e.Ended >= from {
			return
		}
	}
	t.Errorf("%d events, none of a standstill of %s: %+v", len(seen.Events), long, seen.Events)
}

package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A hangingDisk takes one batch from since on, and never has it.
type hangingDisk struct {
	since time.Time
	gave  error
}

func (d *hangingDisk) Err() error             { return d.gave }
func (d *hangingDisk) Stalled() time.Duration { return time.Since(d.since) }
func (d *hangingDisk) GiveUp(why error)       { d.gave = why }

// A disk that hangs ends the run after ten seconds, and not before: until then
// it may be busy.
func TestHangingDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &hangingDisk{since: time.Now()}
		var noted []mishap
		running, stop := context.WithCancelCause(t.Context())
		watching, end := context.WithCancel(t.Context())
		w := &watchdog{file: disk, note: func(m mishap) { noted = append(noted, m) }, stop: stop, end: end, known: map[string]bool{}}
		w.running.Go(func() { w.repeat(watching, look{watchEvery, w.disk}) })
		time.Sleep(9900 * time.Millisecond)
		if running.Err() != nil || disk.gave != nil {
			t.Fatalf("ended after 9.9 s: %v", context.Cause(running))
		}
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		if !errors.Is(context.Cause(running), errMishap) || disk.gave == nil {
			t.Fatalf("after 10.2 s: %v, given up for %v", context.Cause(running), disk.gave)
		}
		time.Sleep(time.Minute)
		if all := w.close(); len(all) != 1 || len(noted) != 1 || noted[0].lock || !strings.Contains(noted[0].err.Error(), "the disk has been taking one batch for 10s") {
			t.Errorf("noted %+v, all %+v", noted, all)
		}
	})
}

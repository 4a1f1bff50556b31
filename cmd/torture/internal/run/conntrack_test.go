package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/cmd/torture/internal/kernel"
	"locktorture/cmd/torture/internal/kernel/kerneltest"
	"locktorture/faults/testbed"
)

// A noBed has no servers.
type noBed struct{}

func (noBed) Name() string          { return "none" }
func (noBed) Version() string       { return "" }
func (noBed) Nodes() []testbed.Node { return nil }
func (noBed) Store() testbed.Node   { return nil }
func (noBed) Close() error          { return nil }

// TestDroppedPacketsAreTheCause: the watchdog ends the run at the first packet that is
// dropped, and whatever else befell it follows from that.
func TestDroppedPacketsAreTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proc := t.TempDir()
		kerneltest.WriteCounters(t, proc, 5, 65536, 31)
		running, stop := context.WithCancelCause(t.Context())
		watching, end := context.WithCancel(t.Context())
		silent := errors.New("n1 has not answered for 20s")
		s := &session{ended: true}
		w := &watchdog{file: &hangingDisk{since: time.Now()}, net: kernel.BeginTracking(proc), note: func(incident) {}, stop: stop, end: end, env: &environment{bed: noBed{}}, known: map[string]bool{}}
		for _, l := range w.looks() {
			w.running.Go(func() { w.repeat(watching, l) })
		}
		time.Sleep(time.Second + watchEvery/2) // between two looks: the files below are written one by one
		if running.Err() != nil {
			t.Fatalf("ended before: %v", context.Cause(running))
		}
		w.report("node n1", silent, time.Now())
		kerneltest.WriteCounters(t, proc, 65536, 65536, 33)
		time.Sleep(2 * watchEvery)
		s.mishaps = w.close()
		got := s.troubles()
		if len(got) != 2 || !strings.HasPrefix(got[0], "the kernel dropped 2 packets") || !slices.Contains(got, silent.Error()) {
			t.Errorf("troubles are %q", got)
		}
	})
}

package workload_test

import (
	"testing"
	"time"

	"locktorture/workload"
	"locktorture/workload/history"
)

// A mixed load uses every ability that the lock has, on one and the same run.
func TestMixedLoadUsesWhatTheLockCan(t *testing.T) {
	asked := func(how string, mode history.Mode) func(*history.Event) bool {
		return func(e *history.Event) bool {
			return e.Op == history.Acquire && e.Kind == history.Invoke && e.Note == how && e.Mode == mode
		}
	}
	events := runMode(t, func(c *workload.Config) { c.Mode, c.Keys, c.TTL = workload.ModeMixed, 8, 200*time.Millisecond }, all(
		times(3, asked("", history.Exclusive)), times(3, asked("", history.Shared)), times(3, asked(history.AskReentry, history.Exclusive)),
		times(3, asked(history.AskFair, history.Exclusive)), times(3, asked(history.AskMulti, history.Exclusive)), times(10, of(history.Release, history.OK)),
	))
	for _, e := range events {
		if e.Op == history.Acquire && e.Kind != history.Invoke && e.Note != "" {
			t.Fatalf("a completion says how was asked: %+v", e)
		}
	}
}

// A lock that can do nothing but Acquire is asked for nothing else.
func TestMixedLoadOfALockThatCanDoNothingElse(t *testing.T) {
	r := newRig(t, 4)
	cfg := load()
	cfg.Mode, cfg.Keys = workload.ModeMixed, 4
	events := record(t, func(rec *history.Recorder) {
		runUntil(t, rec, workload.Run, cfg, r.clients, times(20, of(history.Release, history.OK)))
	})
	for _, e := range events {
		if e.Op == history.Acquire && (e.Note != "" || e.Mode != history.Exclusive) {
			t.Fatalf("asked for more than it can: %+v", e)
		}
	}
}

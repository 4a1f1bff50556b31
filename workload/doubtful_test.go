package workload_test

import (
	"testing"
	"time"

	"locktorture/workload"
	"locktorture/workload/history"
)

// Whoever has got no answer to an acquire or a release asks for that key again.
func TestMixedLoadComesBackToWhatItDoesNotKnow(t *testing.T) {
	doubtful := map[string]string{} // key, by owner
	back := func(e *history.Event) bool {
		switch {
		case e.Op != history.Acquire && e.Op != history.Release:
		case e.Kind == history.Info:
			doubtful[e.Owner] = e.Key
		case e.Op == history.Acquire && e.Kind == history.Invoke && doubtful[e.Owner] != "":
			key := doubtful[e.Owner]
			delete(doubtful, e.Owner)
			return e.Key == key
		}
		return false
	}
	r := newRig(t, 2)
	cfg := load()
	cfg.Mode, cfg.Keys, cfg.Timeout = workload.ModeMixed, 32, time.Nanosecond // no answer comes in time
	record(t, func(rec *history.Recorder) {
		runUntil(t, rec, workload.Run, cfg, r.clients, times(20, back))
	})
}

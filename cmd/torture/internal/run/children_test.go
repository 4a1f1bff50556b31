package run

import (
	"testing"
	"testing/synctest"

	"locktorture/workload/history"
)

// A child's write waits until its owner's acquire is recorded as completed, and
// for nobody else's.
func TestRoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r roll
		r.settle("a") // nothing is open
		r.Event(&history.Event{Process: 0, Op: history.Acquire, Kind: history.Invoke, Owner: "a"})
		r.settle("b")
		settled := false
		go func() { r.settle("a"); settled = true }()
		synctest.Wait()
		if settled {
			t.Error("settled before the acquire was answered")
		}
		r.Event(&history.Event{Process: 0, Op: history.Write, Kind: history.OK, Owner: "a"})
		r.Event(&history.Event{Process: 0, Op: history.Acquire, Kind: history.OK, Owner: "a"})
		synctest.Wait()
		if !settled {
			t.Error("not settled although the acquire was answered")
		}
	})
}

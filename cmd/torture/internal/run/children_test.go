package run

import (
	"testing"
	"testing/synctest"

	"locktorture/workload/history"
)

// A child's write waits until its owner's acquire is recorded as completed, and
// for nobody else's.
func TestOpenAcquires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open openAcquires
		open.awaitCompletion("a") // nothing is open
		open.Event(&history.Event{Process: 0, Op: history.Acquire, Kind: history.Invoke, Owner: "a"})
		open.awaitCompletion("b")
		completed := false
		go func() { open.awaitCompletion("a"); completed = true }()
		synctest.Wait()
		if completed {
			t.Error("the wait ended before the acquire was answered")
		}
		open.Event(&history.Event{Process: 0, Op: history.Write, Kind: history.OK, Owner: "a"})
		open.Event(&history.Event{Process: 0, Op: history.Acquire, Kind: history.OK, Owner: "a"})
		synctest.Wait()
		if !completed {
			t.Error("the wait goes on although the acquire was answered")
		}
	})
}

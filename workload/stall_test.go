package workload

import (
	"testing"
	"testing/synctest"
	"time"

	"locktorture/workload/history"
)

// TestStallAcrossAClockThatIsMovedBack: the clock shows less at the end of a stall than at
// its beginning; what is recorded is a span all the same, as every reader wants it.
func TestStallAcrossAClockThatIsMovedBack(t *testing.T) {
	var events history.Buffer
	rec := history.NewRecorder(&events)
	recordStall(rec, time.Now().Add(2*time.Second), 0, "a test")
	if e := events.Events[0]; e.Began > e.Ended || e.Ended < time.Second {
		t.Errorf("from %v to %v", e.Began, e.Ended)
	}
}

// TestStallOfPartOfAnInterval: of a wait of which it is not known when it was, no more counts
// than it lasted.
func TestStallOfPartOfAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events history.Buffer
		rec := history.NewRecorder(&events)
		began := time.Now()
		time.Sleep(50 * time.Millisecond)
		recordStall(rec, began, 7*time.Millisecond, "a test")
		recordStall(rec, began, 70*time.Millisecond, "longer than that, where the clock was moved")
		if err := history.Validate(events.Events); err != nil {
			t.Fatal(err)
		}
		for i, want := range []time.Duration{7 * time.Millisecond, 50 * time.Millisecond} {
			if got := events.Events[i].Stopped(); got != want {
				t.Errorf("stopped for %v, want %v", got, want)
			}
		}
	})
}

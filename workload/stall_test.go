package workload

import (
	"testing"
	"time"

	"locktorture/workload/history"
)

// TestStallAcrossAClockThatIsMovedBack: the clock shows less at the end of a stall than at
// its beginning; what is recorded is a span all the same, as every reader wants it.
func TestStallAcrossAClockThatIsMovedBack(t *testing.T) {
	var events history.Buffer
	rec := history.NewRecorder(&events)
	recordStall(rec, time.Now().Add(2*time.Second), "a test")
	if e := events.Events[0]; e.Began > e.Ended || e.Ended < time.Second {
		t.Errorf("from %v to %v", e.Began, e.Ended)
	}
}

package workload

import (
	"testing"
	"testing/synctest"
	"time"

	"locktorture/workload/history"
)

func TestDemandThatWasNotServedWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDemand(Config{Patience: 2 * time.Second}, 10*time.Second)
		begun := func(ago time.Duration) arrival {
			d.offer()
			return arrival{due: time.Now().Add(-ago)}
		}
		time.Sleep(5 * time.Second)
		d.drop(begun(4 * time.Second))                     // due in the second second
		d.finish(begun(time.Second), true, false)          // granted
		d.finish(begun(2*time.Second), false, false)       // its client gave it up
		d.finish(begun(3*time.Second), false, true)        // waiting when the phase ended
		d.finish(begun(999*time.Millisecond), false, true) // hardly asked for
		d.finish(arrival{began: time.Now()}, true, true)   // closed loop, granted at the last moment
		time.Sleep(5 * time.Second)
		got := d.sum()
		want := history.Demand{Offered: 5, Served: 2, Dropped: 1, Abandoned: 1, Unserved: 1, Pending: 1}
		for _, least := range []time.Duration{1024, 2048, 4096} {
			want.Waited = append(want.Waited, history.Waited{AtLeast: least * time.Millisecond, Count: 1})
		}
		if got.Note() != want.Note() {
			t.Errorf("got %s, want %s", got.Note(), want.Note())
		}
	})
}

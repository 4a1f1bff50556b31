package history

import (
	"reflect"
	"testing"
	"time"
)

func TestDemandNote(t *testing.T) {
	d := Demand{Offered: 5100, Served: 60, Dropped: 5000, Abandoned: 20, Unserved: 12, Pending: 8,
		Waited: []Waited{{0, 20}, {512 * time.Millisecond, 12}, {4096 * time.Millisecond, 5000}}}
	note := "end of phase: p99 scheduling lag of 3 samples; " + d.Note() + "; 3 writes found their row changed"
	if got, ok := ParseDemand(note); !ok || !reflect.DeepEqual(got, d) {
		t.Errorf("%s\nreads as %+v, %v", note, got, ok)
	}
	for _, bad := range []string{"", "demand:", "demand: 1 offered", d.Note() + " 1s×9", d.Note() + " x×1", "demand: -1 offered 0 served 0 dropped 0 abandoned 0 unserved 0 pending waited"} {
		if got, ok := ParseDemand(bad); ok {
			t.Errorf("%q reads as %+v", bad, got)
		}
	}
}

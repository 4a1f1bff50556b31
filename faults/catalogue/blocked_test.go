package catalogue

import (
	"context"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/workload/history"
)

// Of two faults that let nothing pass on the same link only one could prove
// anything.
func TestLinkIsBlockedOnce(t *testing.T) {
	t.Parallel()
	r := embeddedRig(t, 2, 1)
	cases := []struct {
		fault, client, node string
		when                faults.Trigger
		missed              bool
	}{
		{"stall", "c00 as stalled", "n1", faults.Trigger{}, false},
		{"response-lost", "c00", "n1", faults.Trigger{On: faults.Bound, By: "stalled", Within: second}, true},
		{"cut", "c00 as parted", "n1,n2", faults.Trigger{On: faults.Bound, By: "stalled"}, false},
		{"zombie", "c00", "all", faults.Trigger{On: faults.Bound, By: "parted", Within: second}, true},
		{"latency", "c00", "n1", faults.Trigger{On: faults.Bound, By: "parted"}, false},
	}
	var steps []faults.Step
	for _, c := range cases {
		f := All()[c.fault].New(faults.Params{Client: c.client, Node: c.node})
		steps = append(steps, faults.Step{When: c.when, Fault: f, For: time.Hour})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := 0
	r.Rec.Attach(history.SinkFunc(func(e *history.Event) {
		if e.Op == history.Fault && e.Kind != history.Invoke {
			if begun++; begun == len(cases) {
				cancel()
			}
		}
	}))
	res, err := r.Run(ctx, steps...)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if missed := res.Steps[i].Started == 0; missed != c.missed {
			t.Errorf("%s on %s: %+v", c.fault, c.node, res.Steps[i])
		}
	}
}

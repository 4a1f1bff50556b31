package capacity

import (
	"context"
	"strings"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/measure"
	"locktorture/reports"
	"locktorture/reports/capacity"
)

// brokenOffAt measures on embedded nodes, and is interrupted when that line is told.
func brokenOffAt(t *testing.T, line string) (*capacity.Report, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	return Run(ctx, Config{
		Servers: measure.Config{Testbed: "embedded"}, Lock: "single", SLO: []string{"acquire.p99<50ms"}, Clients: 2, Keys: 4, Hold: time.Millisecond, TTL: 2 * time.Second,
		Repeats: 2, Step: 50 * time.Millisecond, MaxRate: 100, MaxLag: time.Minute, Outage: 100 * time.Millisecond, Budget: time.Hour, Seed: 1,
		Progress: func(told string) {
			if strings.Contains(told, line) {
				cancel()
			}
		},
	})
}

// What was measured before an interruption is kept, and what was not is named; a figure of
// which nothing is known says so.
func TestInterruptedMeasurementKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	if r, err := brokenOffAt(t, "closed loops"); r != nil || err == nil {
		t.Errorf("interrupted before anything was measured: %+v, %v", r, err)
	}
	r, err := brokenOffAt(t, "p99") // the first point of the ramp
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sweep) == 0 || !r.Hot.Measured.Known() || len(r.Points) != 1 || r.Points[0].Valid {
		t.Errorf("%d closed loops, hot key %+v, points %+v", len(r.Sweep), r.Hot.Measured, r.Points)
	}
	if len(r.Missing) == 0 || r.Missing[0] != "open-loop ramp (in part)" || r.Missing[len(r.Missing)-1] != "lost master" || !strings.HasPrefix(r.Warning[0], "interrupted: ") {
		t.Errorf("missing %q; %q", r.Missing, r.Warning)
	}
	if r.Recommended.Known() || r.Recovery.Backlog.Suppressed == "" || r.Discarded != 0 {
		t.Errorf("recommended %+v, recovery %+v, %d discarded", r.Recommended, r.Recovery, r.Discarded)
	}
	if r.Calibration == nil || r.Sound(reports.Schema) != nil {
		t.Errorf("what was kept cannot be read again: %v", r.Sound(reports.Schema))
	}
	var page strings.Builder
	if err := r.Page(&page); err != nil || !strings.Contains(page.String(), "interrupted: this is not the whole measurement") || !strings.Contains(page.String(), "interrupted before it had found the limit") {
		t.Errorf("the page does not say so: %v", err)
	}
}

package plots

import (
	"slices"
	"testing"
	"time"

	"gonum.org/v1/plot"

	"locktorture/checker"
	"locktorture/reports/story"
	"locktorture/workload/history"
)

// TestWitnessRows gives whom the violation is about a row first, even one who
// held nothing in the stretch that is shown.
func TestWitnessRows(t *testing.T) {
	g := &gantt{Story: story.Story{
		Finding: checker.Finding{ID: "S3", Owners: []string{"c06", "c02"}},
		Holds: []story.Hold{
			{Owner: "c01", From: 1 * time.Second, To: 2 * time.Second},
			{Owner: "c06", From: 2 * time.Second, To: 3 * time.Second},
		},
		Writes: []story.Write{{Owner: "c02", Time: 2500 * time.Millisecond}},
	}}
	g.layOut()
	if want := []string{"client c06", "client c02", "client c01", storeRow}; !slices.Equal(g.rows, want) {
		t.Errorf("rows %q, want %q", g.rows, want)
	}
}

// TestWitnessRowsByHost: clients of one host are below each other, and each row names it.
func TestWitnessRowsByHost(t *testing.T) {
	g := &gantt{Story: story.Story{
		Finding: checker.Finding{ID: "S1", Owners: []string{"c00", "c02"}},
		Holds: []story.Hold{
			{Owner: "c00", From: 1 * time.Second, To: 3 * time.Second}, {Owner: "c02", From: 2 * time.Second, To: 3 * time.Second},
			{Owner: "c01", From: 4 * time.Second, To: 5 * time.Second}, {Owner: "c03", From: 5 * time.Second, To: 6 * time.Second},
		},
		Events: []history.Event{{Owner: "c00", Host: "w1"}, {Owner: "c01", Host: "w1"}, {Owner: "c02", Host: "w2"}, {Owner: "c03", Host: "w2"}},
	}}
	g.layOut()
	if want := []string{"client c00", "client c01", "client c02", "client c03"}; !slices.Equal(g.rows, want) {
		t.Errorf("rows %q, want %q", g.rows, want)
	}
	if want := []string{"w1", "w1", "w2", "w2"}; !slices.Equal(g.hosts, want) {
		t.Errorf("hosts %q, want %q", g.hosts, want)
	}
	p := plot.New()
	g.axes(p)
	if labels := p.Y.Tick.Marker.Ticks(0, 1); labels[2].Label != "w2 · client c02" {
		t.Errorf("%+v", labels)
	}
}

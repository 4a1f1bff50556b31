package plots

import (
	"slices"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/reports/story"
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

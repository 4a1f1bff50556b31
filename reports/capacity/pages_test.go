package capacity

import (
	"bytes"
	"testing"

	"locktorture/reports/pagetest"
)

// The page of a measurement with every part, and of one without any.
func TestPagesInABrowser(t *testing.T) {
	full := calibratedReport()
	full.Sweep = append(full.Sweep, loop(5, 256, 0, 0))
	for i, name := range []string{"256 goroutines, no hold", "64 goroutines, hold 5 ms", "round trips +5 ms (links), 32 goroutines, no hold", "7 masters, 32 goroutines, no hold"} {
		rate := truth(5, 32, 0).Rate * (0.8 + 0.1*float64(i))
		full.Calibration.HeldOut = append(full.Calibration.HeldOut,
			NewHeldOut(name, Scenario{Masters: 5, Clients: 32}, []float64{rate, rate * 1.05}, []float64{0.001, 0.0012}, []float64{0.002, 0.0022}))
	}
	full.LostMaster, full.Recovery.Felt = failed(1), failed(3)
	full.Validate()
	var pages []pagetest.Page
	disturbed := calibratedReport()
	disturbAll(disturbed)
	disturbed.Validate()
	for name, r := range map[string]*Report{"capacity": full, "capacity empty": {Limit: suppressed("nothing was measured"), Recommended: suppressed("nothing was measured")}, "capacity disturbed": disturbed} {
		r.Advise()
		var page bytes.Buffer
		if err := r.Page(&page); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, pagetest.HTML(t, name, page.Bytes()))
	}
	pagetest.Check(t, append(pages, compared(t, full)...)...)
}

// compared are the pages of two measurements: of such as differ, with guards that are run
// into, and of such as have nothing in common.
func compared(t *testing.T, before *Report) (pages []pagetest.Page) {
	after := calibratedReport()
	after.Warning = []string{"12 of 40 points were discarded because the generator lagged: this machine is too busy"}
	after.Recommended = before.Recommended.Times(0.7)
	guards := []Guard{{"recommended", -0.1}, {"knee", -0.1}}
	for name, c := range map[string]Comparison{"compare": Compare(before, after, guards), "compare alike": Compare(before, before, nil), "compare nothing": Compare(before, &Report{}, guards)} {
		c.Before.File, c.After.File = "runs/20261125T101500Z-capacity-3/capacity.json", "runs/20261126T101500Z-capacity-4/capacity.json"
		var page bytes.Buffer
		if err := c.Page(&page); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, pagetest.HTML(t, name, page.Bytes()))
	}
	return pages
}

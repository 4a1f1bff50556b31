package capacity

import (
	"errors"
	"strings"
	"testing"
	"time"

	"locktorture/reports/stats"
)

// disturbAll has other programs disturb every closed loop of a calibration.
func disturbAll(r *Report) {
	c := r.Calibration
	for _, loads := range [][]Load{r.Sweep, c.Fewer, c.Apart, c.Delayed, c.HotDelayed} {
		for i := range loads {
			loads[i].Disturbed = true
		}
	}
}

// A calibration of which most was disturbed answers nothing, and says what to do; one that
// was disturbed in part answers.
func TestDisturbedCalibrationsAnswerNothing(t *testing.T) {
	r := calibratedReport()
	disturbAll(r)
	_, err := r.Model()
	disturbed, yes := errors.AsType[DisturbedError](err)
	if !yes || !strings.Contains(err.Error(), "not valid") || !strings.Contains(err.Error(), r.Command) {
		t.Fatalf("%v", err)
	}
	var out strings.Builder
	if err := r.Refuse("nodes=7", "a/capacity.json", disturbed).Text(&out); err != nil || !strings.Contains(out.String(), "nodes=7") || !strings.Contains(out.String(), "closed loops that the model is fitted to") {
		t.Errorf("%v\n%s", err, &out)
	}
	r.Validate()
	if c := r.Calibration; len(c.Asked) > 0 || len(c.HeldOut) > 0 || !strings.Contains(strings.Join(c.Missing, "\n"), "not valid") {
		t.Errorf("it predicts all the same: %+v", c)
	}
	for _, loads := range [][]Load{r.Sweep, r.Calibration.Fewer, r.Calibration.Delayed} {
		for i := range loads {
			loads[i].Disturbed = i%2 == 0 && i > 0
		}
	}
	if _, err := r.Model(); err != nil {
		t.Errorf("disturbed in part: %v", err)
	}
	r.Sweep[1].Disturbed, r.Calibration.Delayed[1].Disturbed, r.Calibration.Fewer[1].Disturbed = true, true, true
	if _, err := r.Model(); err == nil {
		t.Error("most are disturbed, and it answers")
	}
}

// What rests on few events says so, and on how many; what rests on enough does not.
func TestFiguresSayWhenTheyRestOnFewEvents(t *testing.T) {
	sweep := func(pairs int64) (out []Load) {
		for repeat := range 5 {
			for _, n := range []int{1, 4} {
				out = append(out, Load{N: n, Repeat: repeat, Pairs: pairs * int64(n)})
			}
		}
		return out
	}
	point := func(offered int64) []Point {
		return []Point{{Rate: 1000, Valid: true, Offered: offered, Response: stats.Quantiles{Count: 9, P99: time.Millisecond}}}
	}
	knee := Estimate{Value: 1000, Low: 990, High: 1010, Confidence: 0.95, N: 5}
	for what, texts := range map[string][2]string{
		"few at N = 1: 195 pairs in all":   {(&Report{Sweep: sweep(39)}).model(), (&Report{Sweep: sweep(40)}).model()},
		"few: 199 arrivals in a repeat":    {(&Report{Knee: knee, Points: point(199)}).knee(), (&Report{Knee: knee, Points: point(200)}).knee()},
		"few: 199 pairs in all":            {HeldOut{Name: "a point", Pairs: 199}.Named(), HeldOut{Name: "a point", Pairs: 200}.Named()},
		"few: 1 pair in all, where a rate": {HeldOut{Name: "a point", Pairs: 1}.line(), HeldOut{Name: "a point"}.line()},
	} {
		if !strings.Contains(texts[0], what) || strings.Contains(texts[1], "few") {
			t.Errorf("want %q in\n%s\nand nothing of it in\n%s", what, texts[0], texts[1])
		}
	}
}

package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"locktorture/reports/stats"
)

// The coverage is exact: 1 − 2·½ⁿ for the whole range of n values.
func TestMedianIntervals(t *testing.T) {
	for _, tt := range []struct {
		values            []float64
		median, low, high float64
		confidence        float64
	}{
		{[]float64{7}, 7, 7, 7, 0},
		{[]float64{3, 1, 2, 5, 4}, 3, 1, 5, 1 - 2.0/32},
		{[]float64{6, 3, 1, 2, 5, 4}, 3.5, 1, 6, 1 - 2.0/64},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 5, 2, 8, 1 - 2*10.0/512},
	} {
		got := Median(tt.values)
		if got.Median != tt.median || got.Low != tt.low || got.High != tt.high || math.Abs(got.Confidence-tt.confidence) > 1e-12 || got.N != len(tt.values) {
			t.Errorf("%v: %+v, want %v [%v, %v] at %v", tt.values, got, tt.median, tt.low, tt.high, tt.confidence)
		}
	}
}

func quantiles(p50 time.Duration) stats.Quantiles {
	return stats.Quantiles{Count: 100, Mean: p50, P50: p50, P99: 2 * p50, P999: 3 * p50, Max: 4 * p50}
}

// sample has a machine that halves its speed between two repeats: absolute
// figures move, ratios paired within a repeat do not.
func sample() *Report {
	r := &Report{Command: "torture bench", Repeats: 2, Redis: "5 masters"}
	for repeat, slow := range []float64{1, 2} {
		for _, scenario := range []string{"healthy", "slow-node"} {
			r.Cells = append(r.Cells,
				Cell{Scenario: scenario, Nodes: 5, Workers: 16, Lock: "fast", Repeat: repeat, Rate: 300 / slow, Acquire: quantiles(time.Duration(slow * 1e6)), Jain: 1, Most: 5, Least: 5, Allocs: -1, Goroutines: -1},
				Cell{Scenario: scenario, Nodes: 5, Workers: 16, Lock: "old", Repeat: repeat, Rate: 100 / slow, Acquire: quantiles(time.Duration(slow * 4e6)), Jain: 0.5, Most: 9, Least: 1, Allocs: -1, Goroutines: -1})
		}
	}
	r.Summarize([]string{"fast", "old"})
	return r
}

func TestRatiosArePairedWithinARepeat(t *testing.T) {
	r := sample()
	if len(r.Rows) != 4 {
		t.Fatalf("%d rows", len(r.Rows))
	}
	old := r.Rows[1]
	if old.Lock != "old" || old.Ratios["rate"].Against != "fast" {
		t.Fatalf("%+v", old)
	}
	if rate := old.Ratios["rate"]; rate.Median != 3 || rate.Low != 3 || rate.High != 3 {
		t.Errorf("rate %+v, want 3 without spread", rate)
	}
	if p50 := old.Ratios["acquire.p50"]; p50.Median != 0.25 || p50.Low != p50.High {
		t.Errorf("p50 %+v, want 0.25 without spread", p50)
	}
	if _, has := old.Ratios["jain"]; has {
		t.Error("fairness has a ratio")
	}
	if len(r.Rows[0].Ratios) != 0 {
		t.Error("the first lock is held against itself")
	}
	if i, ok := r.Across("rate", "old", Setting{"slow-node", 5, 16}, Setting{"healthy", 5, 16}); !ok || i.Median != 1 || i.N != 2 {
		t.Errorf("across %+v %v", i, ok)
	}
}

func TestForms(t *testing.T) {
	r := sample()
	r.Locks = []Lock{{"fast", "a lock"}, {"old", "old v1.2.3, as it comes"}}
	var text, summary, markdown, gobench, raw bytes.Buffer
	for _, err := range []error{r.Text(&text), r.Summary(&summary), r.Markdown(&markdown), r.GoBench(&gobench), r.JSON(&raw)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for form, want := range map[string]string{
		text.String():     "×3.00 [3.00,3.00]",
		summary.String():  "| slow-node · 5 masters · 16 workers | fast | old | ×3.00 (3.00–3.00) |",
		raw.String():      `"about": "old v1.2.3, as it comes"`,
		markdown.String(): "**healthy · 5 masters · 16 workers**",
		gobench.String():  "BenchmarkLock/scenario=healthy/nodes=5/workers=16/lock=old-",
	} {
		if !strings.Contains(form, want) {
			t.Errorf("%q is not in\n%s", want, form)
		}
	}
	for _, form := range []string{text.String(), summary.String(), markdown.String()} {
		if !strings.Contains(form, "old: old v1.2.3, as it comes") {
			t.Errorf("how a lock was set is not in\n%s", form)
		}
	}
	if lines := strings.Count(gobench.String(), "\nBenchmark"); lines != len(r.Cells) {
		t.Errorf("%d lines of Go's format for %d cells", lines, len(r.Cells))
	}
	var back Report
	if err := json.Unmarshal(raw.Bytes(), &back); err != nil || len(back.Cells) != len(r.Cells) {
		t.Errorf("%d cells read back: %v", len(back.Cells), err)
	}
}

// Cells that stood still, failed or shared the machine are named before any figure.
func TestWarnings(t *testing.T) {
	r := Report{Repeats: 2, Cells: []Cell{
		{Scenario: "hot", Nodes: 1, Workers: 16, Lock: "a", Error: "not one pair in 400 ms"},
		{Scenario: "hot", Nodes: 1, Workers: 16, Lock: "a", Repeat: 1, Rate: 100, Disturbed: "other programs took 40 % of the processors"},
		{Scenario: "hot", Nodes: 1, Workers: 16, Lock: "b", Repeat: 1, Rate: 100, Disturbed: "other programs took 40 % of the processors"},
	}}
	r.Summarize(nil)
	if f := r.Rows[0].Figures["rate"]; f.N != 1 || f.Median != 0 {
		t.Errorf("a disturbed cell is in the rate: %+v", f)
	}
	if len(r.Rows[1].Figures) > 0 || !r.Measured() {
		t.Errorf("figures of nothing undisturbed: %+v", r.Rows[1].Figures)
	}
	var out strings.Builder
	if err := r.Text(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 of 3 cells are in no figure", "hot · 1 master · 16 workers, b: every repeat was disturbed", "hot · 1 master · 16 workers, a: errors, or no pair at all, in 1 of 2 repeats"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// A ratio of one repeat has no interval, and one that lacks repeats says how many it has.
func TestIntervalsOfFewRepeats(t *testing.T) {
	r := sample()
	for i, c := range r.Cells {
		if c.Repeat == 1 && c.Lock == "old" && c.Scenario == "healthy" {
			r.Cells[i].Disturbed = "other programs took 40 % of the processors"
		}
	}
	r.Summarize([]string{"fast", "old"})
	var text, summary bytes.Buffer
	if err := errors.Join(r.Text(&text), r.Summary(&summary)); err != nil {
		t.Fatal(err)
	}
	for form, want := range map[string]string{text.String(): "×3.00 n=1", summary.String(): "| ×3.00 n=1 |"} {
		if !strings.Contains(form, want) || !strings.Contains(form, "50 % at n = 2, none at n = 1") {
			t.Errorf("%q is not in\n%s", want, form)
		}
	}
}

// A lock is held against its own healthy rate of the same size alone; a server that did not
// tell what was left over left nothing and everything; and a cell without a pair is no sample
// of benchstat's.
func TestCellsCountWhereTheyBelong(t *testing.T) {
	r := Report{Repeats: 1, Cells: []Cell{
		{Scenario: "healthy", Nodes: 5, Workers: 16, Lock: "a", Rate: 100, Leftovers: -1, Acquire: stats.Quantiles{Count: 9}},
		{Scenario: "healthy", Nodes: 5, Workers: 64, Lock: "a", Rate: 1000, Leftovers: 3, Acquire: stats.Quantiles{Count: 9}, Disturbed: "other programs"},
		{Scenario: "slow-node", Nodes: 5, Workers: 16, Lock: "a", Rate: 50, Acquire: stats.Quantiles{Count: 9}},
		{Scenario: "dead-node", Nodes: 5, Workers: 16, Lock: "a", Acquire: stats.Quantiles{Count: 9}},
	}}
	r.Summarize(nil)
	if i, ok := r.Across("rate", "a", Setting{"slow-node", 5, 16}, Setting{"healthy", 5, 16}); !ok || i.Median != 0.5 {
		t.Errorf("against its healthy rate: %+v, %t", i, ok)
	}
	if f, ok := r.Rows[0].Figures["leftovers"]; ok {
		t.Errorf("leftovers that nobody told: %+v", f)
	}
	var samples strings.Builder
	if err := r.GoBench(&samples); err != nil || strings.Count(samples.String(), "\nBenchmark") != 2 || strings.Contains(samples.String(), "dead-node/") {
		t.Errorf("%v:\n%s", err, &samples)
	}
	r.Missing = 2
	if w := r.warnings(); !strings.Contains(w[0], "interrupted: 2 of 6 cells were not measured") {
		t.Errorf("%q", w)
	}
}

// Of few repeats and of many, intervals hold the true median as often as they state.
func TestMedianIntervalsCoverWhatTheyState(t *testing.T) {
	const trials, points = 4000, 0.03
	for _, n := range []int{3, 5, 10} {
		rng, covered, stated := rand.New(rand.NewPCG(2, uint64(n))), 0, 0.0
		for range trials {
			values := make([]float64, n)
			for i := range values {
				values[i] = rng.ExpFloat64() // as skewed as ratios come
			}
			m := Median(values)
			if stated = m.Confidence; m.Low <= math.Ln2 && math.Ln2 <= m.High {
				covered++
			}
		}
		if share := float64(covered) / trials; math.Abs(share-stated) > points {
			t.Errorf("n = %d: %.1f %% of the intervals hold the median, and they state %.1f %%", n, 100*share, 100*stated)
		}
	}
}

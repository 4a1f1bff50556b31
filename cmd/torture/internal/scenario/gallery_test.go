package scenario

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/faults"
	"locktorture/lockimpl/gallery"
	"locktorture/reports"
	"locktorture/reports/stats"
)

var brittle = Lock{ID: "brittle", Shelf: ShelfRecipe, Expected: []string{"S1", "S5"}, CorrectedBy: "sound"}

// run is one that a judge has convicted of ids.
func run(ids ...string) *reports.Run {
	r := &reports.Run{Stats: &stats.Summary{}}
	for _, id := range ids {
		r.Report.Violations = append(r.Report.Violations, checker.Finding{ID: id})
	}
	return r
}

// lagging is a run whose judge could not compare times.
func lagging() *reports.Run {
	r := run()
	r.Report.Inconclusive = []checker.Finding{{ID: "V4", Text: "lagged"}}
	return r
}

// toothless is a run whose only fault did nothing.
func toothless() *reports.Run {
	r := run()
	r.Meta.Faults, r.Stats.Faults = 1, []stats.Fault{{Name: "cut"}}
	return r
}

func TestGalleryRow(t *testing.T) {
	for name, c := range map[string]struct {
		lock, twin []*reports.Run // one per attempt
		outcome    string
	}{
		"all found":             {[]*reports.Run{run("S1", "S3", "S5")}, []*reports.Run{run()}, CellOK},
		"one missing":           {[]*reports.Run{run("S1")}, []*reports.Run{run()}, CellMissing},
		"twin has it too":       {[]*reports.Run{run("S1", "S5")}, []*reports.Run{run("S5", "S3z")}, CellAccused},
		"twin has its own":      {[]*reports.Run{run("S1", "S5")}, []*reports.Run{run("S3z")}, CellOK},
		"judged at the second":  {[]*reports.Run{lagging(), run("S1", "S5")}, []*reports.Run{run()}, CellOK},
		"never judged":          {[]*reports.Run{lagging(), lagging(), lagging()}, []*reports.Run{run()}, CellVoid},
		"twin without a fault":  {[]*reports.Run{run("S1", "S5")}, []*reports.Run{toothless()}, CellVoid},
		"harness in the way":    {[]*reports.Run{{Harness: []string{"no port"}}}, nil, CellVoid},
		"interrupted":           {[]*reports.Run{{Interrupted: true}}, nil, CellVoid},
		"run that never begins": {nil, nil, CellVoid},
	} {
		t.Run(name, func(t *testing.T) {
			trials := map[string]Trial{"brittle": {Faults: "none"}}
			runs := map[string][]*reports.Run{"brittle": c.lock, "sound": c.twin}
			row := NewGalleryRow(brittle, trials, 1)
			row.Exhibit(t.Context(), trials["brittle"], 1, func(_ context.Context, cfg config.Config) (*reports.Run, error) {
				if len(runs[cfg.Lock]) == 0 {
					return nil, errors.New("no more runs")
				}
				r := runs[cfg.Lock][0]
				runs[cfg.Lock] = runs[cfg.Lock][1:]
				return r, nil
			})
			if row.Outcome != c.outcome || row.Complete() != (c.outcome == CellOK) {
				t.Errorf("outcome %q (%s), complete %v; want %q", row.Outcome, row.Why, row.Complete(), c.outcome)
			}
		})
	}
}

func TestGalleryRowUntried(t *testing.T) {
	for name, c := range map[string]struct {
		trials  map[string]Trial
		outcome string // after a run in which S1 was found
	}{
		"no trial":         {nil, CellUntried},
		"no id to be had":  {map[string]Trial{"brittle": {Untried: map[string]string{"S1": "why", "S5": "why"}}}, CellUntried},
		"one id not tried": {map[string]Trial{"brittle": {Untried: map[string]string{"S5": "why"}}}, CellOK},
	} {
		t.Run(name, func(t *testing.T) {
			row := NewGalleryRow(brittle, c.trials, 1)
			if row.Outcome == "" {
				row.Judge([]string{"S1"}, nil)
			}
			if row.Outcome != c.outcome || row.Complete() {
				t.Errorf("outcome %q, complete %v; want %q, incomplete", row.Outcome, row.Complete(), c.outcome)
			}
		})
	}
}

func TestTrials(t *testing.T) {
	for _, r := range gallery.Recipes() {
		trial, exists := Trials[r.ID]
		if !exists {
			t.Errorf("%s has no trial", r.ID)
			continue
		}
		c, err := trial.Config(r.ID, 7)
		if err != nil {
			t.Errorf("%s: %v", r.ID, err)
		}
		if c.Lock != r.ID || c.Seed != 7 {
			t.Errorf("%s: configured as lock %s, seed %d", r.ID, c.Lock, c.Seed)
		}
		if trial.Faults == "none" {
			continue
		}
		specs, err := faults.Parse(trial.Faults)
		if err == nil {
			_, err = faults.Build(faults.Catalogue(), specs, c.TTL)
		}
		if err != nil {
			t.Errorf("%s: %v", r.ID, err)
		}
	}
	if len(Trials) != len(gallery.Recipes()) {
		t.Errorf("trials of unknown recipes: %v", slices.Sorted(maps.Keys(Trials)))
	}
}

func TestTrialCommand(t *testing.T) {
	got := Trial{Faults: "cut:client=any as v", Load: "keys=1 slo=jain>0.9"}.Command("brittle", 3)
	want := "torture run calm --lock=brittle '--faults=cut:client=any as v' --ttl=700ms --duration=4s --keys=1 '--slo=jain>0.9' --seed=3"
	if got != want {
		t.Errorf("command\n%s\nwant\n%s", got, want)
	}
}

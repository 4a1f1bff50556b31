package nightly

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/gallery"
	"locktorture/reports"
	"locktorture/reports/stats"
)

func nightOf(budget time.Duration) Config {
	return Config{
		Catalogue: catalogue.Builtin(),
		Locks:     []string{"redlock", "single"}, Scenarios: []string{"standard", "amnesia"}, Seeds: []uint64{20261121, 1, 2},
		Canary: "set-nx-ex-del", KnownBad: []string{"setnx-del"}, Budget: budget,
	}
}

// words are the cells of a night, one per word: lock/scenario/seed.
func words(t *testing.T, n Config) (cells []Cell, names string, leftOut string) {
	t.Helper()
	cells, left, err := Plan(n)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range cells {
		all = append(all, strings.Join([]string{c.Lock, c.Scenario, string(c.Role[0])}, "/"))
	}
	return cells, strings.Join(all, " "), strings.Join(left, "; ")
}

func TestPlanNight(t *testing.T) {
	const first = "set-nx-ex-del/trial/c setnx-del/trial/k redlock/standard/u redlock/amnesia/u single/standard/u"
	const again = " redlock/standard/u redlock/amnesia/u single/standard/u"
	for _, c := range []struct {
		budget  time.Duration
		names   string
		leftOut string
		grows   int // 1: standard lasts longer than a minute, -1: less
	}{
		{3 * time.Minute, first, "seed 0x1: no room", -1},
		{7 * time.Minute, first + again, "seed 0x2: no room", 1},
		{2 * time.Hour, first + again + again, "single in amnesia: 1 nodes", 1},
	} {
		cells, names, leftOut := words(t, nightOf(c.budget))
		if names != c.names || !strings.Contains(leftOut, c.leftOut) {
			t.Errorf("within %v: %s\nleft out: %s", c.budget, names, leftOut)
		}
		var sum time.Duration
		for _, cell := range cells {
			sum += cell.estimate()
		}
		if sum > c.budget+time.Duration(len(cells))*time.Second { // each is rounded
			t.Errorf("within %v: the cells take %v", c.budget, sum)
		}
		at := slices.IndexFunc(cells, func(c Cell) bool { return c.Scenario == "standard" })
		if got := cells[at].Config; (got.Duration-time.Minute > 0) != (c.grows > 0) || got.Floors["grants"] != int(float64(got.PerMinute["grants"])*got.Duration.Minutes()) {
			t.Errorf("within %v: standard lasts %v with floors %v", c.budget, got.Duration, got.Floors)
		}
	}
}

// A budget that is too small for the faults of a cell is refused with one that is
// enough, and that one is.
func TestPlanRefusesABudget(t *testing.T) {
	n := nightOf(30 * time.Second)
	_, _, err := Plan(n)
	if err == nil {
		t.Fatal("a budget of 30 s was accepted")
	}
	said := err.Error()
	_, rest, found := strings.Cut(said, "(--budget ")
	proposed, _, ended := strings.Cut(rest, " is enough for every cell)")
	if !strings.HasPrefix(said, "--budget is 30s: ") || !found || !ended {
		t.Fatal(said)
	}
	if n.Budget, err = time.ParseDuration(proposed); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Plan(n); err != nil {
		t.Errorf("the budget of %v that was proposed: %v", n.Budget, err)
	}
}

func TestPlanNightWithAPlantedMutant(t *testing.T) {
	n := nightOf(10 * time.Minute)
	n.Planted = "quorum-2"
	cells, names, _ := words(t, n)
	if !strings.HasPrefix(names, "set-nx-ex-del/trial/c setnx-del/trial/k quorum-2/trial/u quorum-2/standard/u") || strings.Contains(names, "redlock") {
		t.Error(names)
	}
	if cells[2].Config.Duration != gallery.TrialLength {
		t.Errorf("the trial lasts %v", cells[2].Config.Duration)
	}
	for _, bad := range []Config{
		{Planted: "quorum-3", Seeds: []uint64{1}, Locks: []string{"redlock"}},
		{KnownBad: []string{"redlock"}, Seeds: []uint64{1}},
		{Locks: []string{"nothing"}, Scenarios: []string{"calm"}, Seeds: []uint64{1}},
		{Locks: []string{"redlock"}, Scenarios: []string{"nothing"}, Seeds: []uint64{1}},
	} {
		bad.Catalogue = catalogue.Builtin()
		if _, _, err := Plan(bad); err == nil {
			t.Errorf("%+v was planned", bad)
		}
	}
}

// shown is a run that a judge has convicted of ids.
func shown(ids ...string) *reports.Run {
	r := &reports.Run{Stats: &stats.Summary{}}
	for _, id := range ids {
		r.Report.Violations = append(r.Report.Violations, checker.Finding{ID: id})
	}
	return r
}

// A night whose runs are made up: what each adds to the verdict.
func TestPlayCell(t *testing.T) {
	shows := func(ids ...string) *reports.Run {
		r := shown(ids...)
		r.Report.Verdict = checker.Pass
		if len(ids) > 0 {
			r.Report.Verdict = checker.Fail
		}
		return r
	}
	unclear := &reports.Run{Report: checker.Report{Verdict: checker.Inconclusive}}
	for _, c := range []struct {
		name   string
		lock   string
		role   reports.Role
		runs   []*reports.Run
		counts checker.Verdict
		tries  int
	}{
		{"passes", "redlock", reports.UnderTest, []*reports.Run{shows()}, checker.Pass, 1},
		{"violated", "redlock", reports.UnderTest, []*reports.Run{shows("S1")}, checker.Fail, 1},
		{"unclear once", "redlock", reports.UnderTest, []*reports.Run{unclear, shows()}, checker.Pass, 2},
		{"unclear twice", "redlock", reports.UnderTest, []*reports.Run{unclear, unclear}, checker.Inconclusive, 2},
		{"canary caught", "setnx-del", reports.TheCanary, []*reports.Run{shows(catalogue.Builtin()["setnx-del"].Expected...)}, checker.Pass, 1},
		{"canary caught late", "setnx-del", reports.TheCanary, []*reports.Run{shows(), unclear, shows(catalogue.Builtin()["setnx-del"].Expected...)}, checker.Pass, 3},
		{"canary missed", "setnx-del", reports.TheCanary, []*reports.Run{shows(), shows(), shows()}, checker.Inconclusive, 3},
		{"no run", "redlock", reports.UnderTest, nil, checker.HarnessError, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			cell := Cell{lock: catalogue.Builtin()[c.lock], NightCell: reports.NightCell{Lock: c.lock, Scenario: "calm", Seed: 1, Role: c.role}, Config: config.Config{Seed: 1}}
			var seed uint64 // of the last run
			dir := t.TempDir()
			played := 0
			Play(t.Context(), &cell, func(_ context.Context, cfg config.Config) (*reports.Run, error) {
				seed = cfg.Seed
				if played >= len(c.runs) {
					return nil, errors.New("no Redis")
				}
				r := c.runs[played]
				played++
				r.Dir = filepath.Join(dir, "run")
				if err := os.MkdirAll(filepath.Join(r.Dir, "nodes"), 0o755); err != nil {
					t.Fatal(err)
				}
				return r, os.WriteFile(filepath.Join(r.Dir, reports.ResultsFile), nil, 0o644)
			})
			if cell.Counts != c.counts || cell.Tries != c.tries {
				t.Errorf("it counts as %s after %d tries (%s)", cell.Counts, cell.Tries, cell.Headline)
			}
			if c.counts == checker.Pass && cell.Seed != seed {
				t.Errorf("seed %d is named, and the run that counts was of seed %d", cell.Seed, seed)
			}
			_, kept := os.Stat(filepath.Join(dir, "run", "nodes"))
			_, report := os.Stat(filepath.Join(dir, "run", reports.ResultsFile))
			if played > 0 && (report != nil || (kept == nil) == (c.counts == checker.Pass)) {
				t.Errorf("nodes: %v, results: %v", kept, report)
			}
		})
	}
}

package nightly

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/farm/farmtest"
	"locktorture/reports"
)

func TestMain(m *testing.M) {
	play := func(_ context.Context, c config.Config) (*reports.Run, error) {
		dir := filepath.Join(c.Out, "run")
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, reports.ResultsFile), []byte("{}"), 0o600)); err != nil {
			return nil, err
		}
		r := &reports.Run{Dir: dir, Report: checker.Report{Verdict: checker.Fail}}
		r.Report.Violations = []checker.Finding{{ID: "S1", Name: "double grant"}}
		return r, nil
	}
	farmtest.Main(m, map[string]farm.Player{CellKind: PlayCell(catalogue.Builtin(), play, false)}, func(string, string) error { return errors.New("nobody coordinates here") })
}

// TestCellsOnAFarm: what a worker found is in the cell, with its record on this machine,
// and a plan that is read back is the same.
func TestCellsOnAFarm(t *testing.T) {
	url, dir := farmtest.Address(t), t.TempDir()
	farmtest.Worker(t, url, "embedded")
	c, err := farmtest.Open(t.Context(), url, dir)
	if err != nil {
		t.Fatal(err)
	}
	planned, _, err := Plan(nightOf(3 * time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	for i := range planned {
		planned[i].Config.Testbed = "embedded"
	}
	if err := SavePlan(dir, farmtest.Build, &reports.Night{Budget: time.Hour}, planned); err != nil {
		t.Fatal(err)
	}
	night, cells, err := LoadPlan(dir, farmtest.Build)
	if err != nil || night.Budget != time.Hour || len(cells) != len(planned) {
		t.Fatalf("%+v, %d cells, %v", night, len(cells), err)
	}
	for i := range cells {
		if !reflect.DeepEqual(cells[i].NightCell, planned[i].NightCell) || !reflect.DeepEqual(cells[i].Config.PerMinute, planned[i].Config.PerMinute) || cells[i].Config.Duration != planned[i].Config.Duration {
			t.Errorf("%+v\nis not\n%+v", cells[i], planned[i])
		}
	}
	if _, _, err := LoadPlan(dir, farm.Build{}); err == nil {
		t.Error("another build goes on with the plan")
	}

	runs := filepath.Join(dir, "runs")
	under := &cells[len(cells)-1]
	if err := PlayAfar(t.Context(), under, c, "c0001", runs); err != nil {
		t.Fatal(err)
	}
	if under.Verdict != checker.Fail || under.Counts != checker.Fail || len(under.Found) != 1 || filepath.Dir(under.Dir) != runs {
		t.Errorf("%+v", under.NightCell)
	}
	if _, err := os.Stat(filepath.Join(under.Dir, reports.ResultsFile)); err != nil {
		t.Error(err)
	}
	other := &cells[0] // whose run has the same name on its machine
	if err := PlayAfar(t.Context(), other, c, "c0000", runs); err != nil || other.Dir == under.Dir {
		t.Errorf("two cells in %s, %v", other.Dir, err)
	}
	if err := c.Close(t.Context(), true); err != nil {
		t.Error(err)
	}
}

package nightly

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/farm"
	"locktorture/reports"
	"locktorture/workload/history"
)

// CellKind is the kind of tasks that PlayCell plays.
const CellKind = "cell"

// A cellTask is a task: one cell of a night.
type cellTask struct {
	Cell      reports.NightCell `json:"cell"`
	Config    config.Config     `json:"config"`
	PerMinute map[string]int    `json:"floors_per_minute,omitempty"`
}

// PlayCell plays the cells that a night lays out.
func PlayCell(locks catalogue.Locks, play Player, exec bool) farm.Player {
	return func(ctx context.Context, t farm.Task, dir string) farm.Answer {
		var task cellTask
		if err := json.Unmarshal(t.Body, &task); err != nil {
			return farm.Answer{Trouble: history.OneLine(err.Error())}
		}
		if strings.HasPrefix(task.Config.Lock, "exec:") && !exec {
			return farm.Answer{Trouble: "the lock is a command of the coordinator's choice, which this worker runs only with --allow-exec"}
		}
		c := Cell{NightCell: task.Cell, Config: task.Config}
		c.Config.PerMinute, c.Config.Out = task.PerMinute, dir
		var err error
		if c.lock, err = locks.Find(c.Config.Lock); err != nil {
			return farm.Answer{Trouble: history.OneLine(err.Error())}
		}
		Play(ctx, &c, play)
		var a farm.Answer
		if record, err := filepath.Rel(dir, c.Dir); c.Dir != "" && err == nil && filepath.IsLocal(record) {
			a.Record = record
		}
		if a.Body, err = json.Marshal(c.NightCell); err != nil {
			return farm.Answer{Trouble: history.OneLine(err.Error())}
		}
		return a
	}
}

// PlayAfar has a worker of a farm play a cell, under a name that another session of the
// night gives it too, alone on its machine as a night does. What the cell came to is in
// it; its record is put below dir.
func PlayAfar(ctx context.Context, c *Cell, f *farm.Coordinator, name, dir string) error {
	body, err := json.Marshal(cellTask{c.NightCell, c.Config, c.Config.PerMinute})
	if err != nil {
		return err
	}
	r, err := f.Do(ctx, farm.Task{ID: name, Kind: CellKind, Needs: c.Config.Testbed, Alone: true, Body: body})
	if err != nil {
		return err
	}
	if r.Trouble == "" {
		err = json.Unmarshal(r.Body, &c.NightCell)
	}
	if r.Trouble != "" || err != nil {
		c.Tries, c.Verdict, c.Counts = 1, checker.HarnessError, checker.HarnessError
		c.Headline = "worker " + r.Worker + ": " + r.Trouble
		return err
	}
	if r.Record == "" {
		return nil
	}
	there := c.Dir
	c.Dir = filepath.Join(dir, filepath.Base(there)+"-"+name) // two workers may give the same name in one second
	c.Replay = strings.ReplaceAll(c.Replay, there, c.Dir)
	if err := f.Fetch(ctx, r, c.Dir); err != nil {
		c.Headline = fmt.Sprintf("%s (its record was lost: %s)", c.Headline, history.OneLine(err.Error()))
		c.Dir = ""
	}
	return nil
}

// PlanFile, in a night's folder, holds what a farm plays of it, to be gone on with.
const PlanFile = "night-plan.json"

type planRecord struct {
	Schema int            `json:"schema"` // 1
	Build  farm.Build     `json:"build"`
	Night  *reports.Night `json:"night"`
	Cells  []cellTask     `json:"cells"`
}

// SavePlan writes down what is to be played of a night.
func SavePlan(dir string, b farm.Build, n *reports.Night, cells []Cell) error {
	r := planRecord{1, b, n, nil}
	for _, c := range cells {
		r.Cells = append(r.Cells, cellTask{c.NightCell, c.Config, c.Config.PerMinute})
	}
	raw, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, PlanFile), append(raw, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", PlanFile, err)
	}
	return nil
}

// LoadPlan reads what SavePlan wrote. A plan of another build is an error: its cells
// were played, and count, as something else.
func LoadPlan(dir string, b farm.Build) (*reports.Night, []Cell, error) {
	path := filepath.Join(dir, PlanFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	var r planRecord
	err = json.Unmarshal(raw, &r)
	switch {
	case err != nil || r.Schema != 1 || r.Night == nil:
		return nil, nil, fmt.Errorf("%s: not the plan of a night, schema 1: %w", path, errors.Join(err, errNoPlan))
	case r.Build != b:
		return nil, nil, fmt.Errorf("%s: begun by %s; this is %s", path, r.Build, b)
	}
	var cells []Cell
	for _, t := range r.Cells {
		c := Cell{NightCell: t.Cell, Config: t.Config}
		c.Config.PerMinute = t.PerMinute
		cells = append(cells, c)
	}
	return r.Night, cells, nil
}

var errNoPlan = errors.New("it has no cells that could be played")

package gallery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/run"
	faultcatalogue "locktorture/faults/catalogue"
	"locktorture/faults/plan"
	"locktorture/reports"
	"locktorture/reports/stats"
)

var brittle = catalogue.Lock{ID: "brittle", Category: catalogue.Recipes, Expected: []string{"S1", "S5"}, CorrectedBy: "sound"}

// shown is a run that a judge has convicted of ids.
func shown(ids ...string) *reports.Run {
	r := &reports.Run{Stats: &stats.Summary{}}
	for _, id := range ids {
		r.Report.Violations = append(r.Report.Violations, checker.Finding{ID: id})
	}
	return r
}

// lagging is a run whose judge could not compare times.
func lagging() *reports.Run {
	r := shown()
	r.Report.Inconclusive = []checker.Finding{{ID: "V4", Text: "lagged"}}
	return r
}

// suspected is a run whose judge saw id and could not prove it.
func suspected(id string, proved ...string) *reports.Run {
	r := shown(proved...)
	r.Report.Suspicious = []checker.Finding{{ID: id, Text: "the harness stood still"}}
	return r
}

// toothless is a run whose only fault did nothing.
func toothless() *reports.Run {
	r := shown()
	r.Meta.Faults, r.Stats.Faults = 1, make([]stats.Fault, 1)
	return r
}

func TestRow(t *testing.T) {
	for name, c := range map[string]struct {
		lock, control []*reports.Run // one per attempt
		outcome       string
	}{
		"all found":               {[]*reports.Run{shown("S1", "S3", "S5")}, []*reports.Run{shown()}, OK},
		"one missing":             {[]*reports.Run{shown("S1"), shown("S1"), shown("S1")}, []*reports.Run{shown(), shown(), shown()}, Missing},
		"found bit by bit":        {[]*reports.Run{shown("S1"), shown(), shown("S5")}, []*reports.Run{shown(), shown(), shown()}, OK},
		"control accused late":    {[]*reports.Run{shown("S1"), shown("S5")}, []*reports.Run{shown(), shown("S1")}, Accused},
		"control has it too":      {[]*reports.Run{shown("S1", "S5")}, []*reports.Run{shown("S5", "S3z")}, Accused},
		"control has its own":     {[]*reports.Run{shown("S1", "S5")}, []*reports.Run{shown("S3z")}, OK},
		"judged at the second":    {[]*reports.Run{lagging(), shown("S1", "S5")}, []*reports.Run{shown()}, OK},
		"proved at the second":    {[]*reports.Run{suspected("S5", "S1"), shown("S1", "S5")}, []*reports.Run{suspected("S5")}, OK},
		"each in another try":     {[]*reports.Run{suspected("S5", "S1"), suspected("S1", "S5"), lagging()}, []*reports.Run{shown()}, OK},
		"never judged":            {[]*reports.Run{lagging(), lagging(), lagging(), lagging()}, []*reports.Run{shown()}, Void},
		"control without a fault": {[]*reports.Run{shown("S1", "S5")}, []*reports.Run{toothless()}, Void},
		"harness in the way":      {[]*reports.Run{{Harness: []string{"no port"}}}, nil, Void},
		"interrupted":             {[]*reports.Run{{Interrupted: true}}, nil, Void},
		"run that never begins":   {nil, nil, Void},
	} {
		t.Run(name, func(t *testing.T) {
			trials := map[string]Trial{"brittle": {Faults: "none"}}
			runs := map[string][]*reports.Run{"brittle": c.lock, "sound": c.control}
			row := NewRow(brittle, trials, 1)
			var mu sync.Mutex
			row.Play(t.Context(), trials["brittle"], 1, func(_ context.Context, cfg config.Config, _ bool) (*reports.Run, error) {
				mu.Lock()
				defer mu.Unlock()
				if len(runs[cfg.Lock]) == 0 {
					return nil, errors.New("no more runs")
				}
				r := runs[cfg.Lock][0]
				runs[cfg.Lock] = runs[cfg.Lock][1:]
				return r, nil
			})
			if row.Outcome != c.outcome || row.AsExpected() != (c.outcome == OK) {
				t.Errorf("outcome %q (%s), as expected %v; want %q", row.Outcome, row.Why, row.AsExpected(), c.outcome)
			}
		})
	}
}

// TestInterruptedRow says so whether the run had begun or not.
func TestInterruptedRow(t *testing.T) {
	for name, run := range map[string]struct {
		r   *reports.Run
		err error
	}{"before it began": {nil, fmt.Errorf("start nodes: %w", context.Canceled)}, "in the middle": {&reports.Run{Interrupted: true}, nil}} {
		t.Run(name, func(t *testing.T) {
			row := NewRow(brittle, map[string]Trial{"brittle": {Faults: "none"}}, 1)
			row.Play(t.Context(), Trial{Faults: "none"}, 1, func(context.Context, config.Config, bool) (*reports.Run, error) { return run.r, run.err })
			if row.Outcome != Void || !strings.HasSuffix(row.Why, ": interrupted") {
				t.Errorf("%s: %s, want %s: interrupted", row.Outcome, row.Why, Void)
			}
		})
	}
}

func TestRowUntried(t *testing.T) {
	for name, c := range map[string]struct {
		trials   map[string]Trial
		outcome  string // after a run in which S1 was found
		expected bool
	}{
		"no trial":         {nil, Untried, false},
		"no id to be had":  {map[string]Trial{"brittle": {Untried: map[string]string{"S1": "why", "S5": "why"}}}, Untried, true},
		"one id not tried": {map[string]Trial{"brittle": {Untried: map[string]string{"S5": "why"}}}, OK, true},
	} {
		t.Run(name, func(t *testing.T) {
			row := NewRow(brittle, c.trials, 1)
			if row.Outcome == "" {
				row.Judge([]string{"S1"}, nil)
			}
			if row.Outcome != c.outcome || row.AsExpected() != c.expected {
				t.Errorf("outcome %q, as expected %v; want %q, %v", row.Outcome, row.AsExpected(), c.outcome, c.expected)
			}
		})
	}
}

// TestAnyIsEnough needs one of the ids, and accuses the control of each of them.
func TestAnyIsEnough(t *testing.T) {
	l := brittle
	l.AnyExpected = true
	for name, c := range map[string]struct {
		found, control []string
		outcome        string
	}{
		"one":     {[]string{"S5"}, nil, OK},
		"none":    {[]string{"S3"}, nil, Missing},
		"accused": {[]string{"S5"}, []string{"S1"}, Accused},
	} {
		row := NewRow(l, map[string]Trial{"brittle": {Faults: "none"}}, 1)
		if row.Judge(c.found, c.control); row.Outcome != c.outcome {
			t.Errorf("%s: %s, want %s", name, row.Outcome, c.outcome)
		}
	}
}

// TestTrials holds the trials against the catalogue: every lock that is known
// for a flaw has one that can be played, against a control that exists.
func TestTrials(t *testing.T) {
	for id, l := range locks {
		trial, exists := Trials[id]
		if exists != (l.CorrectedBy != "") {
			t.Errorf("%s: corrected by %q, has a trial: %v", id, l.CorrectedBy, exists)
		}
		if !exists {
			continue
		}
		if _, err := locks.Find(l.CorrectedBy); err != nil {
			t.Errorf("%s: corrected by: %v", id, err)
		}
		c, err := trial.Config(id, 7)
		if err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if c.Lock != id || c.Seed != 7 {
			t.Errorf("%s: configured as lock %s, seed %d", id, c.Lock, c.Seed)
		}
		if trial.Faults == "none" {
			continue
		}
		specs, err := plan.Parse(trial.Faults)
		if err == nil {
			_, err = plan.Build(faultcatalogue.All(), specs, c.TTL)
		}
		if err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	for id := range Trials {
		if _, err := locks.Find(id); err != nil {
			t.Errorf("trial of an unknown lock: %v", err)
		}
	}
}

func TestTrialCommand(t *testing.T) {
	got := Trial{Faults: "cut:client=any as v", Load: "keys=1 slo=jain>0.9"}.Command("brittle", 3)
	want := "torture run calm --lock=brittle '--faults=cut:client=any as v' --ttl=700ms --duration=4s --keys=1 '--slo=jain>0.9' --seed=3"
	if got != want {
		t.Errorf("command\n%s\nwant\n%s", got, want)
	}
}

func TestEveryTrialIsValid(t *testing.T) {
	for id, trial := range Trials {
		for _, lock := range []string{id, locks[id].CorrectedBy} {
			trial := trial
			if lock != id {
				trial = trial.ofControl()
			}
			c, err := trial.Config(lock, 1)
			if err != nil {
				t.Errorf("%s: %v", lock, err)
				continue
			}
			if err := c.Reconcile(); err != nil {
				t.Errorf("trial of %s with %s: %v", id, lock, err)
			}
			if err := run.Validate(c, locks[lock]); err != nil {
				t.Errorf("trial of %s with %s: %v", id, lock, err)
			}
		}
	}
}

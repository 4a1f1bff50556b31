package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"locktorture/checker"
	"locktorture/reports/slo"
	"locktorture/reports/stats"
	"locktorture/reports/story"
	"locktorture/workload/history/coverage"
)

// Results is results.json: the checker's report with the verdict that
// prevails, and what was measured beside it.
type Results struct {
	checker.Report
	Judged      checker.Verdict   `json:"judged"` // by the history alone
	Scenario    string            `json:"scenario"`
	Lock        string            `json:"lock"`
	Seed        uint64            `json:"seed"`
	Judges      map[string]string `json:"judges"`
	Accepted    []string          `json:"accepted,omitempty"` // violations that the scenario accepts, counted by id
	Witnesses   []story.Story     `json:"witnesses"`
	SLOs        []slo.Result      `json:"slos"`
	Faults      FaultCount        `json:"faults"`
	Canary      *Canary           `json:"canary,omitempty"`
	Interrupted bool              `json:"interrupted,omitempty"`
	Harness     []string          `json:"harness,omitempty"`
	Warnings    []string          `json:"warnings,omitempty"`
	Measured    *stats.Summary    `json:"measured"`
	Coverage    *coverage.Summary `json:"coverage,omitempty"`
}

// results is r as results.json holds it.
func (r *Run) results() Results {
	out := Results{
		Report: r.Report, Judged: r.Report.Verdict,
		Scenario: r.Meta.Scenario, Lock: r.Meta.Lock, Seed: r.Meta.Seed,
		Judges: map[string]string{}, Accepted: r.accepted(), Witnesses: r.Stories, SLOs: r.SLOs, Faults: r.FaultCount(), Canary: r.Canary,
		Interrupted: r.Interrupted, Harness: r.Troubles(), Warnings: r.Warnings, Measured: r.measured(), Coverage: r.Coverage,
	}
	out.Verdict = r.Verdict()
	out.Exit = out.Verdict.Exit()
	for _, j := range Judges(r.Report) {
		out.Judges[j.Name] = j.Status()
	}
	return out
}

// ReadResults reads results.json.
func ReadResults(dir string) (Results, error) {
	var out Results
	err := readJSON(filepath.Join(dir, ResultsFile), &out)
	return out, err
}

// ErrIncomplete reports a run directory without results.json: the run died, or
// goes on. Its history can still be judged.
var ErrIncomplete = errors.New("run is incomplete")

// Load reads a run directory without its history. With ErrIncomplete the run
// holds what run.json says, and the caller judges the history; any other error
// leaves nothing. Measure adds what only the history knows.
func Load(dir string) (*Run, error) {
	meta, err := ReadMeta(dir)
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: dir, Meta: meta}
	res, err := ReadResults(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%s: %w", dir, ErrIncomplete)
	}
	if err != nil {
		return nil, err
	}
	r.Report = res.Report
	r.Report.Verdict, r.Report.Exit = res.Judged, res.Judged.Exit()
	r.SLOs, r.Canary, r.Interrupted = res.SLOs, res.Canary, res.Interrupted
	r.Harness, r.Warnings, r.Stats, r.Stories = res.Harness, res.Warnings, res.Measured, res.Witnesses
	r.Coverage = res.Coverage
	return r, nil
}

// JSON is what results.json holds, for where it could not be written.
func (r *Run) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(r.results(), "", "  ")
	return append(text, '\n'), err
}

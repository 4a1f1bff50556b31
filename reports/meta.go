package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"locktorture/reports/unit"
	"locktorture/workload/history/coverage"
	"locktorture/workload/history/printable"
)

// Schema is the version of run.json and results.json that this package writes.
const Schema = 1

// Names of the files in a run directory.
const (
	MetaFile    = "run.json"
	ResultsFile = "results.json"
	LiveFile    = "live.json"
	ReportFile  = "report.html"
	SummaryFile = "summary.md"
	JUnitFile   = "junit.xml"
	BenchFile   = "bench.txt"
	PlotsDir    = "plots"
	HistDir     = "hist"
)

// Meta is run.json: what was going to happen, written before it does.
type Meta struct {
	Schema   int             `json:"schema"`
	Version  string          `json:"version"` // of torture
	Commit   string          `json:"commit,omitempty"`
	Argv     []string        `json:"argv"`
	Again    string          `json:"again,omitempty"` // the command that plays the same again; empty: torture replay
	Scenario string          `json:"scenario"`
	Lock     string          `json:"lock"`
	Testbed  Testbed         `json:"testbed"`
	Config   json.RawMessage `json:"config,omitempty"` // as resolved; durations as their own type writes them
	Load     string          `json:"load,omitempty"`   // the load in words
	Clients  int             `json:"clients,omitempty"`
	Keys     int             `json:"keys,omitempty"`
	Seed     uint64          `json:"seed"`
	Planned  time.Duration   `json:"planned_ns,omitempty"` // how long it should last
	Asked    int             `json:"asked,omitempty"`      // how many faults were asked for
	Faults   int             `json:"faults,omitempty"`     // how many are planned
	SLO      []string        `json:"slo,omitempty"`

	Can *coverage.Abilities `json:"abilities,omitempty"` // what the lock can do under such a plan; nil: not said

	Workers []Worker `json:"workers,omitempty"` // where the clients ran, if not in this process

	Host  Host      `json:"host"`
	Began time.Time `json:"began"`
}

// A Testbed is what the lock ran against.
type Testbed struct {
	Name     string   `json:"name"`               // process, container, external, embedded
	Version  string   `json:"version,omitempty"`  // of the server
	Embedded bool     `json:"embedded,omitempty"` // its nodes are no Redis, and prove nothing about Redis
	LeftOut  []string `json:"left_out,omitempty"` // faults that the plan does without, with the reason
}

// Host is the machine that ran it.
type Host struct {
	CPUs int    `json:"cpus"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
	Go   string `json:"go"`
}

// ThisHost describes the machine at hand.
func ThisHost() Host {
	return Host{CPUs: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}
}

// WriteMeta writes run.json into dir, which it makes when it is missing.
func WriteMeta(dir string, m Meta) error {
	m.Schema = Schema
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write %s: %w", MetaFile, err)
	}
	return writeJSON(filepath.Join(dir, MetaFile), m)
}

// ReadMeta reads run.json.
func ReadMeta(dir string) (Meta, error) {
	var m Meta
	err := readJSON(filepath.Join(dir, MetaFile), &m)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s is no run directory (torture check judges a history alone): %w", dir, err)
	}
	return m, err
}

func readJSON(path string, v any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return WriteFile(path, append(printable.JSON(raw), '\n'))
}

// WriteFile replaces path as a whole: a reader sees the old file or the new
// one, never a part.
func WriteFile(path string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	_, err = tmp.Write(content)
	for _, step := range []func() error{tmp.Sync, func() error { return tmp.Chmod(0o600) }, tmp.Close} {
		if e := step(); err == nil {
			err = e
		}
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// A Worker is a process that had some of a run's clients. What is known of its clock is
// so for the time at which the run was judged.
type Worker struct {
	Name     string        `json:"name"`
	Host     string        `json:"host"`
	PID      int           `json:"pid"`
	Clients  []string      `json:"clients"`
	Events   int           `json:"events,omitempty"`             // taken in
	Whole    bool          `json:"whole,omitempty"`              // these are all that it recorded
	Epsilon  time.Duration `json:"epsilon_ns,omitempty"`         // by how much its times may be off
	Offset   time.Duration `json:"offset_ns,omitempty"`          // its clock less the coordinator's
	Drift    float64       `json:"drift,omitempty"`              // by which that grows, as a share
	DriftOff float64       `json:"drift_off,omitempty"`          // by how much Drift may be off
	Stepped  time.Duration `json:"stepped_ns,omitempty"`         // by how much its clock was moved; 0: it was not
	Readings int           `json:"readings,omitempty"`           // of its clock
	Late50   time.Duration `json:"events_late_p50_ns,omitempty"` // half of its events came no later than so long after they happened
	Late99   time.Duration `json:"events_late_p99_ns,omitempty"`
	Lost     string        `json:"lost,omitempty"` // why it was lost
	Returned bool          `json:"returned,omitempty"`
}

// String is the worker in words: what it had, how well its clock is known, and how soon
// its events came to faults that wait for them.
func (w Worker) String() string {
	text := fmt.Sprintf("%s on %s", w.Name, w.Host)
	if n := len(w.Clients); n > 0 {
		text += fmt.Sprintf(": %s to %s", w.Clients[0], w.Clients[n-1])
	}
	text += fmt.Sprintf(" · %s events", unit.Count(w.Events))
	if w.Readings > 0 {
		text += fmt.Sprintf(" · clock known to ±%s by %d readings, drift %+.0f ± %.0f ppm · events came after p50 %s, p99 %s",
			unit.Latency(w.Epsilon), w.Readings, w.Drift*1e6, w.DriftOff*1e6, unit.Latency(w.Late50), unit.Latency(w.Late99))
	}
	if w.Lost != "" {
		text += " · lost"
	}
	return text
}

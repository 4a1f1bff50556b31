package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/search"
	"locktorture/reports/unit"
)

// Schema is the version of the report's and the replay file's form.
const Schema = 1

// A Report is what a simulation came to.
type Report struct {
	Schema   int             `json:"schema"`
	Verdict  checker.Verdict `json:"verdict"`
	Exit     int             `json:"exit"`
	Why      string          `json:"why"`
	Lock     string          `json:"lock"`
	Nodes    int             `json:"nodes"`
	Seed     uint64          `json:"seed"`
	Jobs     int             `json:"jobs"`
	Beyond   bool            `json:"beyond"`
	Faults   []string        `json:"faults"` // that were drawn from
	Rounds   int             `json:"rounds"` // that say something
	Void     int             `json:"void"`   // that say nothing
	Voids    []string        `json:"voids,omitempty"`
	Virtual  time.Duration   `json:"virtual_ns"`
	Took     time.Duration   `json:"took_ns"`  // of real time
	Busy     time.Duration   `json:"busy_ns"`  // of all workers together
	Attempts int             `json:"attempts"` // at a lock
	Grants   int             `json:"grants"`
	Hands    int             `json:"handovers"`
	Faulted  int             `json:"faulted_handovers"`
	Cells    int             `json:"cells"` // phase × fault class, of all workers
	Found    []Found         `json:"findings"`
	Errors   []string        `json:"errors,omitempty"`

	Interrupted bool     `json:"interrupted,omitempty"`
	Files       []string `json:"files,omitempty"` // one for each finding

	cells map[string]bool
	known map[string]bool
}

// Add takes in what a worker told of a round.
func (r *Report) Add(t RoundReport) {
	if r.cells == nil {
		r.cells, r.known = map[string]bool{}, map[string]bool{}
	}
	r.Busy += t.Took
	if t.Void != "" {
		if r.Void++; len(r.Voids) < 3 {
			r.Voids = append(r.Voids, t.Void)
		}
		return
	}
	r.Rounds++
	r.Virtual += t.Virtual
	r.Attempts += t.Attempts
	r.Grants += t.Grants
	r.Hands += t.Handovers
	r.Faulted += t.Faulted
	for _, c := range t.Cells {
		r.cells[c] = true
	}
	r.Cells = len(r.cells)
	for _, f := range t.Found {
		r.AddFound(f)
	}
}

// AddFound takes in a finding, unless one of its kind is known.
func (r *Report) AddFound(f Found) {
	if r.known == nil {
		r.cells, r.known = map[string]bool{}, map[string]bool{}
	}
	if key := f.ID + "|" + f.Blame; !r.known[key] {
		r.known[key] = true
		r.Found = append(r.Found, f)
	}
}

// Conclude decides the verdict.
func (r *Report) Conclude() {
	switch {
	case len(r.Found) > 0:
		r.Verdict, r.Why = checker.Fail, fmt.Sprintf("%s, the first, %s, after %v", unit.Counted(len(r.Found), "finding"), r.Found[0].ID, r.Found[0].After.Round(time.Millisecond))
	case len(r.Errors) > 0:
		r.Verdict, r.Why = checker.HarnessError, r.Errors[0]
	case r.Void > r.Rounds:
		r.Verdict, r.Why = checker.HarnessError, fmt.Sprintf("%d of %d rounds say nothing: %s", r.Void, r.Void+r.Rounds, r.Voids[0])
	case r.Grants == 0 || r.Faulted == 0:
		r.Verdict, r.Why = checker.Inconclusive, fmt.Sprintf("%d grants and %d hand-overs with a fault in force: too little to judge by", r.Grants, r.Faulted)
	default:
		r.Verdict, r.Why = checker.Pass, fmt.Sprintf("no violation in %d grants", r.Grants)
	}
	if r.Verdict == checker.Pass && r.Interrupted {
		r.Verdict, r.Why = checker.Inconclusive, "interrupted: "+r.Why
	}
	r.Exit = r.Verdict.Exit()
}

// A Replay is a file that plays one finding again.
type Replay struct {
	Schema  int            `json:"schema"`
	Lock    string         `json:"lock"`
	Nodes   int            `json:"nodes"`
	Hash    string         `json:"hash"` // of the history
	Finding search.Finding `json:"finding"`
	Round   search.Round   `json:"round"`
	Shrunk  *search.Shrink `json:"shrunk,omitempty"`

	Schedule *Schedule `json:"schedule,omitempty"` // the order in which messages arrive; nil: as the seed draws it
}

// ReplayOf plays a finding against a lock on so many nodes again.
func ReplayOf(lock string, nodes int, f *Found) Replay {
	return Replay{Schema: Schema, Lock: lock, Nodes: nodes, Hash: f.Hash, Finding: f.Finding, Round: f.Smallest(), Shrunk: f.Small}
}

// Write writes the file of a finding.
func (r Replay) Write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write finding: %w", err)
	}
	return nil
}

// maxReplay is how many bytes the file of a finding may have; one has some thousands.
const maxReplay = 16 << 20

// ReadReplay reads the file of a finding.
func ReadReplay(path string) (r Replay, err error) {
	text, err := config.ReadAtMost(path, maxReplay, "the file of a finding")
	if err != nil {
		return r, err
	}
	return ParseReplay(path, text)
}

// ParseReplay reads the text of a finding's file; name stands for it in errors.
func ParseReplay(name string, text []byte) (r Replay, err error) {
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: not the file of a finding: %w", name, err)
	}
	if r.Schema != Schema || r.Lock == "" || r.Round.Clients == 0 {
		return r, fmt.Errorf("%s: not the file of a finding: want schema %d, a lock and a round, as torture simulate writes them", name, Schema)
	}
	if r.Schedule != nil {
		for i, o := range r.Schedule.Options {
			if o < 0 || o > math.MaxUint8 {
				return r, fmt.Errorf("%s: schedule: option %d is %d: 0 to %d", name, i, o, math.MaxUint8)
			}
		}
	}
	return r, nil
}

// GoTest is a test of Go that plays the finding again. given says that the lock is
// not the catalogue's: the test must name its factory.
func (r Replay) GoTest(given bool) (string, error) {
	short := r
	short.Shrunk = nil
	text, err := json.Marshal(short)
	if err != nil {
		return "", fmt.Errorf("write a test: %w", err)
	}
	factory := "nil /* torture's own lock " + r.Lock + " */"
	if given {
		factory = "yours /* the lockimpl.Factory that was given as " + r.Lock + " */"
	}
	quoted := "`" + string(text) + "`"
	if bytes.ContainsRune(text, '`') {
		quoted = strconv.Quote(string(text))
	}
	return fmt.Sprintf("func TestNo%s(t *testing.T) {\n    app.Replay(t, %s, %s)\n}\n", r.Finding.ID, factory, quoted), nil
}

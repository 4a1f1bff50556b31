package reports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"locktorture/checker"
	"locktorture/reports/stats"
)

// Names of the files of a night.
const (
	NightFile = "night.json"  // in the night's own folder
	TrendFile = "trend.jsonl" // beside the nights: one Night a line, oldest first; empty lines mean nothing
	NightRuns = "runs"        // in the night's own folder: a run directory per cell
)

// A Role says what a cell of a night is there for.
type Role string

// The roles.
const (
	UnderTest Role = "under test" // its verdict counts as it is
	TheCanary Role = "canary"     // a lock known to be broken, played first
	KnownBad  Role = "known bad"  // a lock known to be broken: to fail is what it is expected to do
)

// A Night is one run of the nightly matrix.
type Night struct {
	Schema  int             `json:"schema"`
	Version string          `json:"version"`
	Commit  string          `json:"commit"`
	Host    Host            `json:"host"`
	Began   time.Time       `json:"began"`
	Took    time.Duration   `json:"took_ns"`
	Budget  time.Duration   `json:"budget_ns"`
	Testbed string          `json:"testbed"`
	Seeds   []uint64        `json:"seeds"` // the date's first
	Planted string          `json:"planted,omitempty"`
	Cells   []NightCell     `json:"cells"`
	LeftOut []string        `json:"left_out,omitempty"` // what the budget had no room for
	Missing []string        `json:"missing,omitempty"`  // why a night without a violation proves nothing
	Changes []string        `json:"changes,omitempty"`  // since the night before
	Verdict checker.Verdict `json:"verdict"`
}

// A NightCell is one lock in one scenario with one seed.
type NightCell struct {
	Lock     string          `json:"lock"`
	Scenario string          `json:"scenario"`
	Seed     uint64          `json:"seed"`
	Role     Role            `json:"role"`
	Verdict  checker.Verdict `json:"verdict"`                           // of its last try
	Counts   checker.Verdict `json:"counts"`                            // what it adds to the night
	Tries    int             `json:"tries"`                             // what was inconclusive is played again
	Found    []string        `json:"found,omitempty"`                   // ids of what was proved
	Headline string          `json:"headline,omitempty"`                // or why there was no verdict
	Story    string          `json:"story,omitempty" printable:"lines"` // the first witness, told
	Replay   string          `json:"replay,omitempty"`
	Dir      string          `json:"dir,omitempty"`
	Took     time.Duration   `json:"took_ns"`
	Grants   int             `json:"grants"`
	Faulted  int             `json:"faulted_handovers"`
	P99      time.Duration   `json:"acquire_p99_ns,omitempty"`
}

// name is a cell in words.
func (c NightCell) name() string {
	return fmt.Sprintf("%s · %s · seed 0x%x", c.Lock, c.Scenario, c.Seed)
}

// Judge draws the night's verdict from its cells and from what is missing.
func (n *Night) Judge() {
	n.Verdict = checker.Pass
	if len(n.Missing) > 0 {
		n.Verdict = checker.Inconclusive
	}
	for _, c := range n.Cells {
		n.Verdict = checker.Worse(n.Verdict, c.Counts)
	}
}

// Fill fills in the results of the cell's run, which has ended.
func (c *NightCell) Fill(r *Run) {
	r = r.Printable()
	c.Verdict, c.Headline, c.Dir, c.Replay = r.Verdict(), r.Headline(), r.Dir, r.Replay("")
	c.Grants, c.Faulted = r.Report.Evidence.Grants, r.Report.Evidence.FaultedHandovers
	if missing := r.Missing(); c.Verdict == checker.Inconclusive && len(missing) > 0 {
		c.Headline = missing[0].ID + " " + missing[0].Text
	}
	c.P99 = r.acquireP99()
	c.Story = ""
	if len(r.Stories) > 0 {
		s := r.Stories[0]
		c.Story = s.ID + "  " + s.Title + "\n" + StoryText(s, "  ") + "why: " + s.Why + "\n"
		c.Replay = r.Replay(s.ID)
	}
}

// acquireP99 is over all phases, from the intended start.
func (r *Run) acquireP99() time.Duration {
	return r.measured().Find(stats.Acquire, "all").P99
}

// WriteNight writes night.json, summary.md and junit.xml into dir.
func WriteNight(dir string, n *Night) error {
	n.Schema = Schema
	return errors.Join(
		WriteFile(filepath.Join(dir, SummaryFile), []byte(n.Summary())),
		WriteFile(filepath.Join(dir, JUnitFile), n.junit()),
		writeJSON(filepath.Join(dir, NightFile), n),
	)
}

// LastNight returns the last line of the trend file in the folder of nights, or
// nil when there is none. A line cut short by a crash is passed over.
func LastNight(nights string) (*Night, error) {
	all, err := Nights(nights)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[len(all)-1], nil
}

// AppendTrend adds the night to the trend file, without its stories.
func AppendTrend(nights string, n *Night) error {
	short := *n
	short.Cells = append([]NightCell(nil), n.Cells...)
	for i := range short.Cells {
		short.Cells[i].Story = ""
	}
	line, err := json.Marshal(short)
	if err != nil {
		return fmt.Errorf("write %s: %w", TrendFile, err)
	}
	f, err := os.OpenFile(filepath.Join(nights, TrendFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", TrendFile, err)
	}
	// A line that a crash cut short must not swallow this one: it may lack its end.
	_, err = fmt.Fprintf(f, "\n%s\n", line)
	return cmp.Or(err, f.Close())
}

// Prune removes from a run directory what only a violation makes worth keeping:
// the figures, and the files and folders named by also, such as the history and
// the nodes' logs. The reports stay.
func Prune(dir string, also ...string) error {
	var errs []error
	for _, name := range append(also, PlotsDir, HistDir) {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, name)))
	}
	return errors.Join(errs...)
}

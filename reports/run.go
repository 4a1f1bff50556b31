package reports

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"locktorture/checker"
	"locktorture/reports/slo"
	"locktorture/reports/stats"
	"locktorture/reports/story"
	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
	"locktorture/workload/history/printable"
)

// maxStories is how many violations are told in full; the others are counted.
const maxStories = 3

// A Run is one run as reports show it.
type Run struct {
	Dir    string // where it lies; used to name files
	Meta   Meta
	Header history.Header

	Report  checker.Report // what the history proves
	SLOs    []slo.Result
	Harness []string // what went wrong with the harness itself
	Hung    bool     // … and it was nothing but children that hung in a request, and were killed: the lock's doing

	Interrupted bool // stopped by its user: a pass becomes inconclusive
	Canary      *Canary
	Warnings    []string

	unwritten map[string]bool // files below Dir that could not be written …
	lost      bool            // … or none of them

	Stats    *stats.Summary
	Coverage *coverage.Summary // nil: not measured
	Stories  []story.Story
}

// A Canary is a planted mutant, run in the same configuration to show that the
// judges can see.
type Canary struct {
	Mutant string        `json:"mutant"`
	Caught bool          `json:"caught"`
	After  time.Duration `json:"after_ns,omitempty"`
	Note   string        `json:"note,omitempty"`
}

// A Source is a stored history; *history.Reader is one.
type Source interface {
	Header() history.Header
	Next(*history.Event) error
}

// Measure reads a history and fills in what follows from it and from the
// checker's report: figures, stories, and objectives.
func (r *Run) Measure(src Source) error {
	r.Header = src.Header()
	measured := stats.New(r.Header)
	covered := coverage.New(r.Header)
	told := story.NewCollector(r.Header, WorstFirst(r.Report), maxStories)
	var e history.Event
	for {
		err := src.Next(&e)
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("measure history: %w", err)
		}
		measured.Event(&e)
		covered.Event(&e)
		told.Event(&e)
	}
	r.Stories = told.Stories()
	r.Coverage = covered.Summary(r.Meta.Can)
	return r.Finish(measured.Summary())
}

// Finish takes what was measured while the run went on, and holds the
// objectives of run.json against it.
func (r *Run) Finish(measured *stats.Summary) error {
	r.Stats = measured
	objectives, err := slo.ParseAll(r.Meta.SLO)
	if err != nil {
		return err
	}
	r.SLOs = slo.EvaluateAll(objectives, measured)
	return nil
}

// Printable returns a copy of r that is safe to print: every text in it that came
// from the history, a child or a server stays within its line. Whatever people read
// is made of such a copy; results.json holds the texts as they are.
func (r *Run) Printable() *Run {
	shown := printable.Of(*r)
	shown.Meta.Config = printable.JSON(r.Meta.Config)
	return &shown
}

// Verdict is what prevails: the checker's, missed objectives, trouble with the
// harness and an interruption taken together.
func (r *Run) Verdict() checker.Verdict {
	v := r.Report.Verdict
	if v == "" {
		v = checker.Inconclusive
	}
	if r.Interrupted {
		v = checker.Worse(v, checker.Inconclusive)
	}
	if len(r.Troubles()) > 0 {
		v = checker.Worse(v, checker.HarnessError)
	}
	if !slo.Met(r.SLOs) {
		v = checker.Worse(v, checker.SLOBreach)
	}
	return v
}

// Troubles lists what went wrong with the run itself: what befell it first.
func (r *Run) Troubles() []string {
	all := slices.Clone(r.Harness)
	for _, f := range r.Report.Harness {
		if !slices.Contains(all, f.Text) {
			all = append(all, f.Text)
		}
	}
	return all
}

// Counts reports whether what the report proves counts: nothing went wrong with the run itself, or
// only that children of the lock hung in a request until its end.
func (r *Run) Counts() bool {
	all := len(r.Troubles()) // among them what the history says went wrong, which may be the same
	return all == 0 || r.Hung && all == len(r.Harness)
}

// File returns the path of one of the run's files, named below its directory, and
// whether there is one: on a full disk it may not have been written.
func (r *Run) File(name string) (path string, written bool) {
	return filepath.Join(r.Dir, name), !r.lost && !r.unwritten[name]
}

// measured returns what was measured, never nil.
func (r *Run) measured() *stats.Summary {
	if r.Stats == nil {
		return &stats.Summary{}
	}
	return r.Stats
}

// acquireSLO is the bound on the acquire p99, or 0.
func (r *Run) acquireSLO() time.Duration {
	for _, text := range r.Meta.SLO {
		if o, err := slo.Parse(text); err == nil && o.AcquireP99() > 0 {
			return o.AcquireP99()
		}
	}
	return 0
}

// Replay is the command that runs the same again, for one witness when it is
// named.
func (r *Run) Replay(witness string) string {
	if r.Meta.Again != "" {
		return r.Meta.Again
	}
	dir := r.Dir
	if dir == "" {
		dir = "latest"
	}
	if witness == "" {
		return "torture replay " + dir
	}
	return "torture replay " + dir + " --witness " + witness
}

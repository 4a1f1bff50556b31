package hunt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/search"
	"locktorture/reports"
	"locktorture/reports/unit"
	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
	"locktorture/workload/history/printable"
)

// The files of a hunt, in its directory.
const (
	ResultsFile = "hunt.json"
	PageFile    = "hunt.html"
)

// A Report is all that a hunt knows: hunt.json, which --resume reads.
type Report struct {
	Schema      int             `json:"schema"` // 1
	Verdict     checker.Verdict `json:"verdict"`
	Why         string          `json:"why"`
	Version     string          `json:"version"`
	Commit      string          `json:"commit,omitempty"`
	Command     string          `json:"command"`
	Lock        string          `json:"lock"`
	Nodes       int             `json:"nodes"`
	Testbed     string          `json:"testbed"`
	Seed        uint64          `json:"seed"`
	Jobs        int             `json:"jobs"`
	Beyond      bool            `json:"beyond,omitempty"`
	Without     []string        `json:"without,omitempty"`
	Fenced      *bool           `json:"fenced,omitempty"` // whether the store compares tokens, where it was said
	Accept      []string        `json:"accept,omitempty"`
	MostRounds  int             `json:"most_rounds,omitempty"` // over all sessions; 0: only the budget ends it
	LeftOut     []string        `json:"left_out,omitempty"`    // faults that were not drawn, with the reason
	Began       time.Time       `json:"began"`
	Took        time.Duration   `json:"took_ns"` // over all sessions
	Interrupted bool            `json:"interrupted,omitempty"`
	Troubles    []string        `json:"troubles,omitempty"` // of our own
	Cells       []string        `json:"cells"`              // that rounds could reach
	Sums        search.Sums     `json:"sums"`

	search.Log
}

// leastRounds is how many rounds must say something before a hunt says that it
// found nothing.
const leastRounds = 10

// Judge fills in the verdict.
func (r *Report) Judge() {
	open := slices.DeleteFunc(slices.Clone(r.Found), func(f *search.Found) bool { return slices.Contains(r.Accept, f.ID) })
	ground := fmt.Sprintf("%s, %s, %s", unit.Counted(r.Sums.Rounds, "round"), unit.Counted(r.Sums.Cells, "cell"), unit.Counted(r.Sums.States, "state"))
	switch {
	case len(open) > 0:
		r.Verdict, r.Why = checker.Fail, unit.Counted(len(kinds(open)), "kind")+" of violation in "+ground
	case len(r.Troubles) > 0:
		r.Verdict, r.Why = checker.HarnessError, r.Troubles[0]
	case r.Sums.Rounds == 0 && r.Sums.Void > 0 && !r.Interrupted:
		r.Verdict, r.Why = checker.HarnessError, "no round could be played: "+r.Rounds[len(r.Rounds)-1].Outcome.Void
	case r.Interrupted:
		r.Verdict, r.Why = checker.Inconclusive, "interrupted after "+ground+"; --resume goes on"
	case r.Sums.Rounds < leastRounds:
		r.Verdict, r.Why = checker.Inconclusive, fmt.Sprintf("too little ran: %s, want at least %d; --resume goes on", ground, leastRounds)
	case r.Sums.Void > r.Sums.Rounds:
		r.Verdict, r.Why = checker.Inconclusive, fmt.Sprintf("%d of %d rounds say nothing: the machine was too busy", r.Sums.Void, r.Sums.Void+r.Sums.Rounds)
	default:
		r.Verdict, r.Why = checker.Pass, "no violation in "+ground
	}
	if n := len(r.Found) - len(open); n > 0 && r.Verdict != checker.HarnessError {
		r.Why += fmt.Sprintf("; accepted: %s", strings.Join(ids(r.Found, r.Accept), " "))
	}
}

// kinds are the first of each kind of finding, in the order in which they were
// found.
func kinds(found []*search.Found) (first []*search.Found) {
	for _, f := range found {
		if !slices.ContainsFunc(first, func(g *search.Found) bool { return g.Same(f.Finding) }) {
			first = append(first, f)
		}
	}
	return first
}

func ids(found []*search.Found, of []string) (all []string) {
	for _, f := range found {
		if slices.Contains(of, f.ID) && !slices.Contains(all, f.ID) {
			all = append(all, f.ID)
		}
	}
	return all
}

// possible are the cells that faults of some names can reach.
func possible(names []string) (all []string) {
	var classes []coverage.Class
	for _, name := range names {
		for _, h := range []history.Header{{}, {Nodes: 5, Quorum: 3}} {
			few, _ := history.ParseTarget([]byte(`{"nodes":["n1"]}`))
			if c, ok := coverage.ClassOf(name, few, h); ok && !slices.Contains(classes, c) {
				classes = append(classes, c)
			}
		}
	}
	for _, c := range coverage.New(history.Header{}).Cells() {
		if slices.Contains(classes, c.Class) {
			all = append(all, c.Cell.String())
		}
	}
	return all
}

// Save writes hunt.json into dir, whole or not at all.
func (r *Report) Save(dir string) error {
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("write %s: %w", ResultsFile, err)
	}
	return reports.WriteFile(filepath.Join(dir, ResultsFile), append(printable.JSON(raw), '\n'))
}

// Load reads the hunt in dir.
func Load(dir string) (*Report, error) {
	raw, err := os.ReadFile(filepath.Join(dir, ResultsFile))
	if err != nil {
		return nil, fmt.Errorf("%s is no hunt's directory: %w", dir, err)
	}
	var r Report
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&r); err != nil || r.Schema != 1 {
		return nil, fmt.Errorf("%s: no hunt of this version: %w", filepath.Join(dir, ResultsFile), errors.Join(err, errSchema))
	}
	return &r, nil
}

var errSchema = errors.New("want schema 1")

// Text prints how the hunt ended, without its verdict.
func (r *Report) Text(w io.Writer, dir string) error {
	var out strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&out, "  %-9s  %s\n", label, printable.Line(fmt.Sprintf(format, args...)))
	}
	command := func(text string) { fmt.Fprintf(&out, "  %-9s  %s\n", "", text) } // which is never cut short
	s := r.Sums
	fmt.Fprintf(&out, "HUNT %s\n", printable.Line(fmt.Sprintf("%s  %s", r.Lock, r.Why)))
	line("rounds", "%d in %s that say something, %d that do not; %s operations; corpus %d", s.Rounds, unit.Span(r.Took), s.Void, unit.Count(s.Operations), s.Corpus)
	line("coverage", "%d of %d cells (phase × fault class), %d states", s.Cells, len(r.Cells), s.States)
	line("new?", "%s", r.Ground())
	for i, f := range kinds(r.Found) {
		r.printFinding(line, command, fmt.Sprintf("F%d", i+1), f, dir)
	}
	line("page", "%s", filepath.Join(dir, PageFile))
	_, err := io.WriteString(w, out.String())
	return err
}

// Ground says whether the last rounds still reached something new.
func (r *Report) Ground() string {
	s := r.Sums
	if s.Rounds == 0 {
		return "no round said anything"
	}
	words := "the last round reached new ground"
	if s.Quiet > 0 {
		words = fmt.Sprintf("%s since the last new cell or state", unit.Counted(s.Quiet, "round"))
	}
	if s.Rounds < leastRounds {
		return words + "; too few rounds to say how much is unseen"
	}
	return fmt.Sprintf("%s; of what the next one reaches about %s is new, some %.0f cells and states are unseen (Good–Turing, Chao)", words, unit.Percent(s.NextNew), s.Unseen)
}

func (r *Report) printFinding(line func(string, string, ...any), command func(string), label string, f *search.Found, dir string) {
	accepted := ""
	if slices.Contains(r.Accept, f.ID) {
		accepted = "  accepted"
	}
	line(label, "%s%s", describe(f.Finding), accepted)
	like := 0
	for _, g := range r.Found {
		if g.Same(f.Finding) {
			like++
		}
	}
	line("", "round %d; %s like it, by phase and fault", f.Number, unit.Counted(like-1, "other"))
	line("", "%s", r.shrunk(f))
	command(r.Play(f))
	if f.Small != nil {
		line("", "scenario %s", filepath.Join(dir, scenarioFile(label)))
	}
	line("", "witness %s", witness(f))
}

// witness is the best record of a finding: that of the small round.
func witness(f *search.Found) string {
	if f.Small != nil && f.Small.Run != "" {
		return f.Small.Run
	}
	return f.Run
}

// smallest is the round that is played for a finding.
func smallest(f *search.Found) search.Round {
	if f.Small != nil {
		return f.Small.Round
	}
	return f.Round
}

// describe says a finding in a line.
func describe(f search.Finding) string {
	words := []string{f.ID, f.Name}
	for _, part := range []string{f.Blame, strings.Trim(f.Phase+" × "+f.Fault, " ×")} {
		if part != "" {
			words = append(words, "·", part)
		}
	}
	return strings.Join(words, " ")
}

// shrunk says what became of making a finding small, or why nothing has yet.
func (r *Report) shrunk(f *search.Found) string {
	switch {
	case f.Small != nil:
		return shrunkWords(f.Small)
	case slices.Contains(r.Accept, f.ID):
		return "not made smaller: it is accepted"
	}
	return "not made smaller: the time was up before that was done; --resume goes on with it"
}

// shrunkWords says what became of making a finding small.
func shrunkWords(s *search.Shrink) string {
	b, a := s.Before, s.After
	if a == b {
		return fmt.Sprintf("not made smaller: shown again in %d of %d", s.Again, s.Of)
	}
	return fmt.Sprintf("shrunk %d→%d steps, %d→%d clients, %d→%d keys, %s→%s  shown again in %d of %d",
		b.Steps, a.Steps, b.Clients, a.Clients, b.Keys, a.Keys, unit.Span(b.Duration), unit.Span(a.Duration), s.Again, s.Of)
}

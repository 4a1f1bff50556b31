package reports

import (
	"fmt"
	"strings"

	"locktorture/checker"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/history"
)

// A Line is one labelled sentence of a verdict, the same in the terminal, in
// summary.md and in report.html.
type Line struct {
	Label string
	Text  string
}

// Headline says in one line what the verdict means, without its name.
func (r *Run) Headline() string {
	m := r.measured()
	grants := fmt.Sprintf("%s grants over %s (seed %s)", unit.Count(r.Report.Evidence.Grants), unit.Span(m.Duration), unit.Seed(r.Meta.Seed))
	switch r.Verdict() {
	case checker.Fail:
		return r.failure()
	case checker.HarnessError:
		return r.harm()
	case checker.SLOBreach:
		return fmt.Sprintf("%s missed; no %sviolation in %s", unit.Counted(r.missed()+len(r.Report.Breaches), "objective"), r.other(), grants)
	case checker.Inconclusive:
		nothing := "nothing " + strings.Replace(r.other(), "other", "else", 1) + "wrong was seen, and not enough was seen"
		if n := r.missed() + len(r.Report.Breaches); n > 0 {
			nothing = fmt.Sprintf("no %sviolation was seen, but %s missed, and not enough was seen to judge by", r.other(), unit.Counted(n, "objective"))
		}
		if r.Interrupted {
			return "interrupted: " + nothing
		}
		return nothing
	default:
		return fmt.Sprintf("no %sviolation in %s", r.other(), grants)
	}
}

// other is the word that is due where nothing is said to have been found beside what is
// accepted.
func (r *Run) other() string {
	if r.Qualified() != "" {
		return "other "
	}
	return ""
}

// harm names the first failure of the harness: the others mostly follow from it.
func (r *Run) harm() string {
	all := r.Troubles()
	if len(all) == 0 {
		return "the harness failed"
	}
	text := "the harness failed: " + all[0]
	if n := len(all) - 1; n > 0 {
		text += fmt.Sprintf("  (and %d more)", n)
	}
	return text
}

func (r *Run) failure() string {
	worst := WorstFirst(r.Report)
	if len(worst) == 0 {
		return "a violation without a finding"
	}
	text := worst[0].Name
	if len(r.Stories) > 0 {
		text = r.Stories[0].Title
	}
	if n := r.tally(counts).total(); n > 1 {
		text += fmt.Sprintf("  (1 of %s witnesses)", unit.Count(n))
	}
	return text
}

// Violations counts the violations, those that the checker only counted
// included.
func (r *Run) Violations() int {
	listed := map[string]int{}
	for _, f := range r.Report.Violations {
		listed[f.ID]++
	}
	n := len(r.Report.Violations)
	for id, total := range r.Report.Totals {
		n += max(total-listed[id], 0)
	}
	return n
}

func (r *Run) missed() int {
	n := 0
	for _, s := range r.SLOs {
		if !s.OK {
			n++
		}
	}
	return n
}

// Basis lists what the verdict is based on.
func (r *Run) Basis() []Line {
	lines := []Line{{"tried", r.tried()}, {"judges", r.judged()}}
	if text := r.expected(); text != "" {
		lines = append(lines, Line{"expected", text})
	}
	if all := r.accepted(); len(all) > 0 {
		lines = append(lines, Line{"accepted", strings.Join(all, "  ") + " (--accept)"})
	}
	if r.Canary != nil {
		lines = append(lines, Line{"canary", r.Canary.String()})
	}
	ev := r.Report.Evidence
	unknowns := "none"
	if ev.Unknown > 0 {
		unknowns = fmt.Sprintf("%s operations, %s resolved: %s by receipts, %s by the store's log",
			unit.Count(ev.Unknown), unit.Count(ev.Resolved), unit.Count(ev.ByReceipts), unit.Count(ev.Resolved-ev.ByReceipts))
	}
	lines = append(lines, Line{"unknowns", unknowns})
	if text := r.errors(); text != "" {
		lines = append(lines, Line{"errors", text})
	}
	if bound := r.bound(); bound != "" {
		lines = append(lines, Line{"bound", bound})
	}
	lines = append(lines, r.Covered()...)
	lines = append(lines, Line{"latency", r.latency()})
	if demand := r.demand(); demand != "" {
		lines = append(lines, Line{"demand", demand})
	}
	for _, w := range r.Meta.Workers {
		lines = append(lines, Line{"worker", w.String()})
	}
	for _, note := range r.Report.Notes {
		lines = append(lines, Line{"note", note})
	}
	for _, warning := range r.Warnings {
		lines = append(lines, Line{"warning", warning})
	}
	if r.Meta.Testbed.Embedded {
		lines = append(lines, Line{"testbed", "embedded nodes: no evidence about Redis itself"})
	}
	return lines
}

// String says whether the mutant was caught, and how soon.
func (c *Canary) String() string {
	text := "mutant " + c.Mutant
	switch {
	case !c.Caught:
		text += " was NOT caught in the same configuration"
	case c.After > 0:
		text += " caught in " + unit.Span(c.After) + " in the same configuration"
	default:
		text += " caught in the same configuration"
	}
	if c.Note != "" {
		text += ": " + c.Note
	}
	return text
}

func (r *Run) tried() string {
	ev := r.Report.Evidence
	return fmt.Sprintf("%s; %s with a fault in force; %s; %s fenced off",
		r.faults(), unit.Counted(ev.FaultedHandovers, "hand-over"), unit.Counted(ev.Takeovers, "takeover"), unit.Counted(ev.FenceSaves, "stale write"))
}

// A FaultCount counts what became of a run's faults.
type FaultCount struct {
	Asked      int `json:"asked"`              // by name, by a scenario's steps, or by a plan before it left any out
	Planned    int `json:"planned"`            // steps of the schedule; a fault without a time of its own is repeated
	Begun      int `json:"begun"`              // were injected
	TookEffect int `json:"bit"`                // took effect, as a receipt proves
	Healed     int `json:"healed"`             // or over at once
	Silences   int `json:"silences,omitempty"` // of workers, which nobody asked for: they are none of the others
}

// FaultCount counts what became of the faults.
func (r *Run) FaultCount() FaultCount {
	var c FaultCount
	for _, f := range r.measured().Faults {
		if f.Name == history.WorkerSilent {
			c.Silences++
			continue
		}
		if f.Name == history.WorkerClock || f.Replaced {
			continue
		}
		c.Planned++
		if f.Started == stats.Never {
			continue
		}
		c.Begun++
		if f.TookEffect {
			c.TookEffect++
		}
		if f.Mended() {
			c.Healed++
		}
	}
	c.Planned = max(c.Planned, r.Meta.Faults)
	if c.Asked = r.Meta.Asked; c.Asked == 0 {
		c.Asked = c.Planned
	}
	return c
}

// faults says what became of the faults.
func (r *Run) faults() string {
	c := r.FaultCount()
	text := "no faults"
	if c.Asked > 0 {
		text = fmt.Sprintf("%s asked for, %d planned, %d begun, %d took effect, %d healed", unit.Counted(c.Asked, "fault"), c.Planned, c.Begun, c.TookEffect, c.Healed)
	}
	if c.Silences > 0 {
		text += "; " + unit.Counted(c.Silences, "silence") + " of workers"
	}
	return text
}

// expected counts the violations that the scenario means to see.
func (r *Run) expected() string {
	return strings.Join(r.tally(func(f checker.Finding) bool { return f.Expected }).texts(), "  ")
}

// accepted counts the violations that the scenario accepts, beyond those that it
// means to see.
func (r *Run) accepted() []string {
	return r.tally(func(f checker.Finding) bool { return f.Accepted && !f.Expected }).texts()
}

// Found counts the violations that nobody accepts or means to see by their classes, worst first.
func (r *Run) Found() []string { return r.tally(counts).texts() }

// Untold counts those of Found that no story tells.
func (r *Run) Untold() int {
	n := r.tally(counts).total()
	for _, s := range r.Stories {
		if counts(s.Finding) {
			n--
		}
	}
	return n
}

// counts reports whether a violation is one that nobody accepts or means to see.
func counts(f checker.Finding) bool { return !f.Accepted && !f.Expected }

// Qualified follows the name of the verdict wherever that is printed for people:
// what was seen and accepted.
func (r *Run) Qualified() string {
	if all := r.accepted(); len(all) > 0 {
		return ", accepted: " + strings.Join(all, "  ")
	}
	return ""
}

// A tally is how many violations there are of each class, those that the checker only counted
// included, the worst class first.
type tally struct {
	ids   []string
	count map[string]int
}

func (r *Run) tally(wanted func(checker.Finding) bool) tally {
	t := tally{count: map[string]int{}}
	others := map[string]int{}
	for _, f := range WorstFirst(r.Report) {
		if !wanted(f) {
			others[f.ID]++
			continue
		}
		if t.count[f.ID] == 0 {
			t.ids = append(t.ids, f.ID)
		}
		t.count[f.ID]++
	}
	for _, id := range t.ids {
		t.count[id] = max(t.count[id], r.Report.Totals[id]-others[id])
	}
	return t
}

func (t tally) total() (n int) {
	for _, of := range t.count {
		n += of
	}
	return n
}

func (t tally) texts() (all []string) {
	for _, id := range t.ids {
		all = append(all, fmt.Sprintf("%s ×%d", id, t.count[id]))
	}
	return all
}

func (r *Run) judged() string {
	if r.Report.Verdict == "" {
		return "nothing was judged"
	}
	var words []string
	for _, j := range Judges(r.Report) {
		word := j.Name + " " + j.Status()
		if j.Name == "liveness" && j.Status() == "ok" && r.measured().Fairness.LongestWait > 0 {
			word += " (longest wait " + unit.Span(r.measured().Fairness.LongestWait) + ")"
		}
		if j.Void != "" {
			word += " (" + j.Void + ")"
		}
		if n := len(j.Suspicious); n > 0 {
			word += fmt.Sprintf(" (%d suspicious)", n)
		}
		words = append(words, word)
	}
	return strings.Join(words, " · ")
}

// bound says what follows from hand-overs of which none was wrong.
func (r *Run) bound() string {
	n := r.Report.Evidence.FaultedHandovers
	if n == 0 || r.Violations() > 0 {
		return ""
	}
	return Bound(n)
}

// Bound says what follows from n hand-overs with a fault in force of which none was wrong. It is the rule of
// three: nothing in n trials bounds the rate by 3/n at 95 %.
// Source: J. Hanley and A. Lippman-Hand, If Nothing Goes Wrong, Is Everything All Right?, JAMA 1983.
func Bound(n int) string {
	return fmt.Sprintf("0 of %s faulted hand-overs: rate < %s (95 %%)", unit.Count(n), unit.Percent(min(3/float64(n), 1)))
}

// demand says how much of the demanded load was served; nothing where the history does not say
// how much was demanded.
func (r *Run) demand() string {
	d := r.measured().Demand
	if d.Offered == 0 {
		return ""
	}
	text := fmt.Sprintf("offered %s, served %s", unit.Count(d.Offered), unit.Count(d.Served))
	if d.Judged() > 0 {
		text += " (" + unit.Percent(float64(d.Served)/float64(d.Judged())) + ")"
	}
	for _, one := range []struct {
		n    int64
		what string
	}{{d.Dropped, "dropped"}, {d.Abandoned, "abandoned"}, {d.Unserved, "unserved at the end"}, {d.Pending, "just begun at the end"}} {
		if one.n > 0 || one.what == "dropped" {
			text += fmt.Sprintf(", %s %s", one.what, unit.Count(one.n))
		}
	}
	return text
}

func (r *Run) latency() string {
	m := r.measured()
	q := m.Find(stats.Acquire, stats.All)
	if q.Count == 0 {
		return "nothing was acquired"
	}
	text := fmt.Sprintf("acquire p50 %s  p99 %s  p99.9 %s  max %s   (service p99 %s",
		unit.Latency(q.P50), unit.Latency(q.P99), unit.Latency(q.P999), unit.Latency(q.Max),
		unit.Latency(m.Find(stats.AcquireService, stats.All).P99))
	if m.Lag.Count > 0 {
		text += "; lag p99 " + unit.Latency(m.Lag.P99)
	}
	if m.Dropped > 0 && m.Demand.Offered == 0 {
		text += "; " + unit.Counted(m.Dropped, "arrival") + " dropped"
	}
	if m.Response.Failed > 0 && m.Response.AtLeast(0.99) {
		text += "; of all that was asked for p99 > " + unit.Latency(m.Response.P99)
	}
	return text + ")"
}

// How many different errors the verdict shows, and how much of each: bytes.
const (
	mostErrors     = 3
	longestExcerpt = 100
)

// errors says what operations ended with, most often. That links and servers failed is what
// faults do: such errors are only counted, the others are what somebody answered.
func (r *Run) errors() string {
	var texts []string
	var network int64
	more := 0
	for _, e := range r.measured().Errors {
		switch {
		case history.OfNetwork(e.Text):
			network += e.Count()
		case len(texts) == mostErrors:
			more++
		default:
			texts = append(texts, fmt.Sprintf("%s %q ×%s", e.Op, history.Cut(strings.TrimPrefix(e.Text, e.Op+": "), longestExcerpt, "…"), unit.Count(e.Count())))
		}
	}
	if more > 0 {
		texts = append(texts, fmt.Sprintf("%d more in results.json", more))
	}
	if network > 0 {
		texts = append(texts, fmt.Sprintf("%s of connections and time-outs", unit.Count(network)))
	}
	return strings.Join(texts, " · ")
}

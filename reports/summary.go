package reports

import (
	"fmt"
	"os"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/history"
)

// maxSummary keeps summary.md below what GitHub takes for a step.
const maxSummary = 900_000

// Summary is summary.md: the verdict, the stories, and tables, as text only.
func (r *Run) Summary() string {
	r = r.Printable()
	var b strings.Builder
	v := r.Verdict()
	fmt.Fprintf(&b, "## VERDICT %s%s: %s\n\n%s\n\n", v, md(r.Qualified()), md(r.Headline()), md(r.Meta.Scenario+" · "+r.subject()+" · "+r.server()))
	r.summaryStories(&b)
	if missing := r.Missing(); len(missing) > 0 && v != checker.Fail {
		b.WriteString("### Not enough evidence\n\n")
		for _, f := range missing {
			fmt.Fprintf(&b, "- ✗ %s %s\n", f.ID, md(f.Text))
		}
		b.WriteByte('\n')
	}
	table(&b, "What it rests on", []string{"", ""}, r.basisRows())
	table(&b, "Objectives", []string{"", "objective", "observed"}, r.sloRows())
	table(&b, "Faults", faultHead, r.faultRows())
	if head, rows := r.coverageTable().rows(); r.FaultCount().Planned > 0 {
		table(&b, "Coverage: faults in force at each phase of the lock's life", head, rows)
	}
	table(&b, "Latency", latencyHead, r.latencyRows())
	fmt.Fprintf(&b, "Replay: `%s`\n", r.Replay(""))
	return clip(b.String(), maxSummary)
}

func (r *Run) summaryStories(b *strings.Builder) {
	for _, s := range r.Stories {
		fmt.Fprintf(b, "### %s %s\n\n```\n%s```\n\n%s\n\n", s.ID, md(s.Title), StoryText(s, ""), md(s.Why))
		if s.Remedy != "" {
			fmt.Fprintf(b, "Remedy: %s\n\n", md(s.Remedy))
		}
		fmt.Fprintf(b, "Replay: `%s`\n\n", r.Replay(s.ID))
	}
}

func (r *Run) basisRows() [][]string {
	var rows [][]string
	for _, l := range r.Basis() {
		rows = append(rows, []string{l.Label, l.Text})
	}
	return rows
}

func (r *Run) sloRows() [][]string {
	var rows [][]string
	for _, s := range r.SLOs {
		rows = append(rows, []string{tick(s.OK), s.SLO, s.Observed})
	}
	for _, f := range r.Report.Breaches {
		rows = append(rows, []string{tick(false), f.ID + " " + f.Name, f.Text})
	}
	return rows
}

func tick(ok bool) string {
	if ok {
		return "✓"
	}
	return "✗"
}

var faultHead = []string{"fault", "target", "started", "ended", "took effect", "healed", "first grant after", "settled after", "receipts"}

// faultRows lists what became of every fault.
func (r *Run) faultRows() [][]string {
	var rows [][]string
	for _, f := range r.measured().Faults {
		rows = append(rows, []string{
			f.Name, f.Target, moment(f.Started), moment(f.End()), tick(f.TookEffect), tick(f.Mended()),
			after(f.FirstGrant), after(f.Settled), strings.Join(append(f.Receipts, errText(f.Err)...), "; "),
		})
	}
	return rows
}

func errText(err string) []string {
	if err == "" {
		return nil
	}
	return []string{"error: " + err}
}

var latencyHead = []string{"series", "phase", "count", "p50", "p90", "p99", "p99.9", "p99.99", "max"}

// latencyRows lists every series, over all phases and by phase.
func (r *Run) latencyRows() [][]string {
	var rows [][]string
	for _, l := range r.measured().Latency {
		rows = append(rows, []string{
			string(l.Series), l.Phase, unit.Count(l.Count), unit.Latency(l.P50), unit.Latency(l.P90),
			unit.Latency(l.P99), unit.Latency(l.P999), unit.Latency(l.P9999), unit.Latency(l.Max),
		})
	}
	return rows
}

func table(b *strings.Builder, title string, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "### %s\n\n| %s |\n|%s\n", title, strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
	for _, row := range rows {
		for i := range row {
			row[i] = md(row[i])
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
	}
	b.WriteByte('\n')
}

// md keeps a text from being taken for markup, or from leaving its cell.
func md(s string) string {
	return strings.NewReplacer("\n", " ", "|", `\|`, "<", "&lt;", "`", "'", "*", `\*`, "[", `\[`).Replace(s)
}

// clip cuts s to at most n bytes, between two lines, and says so.
func clip(s string, n int) string {
	const note = "\n…\n"
	if len(s) <= n {
		return s
	}
	s = history.Cut(s, n-len(note), "")
	if i := strings.LastIndexByte(s, '\n'); i > 0 {
		s = s[:i]
	}
	return s + note
}

// AppendSummary adds the summary to the file that $GITHUB_STEP_SUMMARY names.
func AppendSummary(path string, r interface{ Summary() string }) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("append summary: %w", err)
	}
	_, err = f.WriteString(r.Summary())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("append summary: %w", err)
	}
	return nil
}

// maxAnnotations is how many annotations a run may add to a build.
const maxAnnotations = 5

// Annotations are the lines that make GitHub show what went wrong beside a
// build.
func (r *Run) Annotations() []string {
	r = r.Printable()
	var out []string
	add := func(title, text string) {
		if len(out) < maxAnnotations {
			out = append(out, annotation(title, text))
		}
	}
	for _, s := range r.Stories {
		if !s.Finding.Expected && !s.Finding.Accepted {
			add(s.Finding.ID+" "+s.ID, s.Title+" ("+r.Replay(s.ID)+")")
		}
	}
	for _, h := range r.Troubles() {
		add("harness error", h)
	}
	for _, f := range r.Missing() {
		add("inconclusive", f.Text)
	}
	for _, s := range r.SLOs {
		if !s.OK {
			add("SLO missed", s.SLO+", observed "+s.Observed)
		}
	}
	return out
}

// annotation is one line of GitHub's language for errors.
func annotation(title, text string) string {
	text = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
	return fmt.Sprintf("::error title=%s::%s", strings.NewReplacer(",", " ", ":", " ").Replace(title), text)
}

// moment writes a moment of the run in seconds.
func moment(at time.Duration) string {
	if at == stats.Never {
		return "–"
	}
	return unit.Seconds(at)
}

// after writes how long something took that may never have come.
func after(d time.Duration) string {
	if d == stats.Never {
		return "–"
	}
	return unit.Span(d)
}

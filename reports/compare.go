package reports

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/reports/internal/files"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
)

// A Comparison compares two runs.
type Comparison struct {
	A, B     string // the runs
	Verdicts [2]string
	Rows     []Difference
	Settings []string // what was configured differently
	Cautions []string // why the figures may not be comparable
}

// A Difference is one figure of both runs.
type Difference struct {
	Name   string
	A, B   string
	Change string // of B against A; empty when it says nothing
}

// Compare sets b beside a. Both may have been loaded without their histories.
func Compare(a, b *Run) Comparison {
	a, b = a.Printable(), b.Printable()
	c := Comparison{
		A: title(a), B: title(b), Verdicts: [2]string{string(a.Verdict()), string(b.Verdict())},
		Settings: settings(a.Meta, b.Meta), Cautions: cautions(a, b),
	}
	x, y := a.measured(), b.measured()
	c.rate("grants/s", x.GrantsPerSecond(), y.GrantsPerSecond())
	c.rate("attempts/s", x.AttemptsPerSecond(), y.AttemptsPerSecond())
	for _, s := range stats.AllSeries {
		p, q := x.Find(s, stats.All), y.Find(s, stats.All)
		if p.Count == 0 && q.Count == 0 {
			continue
		}
		c.duration(string(s)+" p50", p.P50, q.P50)
		c.duration(string(s)+" p99", p.P99, q.P99)
		c.duration(string(s)+" max", p.Max, q.Max)
	}
	for _, of := range []struct {
		name  string
		count func(stats.Outcomes) int64
	}{
		{"contended", func(o stats.Outcomes) int64 { return o.Contended }},
		{"error", func(o stats.Outcomes) int64 { return o.Error }},
		{"unknown", func(o stats.Outcomes) int64 { return o.Unknown }},
	} {
		c.Rows = append(c.Rows, Difference{Name: of.name, A: share(of.count, x.Outcomes), B: share(of.count, y.Outcomes)})
	}
	c.number("Jain's index", x.Fairness.Jain, y.Fairness.Jain)
	c.duration("longest wait", x.Fairness.LongestWait, y.Fairness.LongestWait)
	c.duration("lag p99", x.Lag.P99, y.Lag.P99)
	c.evidence(a, b)
	return c
}

func title(r *Run) string {
	name := r.Dir
	if name == "" {
		name = r.Meta.Scenario
	}
	return name + " (" + r.subject() + ")"
}

func (c *Comparison) evidence(a, b *Run) {
	x, y := a.Report.Evidence, b.Report.Evidence
	for _, row := range []struct {
		name string
		x, y int
	}{
		{"violations", a.Violations(), b.Violations()}, {"suspicious", len(a.Report.Suspicious), len(b.Report.Suspicious)},
		{"grants", x.Grants, y.Grants}, {"hand-overs under faults", x.FaultedHandovers, y.FaultedHandovers},
		{"takeovers", x.Takeovers, y.Takeovers}, {"fence saves", x.FenceSaves, y.FenceSaves}, {"unknown outcomes", x.Unknown, y.Unknown},
	} {
		c.Rows = append(c.Rows, Difference{Name: row.name, A: unit.Count(row.x), B: unit.Count(row.y)})
	}
}

func (c *Comparison) rate(name string, a, b float64) {
	c.Rows = append(c.Rows, Difference{name, unit.Rate(a), unit.Rate(b), change(a, b)})
}

func (c *Comparison) number(name string, a, b float64) {
	c.Rows = append(c.Rows, Difference{name, unit.Number(a), unit.Number(b), change(a, b)})
}

func (c *Comparison) duration(name string, a, b time.Duration) {
	c.Rows = append(c.Rows, Difference{name, unit.Latency(a), unit.Latency(b), change(float64(a), float64(b))})
}

func share(of func(stats.Outcomes) int64, o stats.Outcomes) string {
	return unit.Percent(float64(of(o)) / float64(max(o.Attempts(), 1)))
}

// change is b against a in per cent.
func change(a, b float64) string {
	if a <= 0 || b <= 0 {
		return ""
	}
	return unit.Change(b/a - 1)
}

// cautions says why two runs may differ for other reasons than the lock.
func cautions(a, b *Run) []string {
	out := []string{"One run each: a difference is no proof. Run both several times, in turn, and give bench.txt to benchstat."}
	if a.Meta.Host != b.Meta.Host {
		out = append(out, fmt.Sprintf("Different hosts: %d CPUs %s/%s against %d CPUs %s/%s.",
			a.Meta.Host.CPUs, a.Meta.Host.OS, a.Meta.Host.Arch, b.Meta.Host.CPUs, b.Meta.Host.OS, b.Meta.Host.Arch))
	}
	if a.server() != b.server() {
		out = append(out, "Different servers: "+a.server()+" against "+b.server()+".")
	}
	if a.Meta.Seed != b.Meta.Seed {
		out = append(out, "Different seeds: "+unit.Seed(a.Meta.Seed)+" against "+unit.Seed(b.Meta.Seed)+".")
	}
	return out
}

// settings lists the fields of the configurations that differ.
func settings(a, b Meta) []string {
	x, y := map[string]string{}, map[string]string{}
	flatten(a.Config, "", x)
	flatten(b.Config, "", y)
	names := map[string]bool{}
	for name := range x {
		names[name] = true
	}
	for name := range y {
		names[name] = true
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if x[name] != y[name] && name != "out" && name != "seed" {
			out = append(out, fmt.Sprintf("%s: %s against %s", name, orNone(x[name]), orNone(y[name])))
		}
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "unset"
	}
	return s
}

// flatten lists the leaves of a JSON value by their paths.
func flatten(raw json.RawMessage, path string, into map[string]string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		var flat bytes.Buffer
		if len(raw) > 0 && json.Compact(&flat, raw) == nil {
			into[path] = setting(path, flat.String())
		}
		return
	}
	for name, value := range fields {
		flatten(value, strings.TrimPrefix(path+"."+name, "."), into)
	}
}

// lengths are the settings that run.json holds as nanoseconds.
var lengths = []string{"ttl", "duration", "final", "load.wait", "load.patience", "load.timeout", "bounds.wait", "bounds.recovery", "bounds.loss", "bounds.undo", "bounds.wake", "bounds.woken"}

// setting writes a value of the configuration as the command line takes it.
func setting(path, value string) string {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || !slices.Contains(lengths, path) {
		return value
	}
	return time.Duration(n).String()
}

// Text lays the comparison out for a terminal.
func (c Comparison) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "COMPARE\n  A  %s  %s\n  B  %s  %s\n\n", c.Verdicts[0], c.A, c.Verdicts[1], c.B)
	fmt.Fprintf(&b, "  %-24s %14s %14s %10s\n", "", "A", "B", "B to A")
	for _, r := range c.Rows {
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("  %-24s %14s %14s %10s", r.Name, r.A, r.B, r.Change), " "))
	}
	list := func(head string, all []string) {
		if len(all) > 0 {
			fmt.Fprintf(&b, "\n  %s\n", head)
		}
		for _, one := range all {
			fmt.Fprintf(&b, "    %s\n", one)
		}
	}
	list("configured differently", c.Settings)
	list("mind", c.Cautions)
	_, err := io.WriteString(w, b.String())
	return err
}

//go:embed compare.html
var compareText string

var compareTemplate = template.Must(template.New("compare").Parse(compareText))

// Page writes one HTML file that needs neither network nor script.
func (c Comparison) Page(w io.Writer) error {
	return files.Page(w, compareTemplate, struct {
		Comparison
		Style   template.CSS
		Classes [2]string
	}{c, template.CSS(pageStyle), [2]string{Class(checker.Verdict(c.Verdicts[0])), Class(checker.Verdict(c.Verdicts[1]))}})
}

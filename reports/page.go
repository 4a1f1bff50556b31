package reports

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"locktorture/checker"
	"locktorture/reports/internal/files"
	"locktorture/reports/stats"
	"locktorture/reports/story"
	"locktorture/reports/unit"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// Style is the style sheet of every page.
func Style() template.CSS { return template.CSS(pageStyle) }

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"seconds": unit.Seconds, "latency": unit.Latency, "span": unit.Span, "seed": unit.Seed,
	"count": unit.Count[int64], "tick": tick, "allowance": Allowance,
}).Parse(pageText))

// A view is what report.html shows, ready to be laid out.
type view struct {
	*Run
	Stats   *stats.Summary // never nil
	Style   template.CSS
	Verdict checker.Verdict
	Class   string
	Subject string
	Server  string
	Config  string
	Command string
	Figures map[string]figureView
	Told    []storyView

	FaultTable, LatencyTable, RecoveryTable, SLOTable tableView
	TimelineTable, ClientTable, MarginTable           tableView
	JudgeTable, SuspiciousTable                       tableView
	CoverageTable                                     coverageTable
}

// A figureView is an inline SVG, which carries its description, and the
// caption below it.
type figureView struct {
	SVG     template.HTML
	Caption string
}

type tableView struct {
	Head []string
	Rows [][]string
}

type storyView struct {
	story.Story
	Figure  figureView
	Replay  string
	Beliefs tableView
	Truth   tableView
	Raw     []rawLine
	RawCut  int
}

// A rawLine is one event of the history.
type rawLine struct {
	Index int
	Text  string
	Proof bool // it is among the witnesses
}

// page lays out report.html: one file that needs neither network nor script.
func (r *Run) page(figures []drawing) ([]byte, error) {
	v := view{
		Run: r, Stats: r.measured(), Style: Style(), Verdict: r.Verdict(), Class: Class(r.Verdict()),
		Subject: r.subject(), Server: r.server(), Config: r.config(), Command: strings.Join(r.Meta.Argv, " "),
		Figures:      map[string]figureView{},
		FaultTable:   tableView{faultHead, r.faultRows()},
		LatencyTable: tableView{latencyHead, r.latencyRows()},
		SLOTable:     tableView{[]string{"", "objective", "observed"}, r.sloRows()},
	}
	for _, f := range figures {
		// The SVG is our own drawing; text in it was escaped when it was drawn.
		v.Figures[f.Name] = figureView{template.HTML(f.svg), f.Alt}
	}
	for _, s := range r.Stories {
		f := v.Figures["witness-"+s.ID]
		f.Caption = "" // the story below says the same
		v.Told = append(v.Told, r.storyView(s, f))
	}
	v.JudgeTable, v.SuspiciousTable = r.judgeTable(), r.suspiciousTable()
	v.TimelineTable, v.RecoveryTable = r.timelineTable(), r.recoveryTable()
	v.CoverageTable = r.coverageTable()
	v.ClientTable, v.MarginTable = r.clientTable(), r.marginTable()
	var out bytes.Buffer
	if err := files.Page(&out, pageTemplate, v); err != nil {
		return nil, fmt.Errorf("lay out %s: %w", ReportFile, err)
	}
	return out.Bytes(), nil
}

// Class names the colour of a verdict in the style of our pages.
func Class(v checker.Verdict) string {
	switch v {
	case checker.Pass:
		return "pass"
	case checker.Fail:
		return "fail"
	default:
		return "open"
	}
}

// config is the resolved configuration, one line per field.
func (r *Run) config() string {
	var out bytes.Buffer
	if json.Indent(&out, r.Meta.Config, "", "  ") != nil {
		return string(r.Meta.Config)
	}
	return out.String()
}

// maxRaw is how many raw operations a story shows.
const maxRaw = 400

func (r *Run) storyView(s story.Story, f figureView) storyView {
	v := storyView{Story: s, Figure: f, Replay: r.Replay(s.ID), Beliefs: beliefTable(s), Truth: truthTable(s)}
	proof := map[int]bool{}
	for _, i := range s.Finding.Witness {
		proof[i] = true
	}
	for _, e := range s.Events[:min(len(s.Events), maxRaw)] {
		who, text := story.Sentence(e)
		line := fmt.Sprintf("%10s  %-8s  %s", unit.Seconds(e.Time), who, text)
		v.Raw = append(v.Raw, rawLine{e.Index, line, proof[e.Index]})
	}
	v.RawCut = len(s.Events) - len(v.Raw)
	return v
}

// beliefTable lists what clients were told.
func beliefTable(s story.Story) tableView {
	t := tableView{Head: []string{"who was told", "token", "from", "until", "promised until", "release answered"}}
	for _, h := range s.Holds {
		released := "–"
		if h.Released > 0 {
			released = unit.Seconds(h.Released)
		}
		t.Rows = append(t.Rows, []string{
			h.Owner, tokenText(h.Fence), unit.Seconds(h.From), unit.Seconds(h.To), unit.Seconds(h.Deadline), released,
		})
	}
	return t
}

// tokenText writes a fencing token; a lease may have none.
func tokenText(fence uint64) string {
	if fence == 0 {
		return "–"
	}
	return fmt.Sprint(fence)
}

// truthTable lists what the nodes stored.
func truthTable(s story.Story) tableView {
	t := tableView{Head: []string{"node", "stored", "whose lease", "from", "until"}}
	for _, one := range s.Stored {
		what := cmp.Or(one.Holder, "nothing")
		if one.Silent {
			what = "did not answer"
		}
		t.Rows = append(t.Rows, []string{one.Node, what, cmp.Or(one.Owner, "–"), unit.Seconds(one.From), unit.Seconds(one.To)})
	}
	return t
}

func (r *Run) judgeTable() tableView {
	t := tableView{Head: []string{"property", "anomalies", "result", "violations", "suspicious"}}
	for _, j := range Judges(r.Report) {
		t.Rows = append(t.Rows, []string{
			j.Name, strings.Join(j.IDs, " "), j.Status(), unit.Count(len(j.Violations) + len(j.Expected) + len(j.Accepted)), unit.Count(len(j.Suspicious)),
		})
	}
	return t
}

func (r *Run) suspiciousTable() tableView {
	t := tableView{Head: []string{"id", "key", "what was seen"}}
	for _, f := range r.Report.Suspicious {
		if len(t.Rows) == 50 {
			break
		}
		t.Rows = append(t.Rows, []string{f.ID, f.Key, f.Text})
	}
	return t
}

// timelineRows is how many stretches the timeline's table has.
const timelineRows = 20

func (r *Run) timelineTable() tableView {
	m := r.measured()
	t := tableView{Head: []string{"from (s)", "acquired", "contended", "error", "unknown", "highest p50", "highest p99", "max"}}
	per := max((len(m.Windows)+timelineRows-1)/timelineRows, 1)
	for i := 0; i < len(m.Windows); i += per {
		var sum stats.Window
		for _, w := range m.Windows[i:min(i+per, len(m.Windows))] {
			sum.Outcomes = sum.Outcomes.Plus(w.Outcomes)
			sum.P50, sum.P99, sum.Max = max(sum.P50, w.P50), max(sum.P99, w.P99), max(sum.Max, w.Max)
		}
		o, latencies := sum.Outcomes, []string{"–", "–", "–"}
		if o.Acquired > 0 {
			latencies = []string{unit.Latency(sum.P50), unit.Latency(sum.P99), unit.Latency(sum.Max)}
		}
		t.Rows = append(t.Rows, append([]string{fmt.Sprintf("%.1f", m.Windows[i].Start.Seconds()), unit.Count(o.Acquired), unit.Count(o.Contended),
			unit.Count(o.Error), unit.Count(o.Unknown)}, latencies...))
	}
	return t
}

func (r *Run) recoveryTable() tableView {
	t := tableView{Head: []string{"fault", "target", "lasted", "first grant after", "as before after"}}
	for _, f := range r.measured().Faults {
		end := f.End()
		if end == stats.Never {
			continue
		}
		t.Rows = append(t.Rows, []string{f.Name, f.Target, unit.Span(end - f.Started), after(f.FirstGrant), after(f.Settled)})
	}
	return t
}

// maxClientRows bounds the table of clients.
const maxClientRows = 64

func (r *Run) clientTable() tableView {
	t := tableView{Head: []string{"client", "attempts", "grants", "longest wait", "longest without a grant"}}
	for _, c := range r.measured().Fairness.Clients {
		if len(t.Rows) == maxClientRows {
			break
		}
		t.Rows = append(t.Rows, []string{c.Name, unit.Count(c.Attempts), unit.Count(c.Grants), unit.Latency(c.LongestWait), unit.Span(c.Drought)})
	}
	return t
}

func (r *Run) marginTable() tableView {
	m := r.measured().Margin
	row := func(name string, s stats.Signed) []string {
		if s.Count+s.Negative == 0 {
			return []string{name, "0", "–", "–", "–", "–"}
		}
		return []string{name, unit.Count(s.Count + s.Negative), unit.Latency(s.Min), unit.Latency(s.P50), unit.Latency(s.Max), unit.Count(s.Negative)}
	}
	return tableView{
		Head: []string{"", "count", "least", "median", "greatest", "below zero"},
		Rows: [][]string{row("lease left at the last write", m.Validity), row("gap between holders", m.Gap)},
	}
}

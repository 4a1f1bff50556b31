package hunt

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"locktorture/cmd/torture/internal/gallery"
	"locktorture/cmd/torture/internal/search"
	"locktorture/reports"
	"locktorture/reports/unit"
	"locktorture/workload/history/coverage"
	"locktorture/workload/history/printable"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("hunt").Funcs(template.FuncMap{
	"seconds": unit.Seconds, "span": unit.Span, "seed": unit.Seed, "count": unit.Count[int], "join": strings.Join, "setting": unit.Setting,
	"svg": func(b []byte) template.HTML { return template.HTML(b) }, // our own drawing; text in it was escaped when it was drawn
}).Parse(pageText))

// A finding is one kind of finding as the page shows it.
type finding struct {
	*search.Found
	Label, Title, Shrunk, Command, Scenario, Witness string
	Accepted                                         bool
	Like                                             []string // others of its kind, by phase and fault
	Proof                                            *gallery.Proof
}

// A coverageRow is one phase of the coverage table: in how many rounds it met each
// class of faults; −1 where a class cannot matter, or none of its faults was drawn.
type coverageRow struct {
	Phase string
	Cells []int
}

// Page lays the hunt out: one file that needs neither network nor script.
func (r *Report) Page(dir string) ([]byte, error) {
	v := struct {
		Report
		Style    template.CSS
		Class    string
		Findings []finding
		Classes  []string
		Table    []coverageRow
		Curve    template.HTML
	}{Report: printable.Of(*r), Style: reports.Style() + template.CSS(pageStyle), Class: reports.Class(r.Verdict), Curve: r.curve()}
	for i, f := range kinds(r.Found) {
		one := printable.Of(r.finding(fmt.Sprintf("F%d", i+1), f, dir))
		one.Command = r.Play(f) // which is never cut short
		v.Findings = append(v.Findings, one)
	}
	v.Classes, v.Table = r.table()
	var out bytes.Buffer
	if err := page.Execute(&out, &v); err != nil {
		return nil, fmt.Errorf("lay out hunt: %w", err)
	}
	return out.Bytes(), nil
}

func (r *Report) finding(label string, f *search.Found, dir string) finding {
	one := finding{
		Found: f, Label: label, Title: describe(f.Finding), Shrunk: r.shrunk(f), Command: r.Play(f), Witness: witness(f),
		Accepted: slices.Contains(r.Accept, f.ID),
	}
	if f.Small != nil {
		one.Scenario = filepath.Join(dir, scenarioFile(label))
	}
	for _, g := range r.Found {
		if g != f && g.Same(f.Finding) {
			one.Like = append(one.Like, fmt.Sprintf("%s (round %d)", strings.Trim(g.Phase+" × "+g.Fault, " ×"), g.Number))
		}
	}
	// A record that cannot be read any more is no reason to have no page.
	if run, err := reports.Load(one.Witness); err == nil {
		if proofs, err := gallery.ProofsOf(run, []string{f.ID}, one.Command); err == nil && len(proofs) > 0 {
			one.Proof = &proofs[0]
		}
	}
	return one
}

// table counts in how many rounds each cell was met.
func (r *Report) table() (classes []string, rows []coverageRow) {
	met := map[string]int{}
	for _, p := range r.Rounds {
		for _, c := range p.Outcome.Cells {
			met[c]++
		}
	}
	for _, c := range coverage.Classes() {
		classes = append(classes, c.String())
	}
	for _, p := range coverage.Phases() {
		row := coverageRow{Phase: p.String()}
		for _, c := range coverage.Classes() {
			cell := coverage.Cell{Phase: p, Class: c}.String()
			n := met[cell]
			if n == 0 && !slices.Contains(r.Cells, cell) {
				n = -1
			}
			row.Cells = append(row.Cells, n)
		}
		rows = append(rows, row)
	}
	return classes, rows
}

// curve draws how many cells and states were known after each round.
func (r *Report) curve() template.HTML {
	const width, height = 900.0, 160.0
	sum, most := 0, 0
	for _, p := range r.Rounds {
		most += p.New
	}
	if most == 0 {
		return ""
	}
	var line, marks strings.Builder
	for i, p := range r.Rounds {
		sum += p.New
		x, y := width*float64(i+1)/float64(len(r.Rounds)), height*(1-float64(sum)/float64(most))
		fmt.Fprintf(&line, " %.1f,%.1f", x, y)
		if slices.ContainsFunc(r.Found, func(f *search.Found) bool { return f.Number == p.Number }) {
			fmt.Fprintf(&marks, `<circle cx="%.1f" cy="%.1f" r="4"/>`, x, y)
		}
	}
	return template.HTML(fmt.Sprintf(`<svg class="curve" viewBox="-6 -8 %.0f %.0f" role="img" aria-label="cells and states known after each round"><polyline points="0,%.1f%s"/>%s</svg>`,
		width+12, height+16, height, line.String(), marks.String()))
}

// Write writes the scenario files, hunt.json and the page.
func (h *Hunt) Write(r *Report) error {
	if err := h.writeScenarios(r); err != nil {
		return err
	}
	if err := r.Save(h.cfg.Dir); err != nil {
		return err
	}
	text, err := r.Page(h.cfg.Dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(h.cfg.Dir, PageFile), text, 0o600)
}

// Package exhibit shows the gallery on one HTML page: every lock with what it
// was expected to show, what was found, and the witness behind it.
package exhibit

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"locktorture/checker/anomaly"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/gallery"
	"locktorture/reports"
	"locktorture/reports/unit"
	"locktorture/workload/history/printable"
)

// A Show is a gallery that has been played.
type Show struct {
	Rows     []gallery.Row
	Seed     uint64
	Version  string
	Began    time.Time
	Duration time.Duration // of all runs
}

//go:embed page.html
var text string

//go:embed page.css
var style string

var page = template.Must(template.New("gallery").Funcs(template.FuncMap{
	"seconds": unit.Seconds, "span": unit.Span, "seed": unit.Seed, "count": unit.Count[int], "join": strings.Join,
	"svg": func(b []byte) template.HTML { return template.HTML(b) }, // our own drawing; text in it was escaped when it was drawn
}).Parse(text))

// A section is the part of the table for one category.
type section struct {
	Name catalogue.Category
	Rows []row
}

type row struct {
	gallery.Row
	Cells  []cell
	Faults []string
}

// A cell is one expected anomaly.
type cell struct {
	ID, Name string
	Proof    *gallery.Proof // nil: not found
}

// Class names the colour of a row's outcome.
func (r row) Class() string {
	switch r.Outcome {
	case gallery.OK:
		return "pass"
	case gallery.Untried, gallery.Void:
		return "open"
	}
	return "fail"
}

// Operations is what each cell that was found took, in the cells' order.
func (r row) Operations() string {
	var counts []string
	for _, c := range r.Cells {
		if c.Proof != nil {
			counts = append(counts, unit.Count(c.Proof.Operations))
		}
	}
	return strings.Join(counts, " · ")
}

// Page lays the show out: one file that needs neither network nor script.
func Page(s Show) ([]byte, error) {
	s = printable.Of(s)
	v := struct {
		Show
		Style      template.CSS
		Sections   []section
		OK, Played int
		Class      string
	}{Show: s, Style: reports.Style() + template.CSS(style), Class: "pass"}
	for _, name := range catalogue.Categories {
		one := section{Name: name}
		for _, r := range s.Rows {
			if r.Category == name {
				one.Rows = append(one.Rows, newRow(r))
			}
		}
		if len(one.Rows) > 0 {
			v.Sections = append(v.Sections, one)
		}
	}
	for _, r := range s.Rows {
		if r.Outcome != gallery.Untried {
			v.Played++
		}
		if r.Outcome == gallery.OK {
			v.OK++
		}
		if !r.AsExpected() {
			v.Class = "fail"
		}
	}
	var out bytes.Buffer
	if err := page.Execute(&out, v); err != nil {
		return nil, fmt.Errorf("lay out gallery: %w", err)
	}
	return out.Bytes(), nil
}

func newRow(r gallery.Row) row {
	out := row{Row: r, Faults: gallery.Trials[r.Lock].FaultNames()}
	for _, id := range r.Expected {
		c := cell{ID: id, Name: anomaly.Name(id)}
		if i := slices.IndexFunc(r.Proofs, func(p gallery.Proof) bool { return p.ID == id }); i >= 0 {
			c.Proof, c.Name = &r.Proofs[i], r.Proofs[i].Name
		}
		out.Cells = append(out.Cells, c)
	}
	return out
}

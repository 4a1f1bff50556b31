package capacity

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"time"

	"locktorture/reports/internal/files"
	"locktorture/reports/plots"
	"locktorture/reports/unit"
)

// Names of the files that Write writes.
const (
	JSONFile = "capacity.json"
	CSVFile  = "capacity.csv"
	TextFile = "capacity.txt"
	PageFile = "capacity.html"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Write writes every form of the report into dir, which it makes.
func (r *Report) Write(dir string) error {
	return files.Write(dir, map[string]func(io.Writer) error{JSONFile: r.JSON, CSVFile: r.CSV, TextFile: r.Text, PageFile: r.Page})
}

// JSON writes everything that was measured.
func (r *Report) JSON(w io.Writer) error { return files.JSON(w, r) }

var pointHead = []string{"phase", "rate", "repeat", "valid", "met", "why", "offered", "done", "dropped", "cut_off", "p50_ms", "p99_ms", "p999_ms", "max_ms",
	"service_p99_ms", "lag_p99_ms", "busiest_redis", "harness", "machine"}

func (r *Report) pointRows() [][]string {
	num := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	ms := func(d time.Duration) string { return num(float64(d) / 1e6) }
	var out [][]string
	for _, p := range r.Points {
		most := 0.0
		if len(p.Busy.Redis) > 0 {
			most = slices.Max(p.Busy.Redis)
		}
		out = append(out, []string{
			p.Phase, num(p.Rate), fmt.Sprint(p.Repeat), fmt.Sprint(p.Valid), fmt.Sprint(p.OK), p.Why, fmt.Sprint(p.Offered), fmt.Sprint(p.Done),
			fmt.Sprint(p.Dropped), fmt.Sprint(p.CutOff), ms(p.Response.P50), ms(p.Response.P99), ms(p.Response.P999), ms(p.Response.Max),
			ms(p.Service.P99), ms(p.Lag.P99), num(most), num(p.Busy.Harness), num(p.Busy.Machine),
		})
	}
	return out
}

// CSV writes a line per point of the open loop and per run of the closed one.
func (r *Report) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(pointHead); err != nil {
		return err
	}
	if err := c.WriteAll(r.pointRows()); err != nil {
		return err
	}
	for _, l := range r.Sweep {
		row := make([]string, len(pointHead))
		row[0], row[1], row[2] = fmt.Sprintf("closed loop N=%d", l.N), strconv.FormatFloat(l.Rate, 'g', 6, 64), fmt.Sprint(l.Repeat)
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// A drawn is a figure laid out.
type drawn struct {
	SVG     template.HTML
	Caption string
}

// Page writes one HTML file that needs neither network nor script.
func (r *Report) Page(w io.Writer) error {
	v := struct {
		*Report
		Style      template.CSS
		Headline   string
		Drawn      []drawn
		PointHead  []string
		PointRows  [][]string
		Begun      string
		ErrorLines []string
	}{Report: r, Style: template.CSS(pageStyle), Headline: r.headline(), PointHead: pointHead, PointRows: r.pointRows(), Begun: r.Began.UTC().Format(time.RFC3339)}
	if r.Calibration != nil {
		v.ErrorLines = r.errorLines()
	}
	for _, f := range r.figures() {
		d, err := draw(f)
		if err != nil {
			return err
		}
		v.Drawn = append(v.Drawn, d)
	}
	return files.Page(w, pageTemplate, v)
}

func draw(f *plots.Figure) (drawn, error) {
	svg, err := f.SVG()
	// The SVG is our own drawing; text in it was escaped when it was drawn.
	return drawn{template.HTML(svg), f.Alt}, err
}

func (r *Report) headline() string {
	if r.Arrivals != nil {
		return r.traceAdvice("")[0]
	}
	if !r.Recommended.Known() {
		return "No rate can be recommended: " + r.Limit.Suppressed
	}
	return fmt.Sprintf("Plan for up to %s (interval %s to %s)", unit.Rate(r.Recommended.Value), unit.Rate(r.Recommended.Low), unit.Rate(r.Recommended.High))
}

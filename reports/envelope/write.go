package envelope

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"locktorture/reports"
	"locktorture/reports/internal/files"
	"locktorture/reports/unit"
)

// Names of the files that Write writes.
const (
	JSONFile = "envelope.json"
	TextFile = "envelope.txt"
	PageFile = "envelope.html"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Write writes every form of the report into dir, which it makes.
func (r *Report) Write(dir string) error {
	return files.Write(dir, map[string]func(io.Writer) error{JSONFile: r.JSON, TextFile: r.Text, PageFile: r.Page})
}

// JSON writes everything that was counted.
func (r *Report) JSON(w io.Writer) error { return files.JSON(w, r) }

// Title says what was played.
func (r *Report) Title() string {
	fence := "without fencing tokens"
	if r.Fenced {
		fence = "with fencing tokens"
	}
	where := " in memory"
	if r.Redis != "" {
		where = ""
	}
	return fmt.Sprintf("%s on %s%s, %s", r.Lock, unit.Counted(r.Masters, "master"), where, fence)
}

// Subtitle says under which load.
func (r *Report) Subtitle() string {
	where, limit := "virtual time", ": no evidence about Redis itself"
	if r.Redis != "" {
		where, limit = r.Redis, ""
	}
	return fmt.Sprintf("%d clients, one key, %s, hold %s, patience %s · the fault comes %d times a round · up to %s a cell · seed %s · %s, took %s%s",
		r.Clients, unit.Rate(r.Rate), unit.Setting(r.Hold), unit.Setting(r.Patience), r.Times, unit.Counted(r.Rounds, "round"), unit.Seed(r.Seed), where, unit.Span(r.Took), limit)
}

// Limits says what the maps do not show.
func (r *Report) Limits() string {
	where := "; network and nodes are in memory, and time is virtual"
	if r.Redis != "" {
		where = ", each round on servers of its own, beside others on the same machine"
	}
	return "The lock, the load, the faults and the judge are those of a run on real servers" + where +
		". Real pauses are not of one length, and real clocks drift and jump together. A cell shows what these rounds met with, not what cannot happen."
}

// none stands where nothing was played.
const none = "–"

// harm writes what happened in a cell: late writes that the fence rejected, and
// violations that happened.
func (c Cell) harm() string {
	switch {
	case c.Rounds == 0:
		return none
	case c.Faults == 0:
		return "no hit"
	case c.Harm > 0:
		return fmt.Sprintf("%d + %d!", c.Saves, c.Harm)
	}
	return fmt.Sprint(c.Saves)
}

func (c Cell) harmed() int { return c.Harm }

func (c Cell) share() string {
	if c.Rounds == 0 || c.Available() < 0 {
		return none
	}
	return fmt.Sprintf("%.0f %%", 100*c.Available())
}

// What is varied, as the beginning of a sentence.
func (m Map) What() string {
	if m.Title == "" {
		return ""
	}
	return strings.ToUpper(m.Title[:1]) + m.Title[1:]
}

// heading is a value over its column.
func (m Map) heading(x int) string {
	if len(m.Values) == 1 {
		return "crash"
	}
	return unit.Setting(m.Values[x])
}

// Text writes the maps for a terminal. A bar stands before the first value from which on
// theory expects harm.
func (r *Report) Text(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "ENVELOPE  %s\n          %s\n", r.Title(), r.Subtitle())
	for _, w := range r.Warnings() {
		fmt.Fprintf(&out, "  warning: %s\n", w)
	}
	for _, m := range r.Maps {
		fmt.Fprintf(&out, "\n  TTL × %s\n  │ %s\n", m.Title, m.Line)
		r.grid(&out, m, "late writes that the fence rejected (+ violations that happened!)", Cell.harm)
		r.grid(&out, m, "requests served in time", Cell.share)
	}
	fmt.Fprintf(&out, "\n  lease advice\n")
	for _, c := range r.Choices() {
		fmt.Fprintf(&out, "  %-10s covers %s; %s\n", "ttl "+c.Length(), strings.Join(c.Covers, ", "), c.Cost)
	}
	for _, a := range r.Advice {
		fmt.Fprintf(&out, "  %s\n", a)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

const column = 9

func (r *Report) grid(out *strings.Builder, m Map, title string, of func(Cell) string) {
	fmt.Fprintf(out, "    %s\n    %-8s", title, "ttl")
	for x := range m.Values {
		fmt.Fprintf(out, " %*s", column, m.heading(x))
	}
	out.WriteByte('\n')
	for t, row := range m.Cells {
		fmt.Fprintf(out, "    %-8s", unit.Setting(r.TTLs[t]))
		for x, c := range row {
			bar := " "
			if m.Beyond(t, x) && (x == 0 || !m.Beyond(t, x-1)) {
				bar = "│"
			}
			fmt.Fprintf(out, "%s%*s", bar, column, of(c))
		}
		out.WriteByte('\n')
	}
}

// A square is a cell as the page shows it.
type square struct{ Text, Class string }

// A heat is one map of one measure, ready for the page.
type heat struct {
	Title string
	Head  []string
	Rows  []heatRow
}

type heatRow struct {
	TTL   string
	Cells []square
}

// heat lays out one measure. level is how bad a cell is, from 0 to 4; −1: nothing is
// known.
func (r *Report) heat(m Map, title string, text func(Cell) string, level func(Cell) int) heat {
	h := heat{Title: title}
	for x := range m.Values {
		h.Head = append(h.Head, m.heading(x))
	}
	for t, row := range m.Cells {
		one := heatRow{TTL: unit.Setting(r.TTLs[t])}
		for x, c := range row {
			class := "unknown"
			if n := level(c); n >= 0 {
				class = fmt.Sprintf("level%d", n)
			}
			if m.Beyond(t, x) {
				class += " beyond"
				if x == 0 || !m.Beyond(t, x-1) {
					class += " line"
				}
			}
			one.Cells = append(one.Cells, square{text(c), class})
		}
		h.Rows = append(h.Rows, one)
	}
	return h
}

// ofFaults turns counts into levels, by the share of the faults that did harm.
func ofFaults(count func(Cell) int) func(Cell) int {
	return func(c Cell) int {
		switch n := count(c); {
		case c.Rounds == 0 || c.Faults == 0:
			return -1
		case n == 0:
			return 0
		default:
			return min(1+3*n/c.Faults, 4)
		}
	}
}

func unserved(c Cell) int {
	switch a := c.Available(); {
	case c.Rounds == 0 || a < 0:
		return -1
	case a >= enoughServed:
		return 0
	default:
		return min(1+int(4*(1-a)), 4)
	}
}

func counted(count func(Cell) int) func(Cell) string {
	return func(c Cell) string {
		if c.Rounds == 0 {
			return none
		}
		if c.Faults == 0 {
			return "no hit"
		}
		return fmt.Sprintf("%d of %d", count(c), c.Faults)
	}
}

// Page writes one HTML file that needs neither network nor script.
func (r *Report) Page(w io.Writer) error {
	type part struct {
		Map
		Heats []heat
	}
	v := struct {
		*Report
		Style   template.CSS
		Parts   []part
		Choices []Choice
		Begun   string
	}{Report: r, Style: reports.Style(), Choices: r.Choices(), Begun: r.Began.UTC().Format(time.RFC3339)}
	for _, m := range r.Maps {
		p := part{Map: m, Heats: []heat{
			r.heat(m, "Violations, if the store checked no tokens (of faults that took effect)", counted(Cell.Unfenced), ofFaults(Cell.Unfenced)),
			r.heat(m, "Violations that happened (of faults that took effect)", counted(Cell.harmed), ofFaults(Cell.harmed)),
			r.heat(m, "Requests served within their patience", Cell.share, unserved),
		}}
		v.Parts = append(v.Parts, p)
	}
	return files.Page(w, pageTemplate, v)
}

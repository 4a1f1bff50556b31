package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"locktorture/reports/unit"
	"locktorture/workload/history/coverage"
)

// maxNever is how many of the cells that were never met a verdict names.
const maxNever = 3

// Always lists the lines that belong to a FAIL too: what was accepted beside it, and
// what was covered.
func (r *Run) Always() (lines []Line) {
	if all := r.accepted(); len(all) > 0 {
		lines = append(lines, Line{"accepted", strings.Join(all, "  ") + " (--accept)"})
	}
	return append(lines, r.Covered()...)
}

// Covered lists what the run has covered of the lock's life, and which of its
// abilities it has used: lines of every verdict.
func (r *Run) Covered() []Line {
	c := r.Coverage
	if c == nil {
		return nil
	}
	lines := []Line{{"exercised", Exercised(c.Exercised, c.Can)}}
	if r.FaultCount().Planned == 0 {
		return lines
	}
	text := fmt.Sprintf("%d of %d cells (phase × fault class)", c.Met, c.Of)
	if never := neverMet(c.Cells); len(never) > 0 {
		text += "; never: " + strings.Join(never[:min(len(never), maxNever)], ", ")
		if more := len(never) - maxNever; more > 0 {
			text += fmt.Sprintf(" and %d more (report#coverage)", more)
		}
	}
	return append(lines, Line{"coverage", text})
}

// neverMet names the cells that were not met. It begins with those of the classes of faults of
// which most was met: a class that was not tried at all stands in the table.
func neverMet(cells []coverage.Count) (names []string) {
	met := map[coverage.Class]int{}
	for _, c := range cells {
		if c.N > 0 {
			met[c.Class]++
		}
	}
	empty := slices.DeleteFunc(slices.Clone(cells), func(c coverage.Count) bool { return c.N > 0 })
	slices.SortStableFunc(empty, func(a, b coverage.Count) int { return cmp.Compare(met[b.Class], met[a.Class]) })
	for _, c := range empty {
		names = append(names, c.Cell.String())
	}
	return names
}

// Exercised says how often each ability was used, and which a lock lacks; can is
// nil where nobody says what it can do.
func Exercised(u coverage.Uses, can *coverage.Abilities) string {
	var words []string
	for _, one := range u.List() {
		switch {
		case one.Count > 0 || can != nil && !can.Lacks(one.Name):
			words = append(words, one.Name+" "+unit.Count(one.Count))
		case can != nil:
			words = append(words, one.Name+" – (lock has none)")
		}
	}
	if words == nil {
		return "nothing: nobody was granted anything"
	}
	return strings.Join(words, " · ")
}

// A coverageTable is the table of cells: a row for each class of faults, a column
// for each phase of the lock's life.
type coverageTable struct {
	Phases []string
	Rows   []coverageRow
}

type coverageRow struct {
	Class string
	Cells []coverageCell
}

// A coverageCell is how often a cell was met, or says that it does not count.
type coverageCell struct {
	Text  string
	Kind  string // met, never or none
	Title string
}

func (r *Run) coverageTable() (t coverageTable) {
	if r.Coverage == nil || len(r.Coverage.Cells) == 0 {
		return t
	}
	count := map[coverage.Cell]int{}
	counts := map[coverage.Cell]bool{}
	shown := map[coverage.Class]bool{}
	for _, c := range r.Coverage.Cells {
		count[c.Cell], counts[c.Cell], shown[c.Class] = c.N, true, true
	}
	phases := slices.DeleteFunc(coverage.Phases(), func(p coverage.Phase) bool {
		return !slices.ContainsFunc(r.Coverage.Cells, func(c coverage.Count) bool { return c.Phase == p })
	})
	for _, p := range phases {
		t.Phases = append(t.Phases, p.String())
	}
	for _, class := range coverage.Classes() {
		if !shown[class] {
			continue
		}
		row := coverageRow{Class: class.String()}
		for _, p := range phases {
			cell := coverage.Cell{Phase: p, Class: class}
			one := coverageCell{unit.Count(count[cell]), "met", cell.String()}
			switch {
			case !counts[cell]:
				one = coverageCell{"·", "none", cell.String() + " cannot matter"}
			case count[cell] == 0:
				one = coverageCell{"never", "never", cell.String() + " was never met"}
			}
			row.Cells = append(row.Cells, one)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// rows are the table as text.
func (t coverageTable) rows() (head []string, rows [][]string) {
	head = append([]string{""}, t.Phases...)
	for _, r := range t.Rows {
		row := []string{r.Class}
		for _, c := range r.Cells {
			row = append(row, c.Text)
		}
		rows = append(rows, row)
	}
	return head, rows
}

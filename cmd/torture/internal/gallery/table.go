package gallery

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/reports/unit"
)

// Table prints one line per row, and below it what a line has no room
// for.
func Table(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LOCK\tFAULTS\tEXPECTED\tFOUND\tCONTROL\tFOUND IN CONTROL\tOUTCOME")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			r.Lock, strings.Join(Trials[r.Lock].FaultNames(), ","), joined(r.Expected), joined(r.Found), r.Control, joined(r.Accused), r.Outcome)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		fmt.Fprintf(w, "\n%s\n", r.Lock)
		if r.Why != "" {
			fmt.Fprintf(w, "  %s: %s\n", r.Outcome, r.Why)
		}
		for _, id := range slices.Sorted(maps.Keys(r.Untried)) {
			fmt.Fprintf(w, "  not tried: %s: %s\n", id, r.Untried[id])
		}
		if r.Command != "" {
			fmt.Fprintf(w, "  %s\n", r.Command)
		}
	}
	return nil
}

// joined are the ids in a row, or a dash.
func joined(ids []string) string {
	if len(ids) == 0 {
		return "–"
	}
	return strings.Join(ids, " ")
}

// Markdown prints one table per category.
func Markdown(w io.Writer, rows []Row) error {
	columns := []string{"what is wrong", "faults", "found (operations until then)", "in the corrected lock"}
	return MarkdownByCategory(w, columns, rows, func(r Row) (catalogue.Category, []string) {
		return r.Category, []string{
			"`" + r.Lock + "`", r.About, strings.Join(Trials[r.Lock].FaultNames(), ", "), foundWords(r), controlWords(r),
		}
	})
}

// MarkdownByCategory prints a table for each category of locks that has rows: the
// category's name, then columns, and what cells says of each row, its lock first. A
// column whose name ends in a colon is of figures.
func MarkdownByCategory[R any](w io.Writer, columns []string, rows []R, cells func(R) (catalogue.Category, []string)) error {
	var out strings.Builder
	line := func(cells []string) { fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | ")) }
	for _, category := range catalogue.Categories {
		begun := false
		for _, r := range rows {
			of, texts := cells(r)
			if of != category {
				continue
			}
			if !begun {
				begun = true
				head, rule := []string{string(category)}, "|---|"
				for _, c := range columns {
					name, isFigure := strings.CutSuffix(c, ":")
					head = append(head, name)
					if rule += "---"; isFigure {
						rule += ":"
					}
					rule += "|"
				}
				out.WriteString("\n")
				line(head)
				out.WriteString(rule + "\n")
			}
			line(texts)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// foundWords are the expected anomalies that were found, each by name with the
// operations until then, and those that were not.
func foundWords(r Row) string {
	var words []string
	for _, p := range r.Proofs {
		words = append(words, fmt.Sprintf("**%s** %s (%s)", p.ID, p.Name, unit.Count(p.Operations)))
	}
	for _, id := range r.Expected {
		if !r.Any && !slices.ContainsFunc(r.Proofs, func(p Proof) bool { return p.ID == id }) {
			words = append(words, id+" not found")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.Untried)) {
		words = append(words, id+" not tried")
	}
	if len(words) == 0 {
		return strings.ToLower(r.Outcome)
	}
	return strings.Join(words, ", ")
}

func controlWords(r Row) string {
	switch {
	case len(r.Accused) > 0:
		return "**" + strings.Join(r.Accused, " ") + "** in `" + r.Control + "`"
	case r.Rounds == 0:
		return "–"
	}
	return "none in `" + r.Control + "`"
}

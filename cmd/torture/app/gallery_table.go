package app

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/gallery"
	"locktorture/reports/unit"
)

// galleryTable prints one line per row, and below it what a line has no room
// for.
func galleryTable(w io.Writer, rows []gallery.Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LOCK\tFAULTS\tEXPECTED\tFOUND\tTWIN\tFOUND IN TWIN\tOUTCOME")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			r.Lock, strings.Join(gallery.Trials[r.Lock].FaultNames(), ","), list(r.Expected), list(r.Found), r.Twin, list(r.Accused), r.Outcome)
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

func list(ids []string) string {
	if len(ids) == 0 {
		return "–"
	}
	return strings.Join(ids, " ")
}

// galleryMarkdown prints one table per shelf.
func galleryMarkdown(w io.Writer, rows []gallery.Row) error {
	var out strings.Builder
	for _, shelf := range catalogue.Categories {
		head := fmt.Sprintf("\n| %s | what is wrong | faults | found | operations until then | in the twin |\n|---|---|---|---|---|---|\n", shelf)
		for _, r := range rows {
			if r.Category != shelf {
				continue
			}
			out.WriteString(head)
			head = ""
			fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s | %s |\n", r.Lock, r.About,
				strings.Join(gallery.Trials[r.Lock].FaultNames(), ", "), foundWords(r), operations(r), twinWords(r))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// foundWords are the expected anomalies that were found, by name, and those
// that were not.
func foundWords(r gallery.Row) string {
	var words []string
	for _, p := range r.Proofs {
		words = append(words, fmt.Sprintf("**%s** %s", p.ID, p.Name))
	}
	for _, id := range r.Expected {
		if !r.Any && !slices.ContainsFunc(r.Proofs, func(p gallery.Proof) bool { return p.ID == id }) {
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

func operations(r gallery.Row) string {
	var words []string
	for _, p := range r.Proofs {
		words = append(words, unit.Count(p.Operations))
	}
	return list(words)
}

func twinWords(r gallery.Row) string {
	switch {
	case len(r.Accused) > 0:
		return "**" + strings.Join(r.Accused, " ") + "** in `" + r.Twin + "`"
	case r.Rounds == 0:
		return "–"
	}
	return "none in `" + r.Twin + "`"
}

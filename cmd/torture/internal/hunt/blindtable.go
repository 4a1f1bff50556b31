package hunt

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/gallery"
	"locktorture/reports/unit"
)

// BlindTable prints one line for each row, and the sum.
func BlindTable(w io.Writer, rows []BlindRow) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LOCK\tSTATED\tFOUND BY\tAS\tSECONDS\tOPERATIONS\tROUNDS")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.1f\t%s\t%d\n", r.Lock, r.statedWords(), r.Outcome, orDash(r.ID), r.Took.Seconds(), unit.Count(r.Operations), r.Rounds)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Why != "" {
			fmt.Fprintf(w, "  %s: %s\n", r.Lock, r.Why)
		}
	}
	_, err := fmt.Fprintln(w, "\n"+SumBlind(rows).String())
	return err
}

// String is the sum in one line.
func (s BlindSums) String() string {
	list := func(ids []string) string { return orDash(strings.Join(ids, " ")) }
	return fmt.Sprintf("SELFTEST blind: %d of %d flaws found, %d by the plain run and %d by the hunt; median %s, slowest %s · not found: %s · clean: %d · accused: %s · void: %s · not tried: %s",
		s.Runs+s.Hunts, s.Flaws, s.Runs, s.Hunts, unit.Span(s.Median), unit.Span(s.Slowest), list(s.Missed), s.Controls, list(s.Accused), list(s.Void), list(s.NotTried))
}

// BlindMarkdown prints a table for each category, and the sum.
func BlindMarkdown(w io.Writer, rows []BlindRow) error {
	columns := []string{"stated", "found by", "as", "seconds:", "operations:"}
	err := gallery.MarkdownByCategory(w, columns, rows, func(r BlindRow) (catalogue.Category, []string) {
		return r.Category, []string{
			"`" + r.Lock + "`", r.statedWords(), r.Outcome, orDash(r.ID), fmt.Sprintf("%.1f", r.Took.Seconds()), unit.Count(r.Operations),
		}
	})
	_, printed := fmt.Fprintf(w, "\n%s\n", SumBlind(rows))
	return errors.Join(err, printed)
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

package gallery

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"locktorture/reports/unit"
	"locktorture/workload/history/printable"
)

// Detections are what `torture selftest --json` prints.
type Detections struct {
	Caught   int      `json:"caught"`   // flaws
	Survived []string `json:"survived"` // locks whose flaw was not found, or not fully
	Untried  []string `json:"untried"`  // locks whose flaw cannot be shown here
	Accused  []string `json:"accused"`  // correct locks, each by the row in which it was
	Void     []string `json:"void"`     // rows without an answer
	Rows     []Row    `json:"rows"`
}

// Detect sums up which flaws were caught.
func Detect(rows []Row) Detections {
	t := Detections{Survived: []string{}, Untried: []string{}, Accused: []string{}, Void: []string{}, Rows: rows}
	for _, r := range rows {
		switch {
		case r.Outcome == OK:
			t.Caught++
		case r.Outcome == Untried:
			t.Untried = append(t.Untried, r.Lock)
		case r.Outcome == Accused:
			t.Accused = append(t.Accused, fmt.Sprintf("%s (beside %s)", r.Control, r.Lock))
		case r.Outcome == Void:
			t.Void = append(t.Void, r.Lock)
		default:
			t.Survived = append(t.Survived, r.Lock)
		}
	}
	return t
}

// Print prints one line per anomaly that was caught, and the sum.
func (d Detections) Print(w io.Writer) error {
	rows := printable.Of(d.Rows)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LOCK\tCAUGHT AS\tOPERATIONS\tAFTER\tROUNDS\tCONTROL\tOUTCOME")
	for _, r := range rows {
		proofs := r.Proofs
		if len(proofs) == 0 {
			fmt.Fprintf(t, "%s\t–\t–\t–\t%d\t%s\t%s\n", r.Lock, r.Rounds, r.Control, r.Result())
		}
		slices.SortFunc(proofs, func(a, b Proof) int { return a.Operations - b.Operations })
		for i, p := range proofs {
			if i > 0 {
				fmt.Fprintf(t, "\t%s\t%s\t%s\t\t\t\n", p.ID, unit.Count(p.Operations), unit.Span(p.After))
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", r.Lock, p.ID, unit.Count(p.Operations), unit.Span(p.After), r.Rounds, r.Control, r.Result())
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nSELFTEST %d of %d flaws caught · survived: %s · accused: %s · void: %s · not tried here: %s\n",
		d.Caught, len(rows), joined(d.Survived), joined(d.Accused), joined(d.Void), joined(d.Untried))
	return err
}

// Result is the row's outcome, with its reason.
func (row *Row) Result() string {
	if row.Why == "" {
		return row.Outcome
	}
	return row.Outcome + ": " + row.Why
}

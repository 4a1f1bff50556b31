package app

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/gallery"
	"locktorture/reports/unit"
	"locktorture/workload/history/printable"
)

// newSelftest is `torture selftest`: the gate for the harness itself.
func (t *tool) newSelftest() *cobra.Command {
	g := &galleryCommand{tool: t, shelves: []catalogue.Category{catalogue.Recipes, catalogue.Mutants}}
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "check that this harness catches every known flaw and accuses no correct lock",
		Long: "selftest plays every recipe and every mutant of the full lock under the faults that show its flaw, and the\n" +
			"same against the lock without it, and says how many operations it took to catch each. It exits with 1 when\n" +
			"a flaw survives or a correct lock is accused.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.run(cmd, g.printDetections) },
	}
	g.addFlags(cmd)
	return cmd
}

// A selftest is what `torture selftest --json` prints.
type selftest struct {
	Caught   int           `json:"caught"`   // flaws
	Survived []string      `json:"survived"` // locks whose flaw was not found, or not fully
	Untried  []string      `json:"untried"`  // locks whose flaw cannot be shown here
	Accused  []string      `json:"accused"`  // correct locks, each by the row in which it was
	Void     []string      `json:"void"`     // rows without an answer
	Rows     []gallery.Row `json:"rows"`
}

func tally(rows []gallery.Row) selftest {
	t := selftest{Survived: []string{}, Untried: []string{}, Accused: []string{}, Void: []string{}, Rows: rows}
	for _, r := range rows {
		switch {
		case r.Outcome == gallery.OK:
			t.Caught++
		case r.Outcome == gallery.Untried:
			t.Untried = append(t.Untried, r.Lock)
		case r.Outcome == gallery.Accused:
			t.Accused = append(t.Accused, fmt.Sprintf("%s (beside %s)", r.Twin, r.Lock))
		case r.Outcome == gallery.Void:
			t.Void = append(t.Void, r.Lock)
		default:
			t.Survived = append(t.Survived, r.Lock)
		}
	}
	return t
}

func (g *galleryCommand) printDetections(w io.Writer, rows []gallery.Row) error {
	sum := tally(rows)
	if g.json {
		return printJSON(w, sum)
	}
	rows = printable.Of(rows)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LOCK\tCAUGHT AS\tOPERATIONS\tAFTER\tROUNDS\tTWIN\tOUTCOME")
	for _, r := range rows {
		proofs := r.Proofs
		if len(proofs) == 0 {
			fmt.Fprintf(t, "%s\t–\t–\t–\t%d\t%s\t%s\n", r.Lock, r.Rounds, r.Twin, outcome(r))
		}
		slices.SortFunc(proofs, func(a, b gallery.Proof) int { return a.Operations - b.Operations })
		for i, p := range proofs {
			if i > 0 {
				fmt.Fprintf(t, "\t%s\t%s\t%s\t\t\t\n", p.ID, unit.Count(p.Operations), unit.Span(p.After))
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", r.Lock, p.ID, unit.Count(p.Operations), unit.Span(p.After), r.Rounds, r.Twin, outcome(r))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nSELFTEST %d of %d flaws caught · survived: %s · accused: %s · void: %s · not tried here: %s\n",
		sum.Caught, len(rows), list(sum.Survived), list(sum.Accused), list(sum.Void), list(sum.Untried))
	return err
}

// outcome is a row's, with its reason.
func outcome(r gallery.Row) string {
	if r.Why == "" {
		return r.Outcome
	}
	return r.Outcome + ": " + r.Why
}

package app

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"locktorture/checker/anomaly"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	faultcatalogue "locktorture/faults/catalogue"
	"locktorture/faults/testbed"
	"locktorture/reports"
	"locktorture/reports/unit"
	"locktorture/workload/history/printable"
)

// listings are what `torture list` can list, each by its printer.
var listings = map[string]func(t *tool, w *tabwriter.Writer){
	"locks":     (*tool).listLocks,
	"faults":    listFaults,
	"scenarios": listScenarios,
	"anomalies": listAnomalies,
}

// tables are the listings that are tables in a README too.
var tables = map[string]func() string{"faults": faultTable, "anomalies": anomaly.Markdown}

func (t *tool) newList() *cobra.Command {
	names := slices.Sorted(maps.Keys(listings))
	var markdown bool
	cmd := &cobra.Command{
		Use:       "list " + strings.Join(names, "|"),
		Short:     "list locks, faults, scenarios or anomalies, each explained",
		ValidArgs: names,
		Args:      cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen := names
			if len(args) == 1 {
				if listings[args[0]] == nil {
					return fmt.Errorf("list %q does not exist%s: one of %s", args[0], config.DidYouMean(args[0], names), strings.Join(names, ", "))
				}
				chosen = args
			}
			if markdown && (len(chosen) != 1 || tables[chosen[0]] == nil) {
				return errors.New("--markdown: only list faults and list anomalies have a table")
			}
			if markdown {
				_, err := io.WriteString(cmd.OutOrStdout(), tables[chosen[0]]())
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, name := range chosen {
				if len(chosen) > 1 {
					fmt.Fprintf(w, "\n%s\n", strings.ToUpper(name))
				}
				listings[name](t, w)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "list faults, or list anomalies: a table in Markdown")
	return cmd
}

func (t *tool) listLocks(w *tabwriter.Writer) {
	for _, category := range catalogue.Categories {
		if category == catalogue.Controls {
			continue // they are named beside their mutants
		}
		fmt.Fprintf(w, "%s:\n", category)
		for _, l := range t.locks.In(category) {
			fmt.Fprintf(w, "  %s\t%s\n", l.ID, l.About)
			if len(l.Expected) > 0 {
				fmt.Fprintf(w, "\tshows %s under: %s; corrected by %s\n", expectedText(l), l.ShownBy, l.CorrectedBy)
			}
		}
	}
	fmt.Fprintln(w, "  exec:COMMAND\ta wrapper that speaks the protocol of lockimpl/child/README.md")
}

func listFaults(_ *tool, w *tabwriter.Writer) {
	known := faultcatalogue.All()
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(w, "  %s\t%s\n\t%s\n", name, known[name].Wire, known[name].Survives)
	}
}

func listScenarios(_ *tool, w *tabwriter.Writer) {
	for _, name := range slices.Sorted(maps.Keys(config.Builtins)) {
		fmt.Fprintf(w, "  %s\t%s\n", name, config.Builtins[name].About)
	}
}

func listAnomalies(_ *tool, w *tabwriter.Writer) {
	for _, a := range anomaly.All() {
		fmt.Fprintf(w, "  %s\t%s\n\t%s\n", a.ID, a.Name, a.Meaning)
	}
}

// expectedText lists the anomalies that l is expected to show.
func expectedText(l catalogue.Lock) string {
	if l.AnyExpected {
		return strings.Join(l.Expected, " or ")
	}
	return strings.Join(l.Expected, " ")
}

// faultTable is the README's table of faults and testbeds, in Markdown.
func faultTable() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| fault | %s |\n", strings.Join(testbed.Kinds, " | "))
	fmt.Fprintf(&b, "|---|%s\n", strings.Repeat("---|", len(testbed.Kinds)))
	known := faultcatalogue.All()
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&b, "| `%s` |", name)
		for _, kind := range testbed.Kinds {
			mark := "yes"
			if faultcatalogue.Support(known[name], kind) != nil {
				mark = "–"
			}
			fmt.Fprintf(&b, " %s |", mark)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// runsFolder is where runs lie unless --out says otherwise.
const runsFolder = "runs"

func newLs() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "list the runs, oldest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			entries, err := reports.List(out)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for i, e := range entries {
				fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", i-len(entries), printable.Line(e.Dir), e.Meta.Lock, entryVerdict(e), entrySize(e))
			}
			return w.Flush()
		},
	}
	cmd.Flags().StringVar(&out, "out", runsFolder, "folder of the run directories")
	return cmd
}

func entryVerdict(e reports.Entry) string {
	switch {
	case e.Err != nil:
		return "unreadable: " + printable.Line(e.Err.Error())
	case !e.Complete():
		return "incomplete (torture check can judge it)"
	}
	return string(e.Verdict)
}

func entrySize(e reports.Entry) string {
	if !e.Complete() {
		return ""
	}
	return fmt.Sprintf("%s grants in %s", unit.Count(e.Grants), unit.Span(e.Duration))
}

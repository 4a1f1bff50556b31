package app

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"locktorture/reports"
	"locktorture/reports/unit"
	"locktorture/workload/history/printable"
)

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

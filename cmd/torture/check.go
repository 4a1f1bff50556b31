package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/scenario"
	"locktorture/reports"
	"locktorture/workload/history/historyfile"
)

func newCheck() *cobra.Command {
	var asJSON bool
	var out string
	cmd := &cobra.Command{
		Use:   "check [DIR|FILE|-]",
		Short: "judge a stored history; needs no Redis",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := reports.Latest
			if len(args) == 1 {
				path = args[0]
			}
			report, err := judgeFile(cmd, out, path)
			if err != nil {
				return err
			}
			return printReport(cmd, report, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as one JSON object on standard output")
	cmd.Flags().StringVar(&out, "out", runsFolder, "folder of the run directories that latest, -1, … refer to")
	return cmd
}

// judgeFile judges standard input (-), a file, or the history of a run. A
// history that breaks the format is an error with its line, never a verdict.
func judgeFile(cmd *cobra.Command, runs, path string) (checker.Report, error) {
	where := path
	if path == "-" {
		where = "standard input"
	} else if info, err := os.Stat(path); err != nil || info.IsDir() {
		dir, err := reports.Resolve(runs, path)
		if err != nil {
			return checker.Report{}, err
		}
		path, where = dir, dir
	}
	source, closer, err := historyfile.Open(path, cmd.InOrStdin())
	if err != nil {
		return checker.Report{}, fmt.Errorf("%s: %w", where, err)
	}
	report, err := scenario.Judge(cmd.Context(), source)
	if err = errors.Join(err, closer.Close()); err != nil {
		return report, fmt.Errorf("%s: %w", where, err)
	}
	return report, nil
}

func printReport(cmd *cobra.Command, report checker.Report, asJSON bool) error {
	if !asJSON {
		printFindings(cmd.OutOrStdout(), report)
		return verdict(cmd.OutOrStdout(), report.Verdict)
	}
	enc := json.NewEncoder(cmd.OutOrStdout())
	enc.SetIndent("", "  ")
	if err := enc.Encode(report); err != nil {
		return harnessError{fmt.Errorf("print report: %w", err)}
	}
	return verdict(cmd.ErrOrStderr(), report.Verdict)
}

// maxFindings is how many violations are told in full.
const maxFindings = 10

func printFindings(w io.Writer, report checker.Report) {
	for i, f := range report.Violations {
		if i == maxFindings {
			fmt.Fprintf(w, "…    and %d more violations (--json lists them all)\n", len(report.Violations)-i)
			break
		}
		expected := ""
		if f.Expected {
			expected = " (expected)"
		}
		fmt.Fprintf(w, "M-%d  %s %s on %s%s, events %v\n     %s\n", i+1, f.ID, f.Name, f.Key, expected, f.Witness, f.Text)
	}
	for _, f := range report.Suspicious {
		fmt.Fprintf(w, "suspicious  %s %s, events %v\n     %s\n", f.ID, f.Name, f.Witness, f.Text)
	}
	for _, f := range slices.Concat(report.Breaches, report.Harness) {
		fmt.Fprintf(w, "%s  %s\n", f.ID, f.Text)
	}
	for _, text := range report.Notes {
		fmt.Fprintf(w, "note        %s\n", text)
	}
	for _, f := range report.Inconclusive {
		fmt.Fprintf(w, "not enough  %s  %s\n", f.ID, f.Text)
	}
	for _, id := range report.ExpectedMissing {
		fmt.Fprintf(w, "not enough  expected %s did not appear\n", id)
	}
	e := report.Evidence
	fmt.Fprintf(w, "evidence    %d grants, %d contended attempts, %d hand-overs (%d with a fault in force), %d takeovers, %d fence saves, %d unknowns (%d resolved)\n",
		e.Grants, e.Contended, e.Handovers, e.FaultedHandovers, e.Takeovers, e.FenceSaves, e.Unknown, e.Resolved)
}

// verdict prints the last line and turns it into the exit code.
func verdict(w io.Writer, v checker.Verdict) error {
	if _, err := fmt.Fprintf(w, "VERDICT %s exit %d\n", v, v.Exit()); err != nil {
		return harnessError{err}
	}
	return asExit(v.Exit())
}

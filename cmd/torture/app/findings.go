package app

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"locktorture/checker"
	"locktorture/reports"
	"locktorture/reports/unit"
)

// maxFindings is how many violations are told in full.
const maxFindings = 10

func printFindings(w io.Writer, report checker.Report) {
	for i, f := range reports.WorstFirst(report) {
		if i == maxFindings {
			fmt.Fprintf(w, "…    and %d more violations (--json lists them all)\n", len(report.Violations)-i)
			break
		}
		fmt.Fprintf(w, "M-%d  %s%s%s\n     %s\n", i+1, heading(f), reports.Allowance(f), events(f), f.Text)
	}
	for _, f := range report.Suspicious {
		fmt.Fprintf(w, "suspicious  %s%s\n     %s\n", heading(f), events(f), f.Text)
	}
	for _, f := range slices.Concat(report.Breaches, report.Harness) {
		fmt.Fprintf(w, "%s  %s\n", f.ID, f.Text)
	}
	for _, v := range report.Void {
		fmt.Fprintf(w, "not judged  %s: %s\n", strings.Join(v.IDs, ", "), v.Why)
	}
	for _, text := range report.Notes {
		fmt.Fprintf(w, "note        %s\n", text)
	}
	if len(report.Nothing) > 0 {
		fmt.Fprintf(w, "not judged  %s: this history has nothing to judge them by\n", strings.Join(report.Nothing, ", "))
	}
	for _, f := range report.Inconclusive {
		fmt.Fprintf(w, "not enough  %s  %s\n", f.ID, f.Text)
	}
	for _, id := range report.ExpectedMissing {
		fmt.Fprintf(w, "not enough  expected %s did not appear\n", id)
	}
	e := report.Evidence
	fmt.Fprintf(w, "evidence    %s, %s, %s (%d with a fault in force), %s, %s, %s (%d resolved, %d of them by receipts)\n",
		unit.Counted(e.Grants, "grant"), unit.Counted(e.Contended, "contended attempt"), unit.Counted(e.Handovers, "hand-over"), e.FaultedHandovers,
		unit.Counted(e.Takeovers, "takeover"), unit.Counted(e.FenceSaves, "fence save"), unit.Counted(e.Unknown, "unknown"), e.Resolved, e.ByReceipts)
}

// heading names a finding, and its key where it has one.
func heading(f checker.Finding) string {
	text := strings.TrimSpace(f.ID + " " + f.Name)
	if f.Key != "" {
		text += " on " + f.Key
	}
	return text
}

func events(f checker.Finding) string {
	if len(f.Witness) == 0 {
		return ""
	}
	return fmt.Sprintf(", events %v", f.Witness)
}

// printViews says where the pictures are that --views asks for.
func (c *checkCommand) printViews(w io.Writer, report checker.Report) {
	switch n := len(report.Views); {
	case c.views == "":
	case n == 0:
		fmt.Fprintln(w, "views       none: no window of this history had to be looked at")
	default:
		fmt.Fprintf(w, "views       %s in %s\n", unit.Counted(n, "picture"), c.views)
	}
}

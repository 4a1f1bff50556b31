package main

import (
	"fmt"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"locktorture/faults/testbed"
)

func newDoctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "say which testbeds exist on this machine and what they can suffer",
		Args:  cobra.NoArgs,
		RunE:  runDoctor,
	}
}

func runDoctor(cmd *cobra.Command, _ []string) error {
	ask := testbed.Config{Kind: testbed.KindAuto, Persist: true}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "torture\t%s\t%s %s/%s, %d CPUs\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	for _, c := range testbed.Detect(cmd.Context(), ask) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.Kind, availability(c), c.Detail)
		if c.Available {
			fmt.Fprintf(w, "\t\tnodes: %s; links: every link fault\n", abilities(c.Abilities))
		}
	}
	fmt.Fprintf(w, "fake clock\t%s\t%s\n", clockMark(), clockDetail())
	kind, why, err := testbed.Choose(cmd.Context(), ask)
	if err != nil {
		return harnessError{err}
	}
	fmt.Fprintf(w, "auto\tpicks %s\t%s\n", kind, why)
	return w.Flush()
}

func availability(c testbed.Candidate) string {
	if c.Available {
		return "yes"
	}
	return "no"
}

func abilities(all []testbed.Ability) string {
	if len(all) == 0 {
		return "nothing"
	}
	var names []string
	for _, a := range all {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}

func clockMark() string {
	if testbed.CanFakeClock() == nil {
		return "yes"
	}
	return "no"
}

func clockDetail() string {
	if err := testbed.CanFakeClock(); err != nil {
		return err.Error()
	}
	return "libfaketime: the clock of a real server can jump"
}

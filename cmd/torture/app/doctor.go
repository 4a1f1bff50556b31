package app

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/kernel"
	"locktorture/cmd/torture/internal/run"
	"locktorture/faults/testbed"
)

func newDoctor() *cobra.Command {
	var sweep bool
	var out, toxiproxy string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "list the testbeds of this machine and the faults that each supports; remove what killed runs left",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"out", "toxiproxy"} {
				if cmd.Flags().Changed(name) && !sweep {
					return fmt.Errorf("--%s goes with --sweep alone", name)
				}
			}
			if _, _, err := net.SplitHostPort(toxiproxy); toxiproxy != "" && err != nil {
				return fmt.Errorf("--toxiproxy is %q: want host:port, such as 127.0.0.1:8474: %w", toxiproxy, err)
			}
			if sweep {
				return runSweep(cmd, out, toxiproxy)
			}
			return runDoctor(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&sweep, "sweep", false, "remove what killed runs left behind (processes, containers, proxies), and list it")
	cmd.Flags().StringVar(&out, "out", "runs", "with --sweep: folder of the run directories")
	cmd.Flags().StringVar(&toxiproxy, "toxiproxy", "", "with --sweep: host:port of a toxiproxy server that no run uses any more")
	return cmd
}

func runSweep(cmd *cobra.Command, out, toxiproxy string) error {
	did, err := run.Sweep(cmd.Context(), out, toxiproxy)
	for _, what := range did {
		fmt.Fprintln(cmd.OutOrStdout(), what)
	}
	if err != nil {
		return harnessError{err}
	}
	if len(did) == 0 {
		fmt.Fprintln(cmd.OutOrStdout(), "nothing was left behind")
	}
	return nil
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
	fmt.Fprintf(w, "connections\t%s\n", connections(kernel.ReadConnTrack(kernel.Proc)))
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

// connections says whether the kernel has place for more of them. What it dropped
// before, it may drop again.
func connections(c kernel.ConnTrack, tracked bool) string {
	switch {
	case !tracked:
		return "yes\tthe kernel tracks none, or does not tell"
	case c.Full():
		return fmt.Sprintf("no\tthe kernel's table is full (nf_conntrack: %s): packets are dropped, on loopback too; remedy: %s", c, c.Remedy())
	case c.Dropped > 0:
		return fmt.Sprintf("yes\tthe kernel tracks %s; %d packets were dropped since it started: if that goes on, %s", c, c.Dropped, c.Remedy())
	}
	return fmt.Sprintf("yes\tthe kernel tracks %s", c)
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

package app

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/run"
	"locktorture/reports"
	"locktorture/reports/metrics"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/history/printable"
)

func newServe() *cobra.Command {
	var out, addr, nights string
	var hosts []string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "show the stored runs in a browser",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, _, err := net.SplitHostPort(addr); err != nil {
				return fmt.Errorf("--addr %q: want host:port, such as 127.0.0.1:8099: %w", addr, err)
			}
			if _, err := reports.List(out); err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			l, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", addr)
			if err != nil {
				return fmt.Errorf("--addr %q: %w", addr, err)
			}
			given, _, _ := net.SplitHostPort(addr)
			if bound, ok := l.Addr().(*net.TCPAddr); ok && !bound.IP.IsLoopback() {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: everybody who reaches %s can read the runs, and nobody is asked for a password; --addr 127.0.0.1:8099 serves this machine alone\n", l.Addr())
			}
			fmt.Fprintf(cmd.OutOrStdout(), "http://%s shows the runs in %s; Ctrl-C ends it\n", l.Addr(), out)
			if err := metrics.Serve(cmd.Context(), l, reports.Guard(reports.Handler(out, nights), append(hosts, given)...)); err != nil {
				return harnessError{err}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", runsFolder, "folder of the run directories")
	cmd.Flags().StringVar(&nights, "nights", "nightly", "folder of the nights, of which the trend is drawn where there are any")
	cmd.Flags().StringSliceVar(&hosts, "allow-host", nil, "further names by which browsers may ask for this server, beside loopback names and the host of --addr")
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8099", "where to listen")
	return cmd
}

// listen opens the address for scrapes before the run begins; nil without one.
func (o output) listen(ctx context.Context) (net.Listener, error) {
	if o.metrics == "" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.metrics)
	if err != nil {
		return nil, fmt.Errorf("--metrics-addr %s: %w", o.metrics, err)
	}
	return l, nil
}

// offer answers scrapes until ctx ends. Its trouble ends no run.
func offer(ctx context.Context, l net.Listener, trouble io.Writer, b run.Beginning, snapshot func() stats.Snapshot) {
	h, err := metrics.Handler(snapshot, map[string]string{
		"scenario": printable.Line(b.Meta.Scenario), "lock": printable.Line(b.Meta.Lock), "seed": unit.Seed(b.Meta.Seed),
	})
	if err == nil {
		err = metrics.Serve(ctx, l, h)
	}
	if err != nil {
		fmt.Fprintln(trouble, "torture: --metrics-addr:", err)
	}
}

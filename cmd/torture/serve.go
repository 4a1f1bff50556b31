package main

import (
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"locktorture/reports"
	"locktorture/reports/metrics"
)

func newServe() *cobra.Command {
	var out, addr string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "show the stored runs in a browser",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := reports.List(out); err != nil {
				return err
			}
			l, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", addr)
			if err != nil {
				return fmt.Errorf("--addr %s: %w", addr, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "http://%s shows the runs in %s; Ctrl-C ends it\n", l.Addr(), out)
			if err := metrics.Serve(cmd.Context(), l, reports.Handler(out)); err != nil {
				return harnessError{err}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", runsFolder, "folder of the run directories")
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8099", "where to listen")
	return cmd
}

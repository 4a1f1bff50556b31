package app

import (
	"fmt"

	"github.com/spf13/cobra"

	"locktorture/reports"
)

func newCompare() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "set the figures of two runs side by side (latest, -2, or a directory each)",
		Long:  "Set the figures of two runs side by side. A run counted back (-2) stands behind --, as in: torture compare -- -2 latest.",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var runs [2]*reports.Run
			for i, name := range args {
				dir, err := reports.Resolve(out, name)
				if err != nil {
					return err
				}
				if runs[i], err = reports.Load(dir); err != nil {
					return err
				}
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), reports.Compare(runs[0], runs[1]))
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", runsFolder, "folder of the run directories")
	return cmd
}

package app

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/run"
	"locktorture/reports"
)

func newReport() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report [DIR]",
		Short: "judge a stored run again and rewrite its reports",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := reports.Latest
			if len(args) == 1 {
				name = args[0]
			}
			dir, err := reports.Resolve(out, name)
			if err != nil {
				return err
			}
			r, err := rejudge(cmd, dir)
			if err != nil {
				return err
			}
			return show(cmd, r, output{})
		},
	}
	cmd.Flags().StringVar(&out, "out", runsFolder, "folder of the run directories")
	return cmd
}

// rejudge judges the history of a run directory and writes its artefacts anew.
// What the run alone knew (its own trouble, an interruption) is kept.
func rejudge(cmd *cobra.Command, dir string) (*reports.Run, error) {
	r, err := reports.Load(dir)
	if err != nil && !errors.Is(err, reports.ErrIncomplete) {
		return nil, err
	}
	if r.Report, err = judgeFile(cmd, "", dir); err != nil {
		return nil, err
	}
	if err := run.Complete(r); err != nil {
		return nil, harnessError{err}
	}
	return r, nil
}

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

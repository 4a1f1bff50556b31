package app

import (
	"errors"

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

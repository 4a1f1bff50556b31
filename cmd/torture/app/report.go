package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/capacity"
	"locktorture/cmd/torture/internal/run"
	"locktorture/reports"
	capacityreport "locktorture/reports/capacity"
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
			return printRun(cmd, r, output{})
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

// A comparison is `torture compare`.
type comparison struct {
	out, page string
	failIf    []string
}

func newCompare() *cobra.Command {
	var c comparison
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "compare the figures of two runs or of two capacity measurements (each: latest, -2, or a directory)",
		Long: "Set the figures of two runs side by side. A run counted back from the latest (-2) is written after --, as in: torture compare -- -2 latest.\n" +
			"Two folders of torture capacity, or their capacity.json, are compared figure by figure; --fail-if 'recommended -10%'\n" +
			"then ends with 1 when the second is that much worse, and with 3 when one of the two lacks the figure. --html FILE writes it as a page too.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.page != "" {
				if folder, err := os.Stat(filepath.Dir(c.page)); err != nil || !folder.IsDir() {
					return fmt.Errorf("--html is %s: %s is no folder", c.page, filepath.Dir(c.page))
				}
			}
			if before, after := calibration(args[0]), calibration(args[1]); before != "" && after != "" {
				return c.calibrations(cmd, before, after)
			} else if before != "" || after != "" {
				for _, name := range args {
					if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
						return fmt.Errorf("compare: %w", err)
					}
				}
				return fmt.Errorf("compare %s and %s: one is a measurement of capacity and the other is not", args[0], args[1])
			} else if len(c.failIf) > 0 {
				return errors.New("--fail-if is for two measurements of capacity: name their folders, or each capacity.json")
			}
			return c.runs(cmd, args)
		},
	}
	cmd.Flags().StringVar(&c.out, "out", runsFolder, "folder of the run directories")
	cmd.Flags().StringVar(&c.page, "html", "", "write the comparison as a page into this file too, such as compare.html")
	cmd.Flags().StringArrayVar(&c.failIf, "fail-if", nil, "with two measurements of capacity: the change from which to fail, such as 'recommended -10%'; repeatable")
	return cmd
}

// calibration is the capacity.json that a name leads to, or "".
func calibration(name string) string {
	for _, file := range []string{name, filepath.Join(name, capacityreport.JSONFile)} {
		if s, err := os.Stat(file); err == nil && s.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

// A compared is what has two forms: a text and a page.
type compared interface {
	Text(w io.Writer) error
	Page(w io.Writer) error
}

// print prints the comparison, and writes its page where c.page names one.
func (c comparison) print(cmd *cobra.Command, what compared) error {
	if err := folded(cmd.OutOrStdout(), what.Text); err != nil {
		return harnessError{err}
	}
	if c.page == "" {
		return nil
	}
	var page bytes.Buffer
	if err := errors.Join(what.Page(&page), os.WriteFile(c.page, page.Bytes(), 0o644)); err != nil {
		return harnessError{fmt.Errorf("write the comparison: %w", err)}
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "page", c.page)
	return nil
}

func (c comparison) runs(cmd *cobra.Command, args []string) error {
	var runs [2]*reports.Run
	for i, name := range args {
		dir, err := reports.Resolve(c.out, name)
		if err != nil {
			return err
		}
		if runs[i], err = reports.Load(dir); err != nil {
			return err
		}
	}
	return c.print(cmd, reports.Compare(runs[0], runs[1]))
}

func (c comparison) calibrations(cmd *cobra.Command, before, after string) error {
	var guards []capacityreport.Guard
	for _, text := range c.failIf {
		g, err := capacityreport.ParseGuard(text)
		if err != nil {
			return fmt.Errorf("--fail-if: %w", err)
		}
		guards = append(guards, g)
	}
	a, _, err := capacity.Load(before)
	if err != nil {
		return err
	}
	b, _, err := capacity.Load(after)
	if err != nil {
		return err
	}
	both := capacityreport.Compare(a, b, guards)
	both.Before.File, both.After.File = before, after
	if err := c.print(cmd, both); err != nil {
		return err
	}
	switch {
	case len(both.Failed) > 0:
		return exitCode(1)
	case len(both.Unknown) > 0:
		return exitCode(exitInconclusive)
	}
	return nil
}

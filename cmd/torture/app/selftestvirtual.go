package app

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/hunt"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/workload/history/printable"
)

// virtualBudget is how long a selftest in virtual time looks for all flaws, unless told
// otherwise.
const virtualBudget = time.Minute

func (s *selftestCommand) runVirtual(cmd *cobra.Command) error {
	v := &s.virtual
	v.Locks, v.Only, v.Seed, v.Jobs, v.Budget = s.locks, s.blind.Only, s.seed, s.jobs, virtualBudget
	if cmd.Flags().Changed("budget") {
		v.Budget = s.blind.Budget
	}
	if !cmd.Flags().Changed("jobs") {
		v.Jobs = runtime.NumCPU()
	}
	switch {
	case v.Budget <= 0:
		return fmt.Errorf("--budget is %v: above 0, such as 1m", v.Budget)
	case v.Seeds < 0:
		return fmt.Errorf("--seeds is %d: above 0, such as 200", v.Seeds)
	case v.Jobs < 1:
		return fmt.Errorf("--jobs is %d: at least 1", v.Jobs)
	}
	if _, err := v.Chosen(); err != nil {
		return err
	}
	if err := simulate.SelfCheck(); err != nil {
		return harnessError{err}
	}
	discard, err := run.PrepareOut(s.out)
	if err != nil {
		return startError(cmd.Context(), err)
	}
	defer discard()
	v.Out = resultsDir(s.out, "virtual", s.seed)
	v.Explore = func(ctx context.Context, j simulate.Job, tell func(simulate.RoundReport)) error {
		if s.monitored {
			return simulate.RunWorkers(ctx, j, 1, tell)
		}
		return simulate.RunHere(ctx, s.locks, j, tell) // part of another program, which cannot be started again
	}
	rows, err := s.playVirtual(cmd)
	if err != nil {
		return harnessError{err}
	}
	if err := s.printVirtual(cmd.OutOrStdout(), rows); err != nil {
		return harnessError{fmt.Errorf("print selftest: %w", err)}
	}
	switch {
	case cmd.Context().Err() != nil:
		return exitCode(exitInterrupted)
	case slices.ContainsFunc(rows, func(r *hunt.VirtualRow) bool { return !r.OK() }):
		return exitCode(1)
	}
	return nil
}

// playVirtual plays the rows, and tells how it goes.
func (s *selftestCommand) playVirtual(cmd *cobra.Command) ([]*hunt.VirtualRow, error) {
	began := time.Now()
	tell := func(text string) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%5.0f s  %s\n", time.Since(began).Seconds(), printable.Line(text))
	}
	s.virtual.Log = tell
	return s.virtual.Rows(cmd.Context())
}

func (s *selftestCommand) printVirtual(w io.Writer, rows []*hunt.VirtualRow) error {
	switch {
	case s.json:
		return printJSON(w, struct {
			hunt.VirtualSums
			Rows []*hunt.VirtualRow `json:"rows"`
		}{hunt.SumVirtual(rows), rows})
	case s.markdown:
		return hunt.VirtualMarkdown(w, printable.Of(rows))
	}
	return hunt.VirtualTable(w, printable.Of(rows))
}

package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/reports"
)

// A replayCommand runs a stored run's configuration and seed again.
type replayCommand struct {
	*tool
	out     string
	witness string
	times   int
}

func (t *tool) newReplay() *cobra.Command {
	r := &replayCommand{tool: t}
	cmd := &cobra.Command{
		Use:   "replay [DIR]",
		Short: "run the same configuration and seed again, and count how often it ends the same",
		Long: "replay runs the same configuration and seed again. A seed fixes the load and the faults, not the\n" +
			"timing of threads and packets, so the answer is how many of the replays show the anomaly: k of n.",
		Args: cobra.MaximumNArgs(1),
		RunE: r.run,
	}
	cmd.Flags().StringVar(&r.out, "out", runsFolder, "folder of the run directories")
	cmd.Flags().StringVar(&r.witness, "witness", "", "the finding to look for, e.g. M-1; otherwise any that the run showed")
	cmd.Flags().IntVar(&r.times, "times", 3, "how many replays")
	return cmd
}

func (r *replayCommand) run(cmd *cobra.Command, args []string) error {
	name := reports.Latest
	if len(args) == 1 {
		name = args[0]
	}
	if r.times < 1 {
		return fmt.Errorf("--times is %d: at least 1", r.times)
	}
	if r.witness != "" && !mayBeNumber(r.witness) {
		return fmt.Errorf("--witness %q: %w", r.witness, errNoNumber)
	}
	dir, err := reports.Resolve(r.out, name)
	if err != nil {
		return err
	}
	original, err := reports.Load(dir)
	if err != nil && !errors.Is(err, reports.ErrIncomplete) {
		return err
	}
	wanted, err := r.wanted(original)
	if err != nil {
		return err
	}
	var cfg config.Config
	if err := json.Unmarshal(original.Meta.Config, &cfg); err != nil {
		return fmt.Errorf("%s: read the configuration: %w", dir, err)
	}
	cfg.ReadPassword(config.Environ())
	return r.replay(cmd, cfg, wanted)
}

// wanted are the anomaly ids that a replay should show again: that of one
// witness, or all of the original; none when it showed none.
func (r *replayCommand) wanted(original *reports.Run) ([]string, error) {
	if r.witness == "" {
		return violations(original.Report), nil
	}
	found := reports.WorstFirst(original.Report)
	n, err := numbered(found, r.witness)
	if err != nil {
		return nil, fmt.Errorf("--witness %s: %w", r.witness, err)
	}
	return []string{found[n-1].ID}, nil
}

func (r *replayCommand) replay(cmd *cobra.Command, cfg config.Config, wanted []string) error {
	same := 0
	worst := checker.Pass
	for n := range r.times {
		replayed, err := r.execute(cmd, cfg, output{quiet: true})
		if err != nil {
			return unplayed(cmd, cmd.OutOrStdout(), err)
		}
		again := sameAnomalies(wanted, violations(replayed.Report))
		if again {
			same++
		}
		worst = checker.Worse(worst, replayed.Verdict())
		fmt.Fprintf(cmd.OutOrStdout(), "replay %d of %d  %s  %v  %s\n", n+1, r.times, replayed.Verdict(), violations(replayed.Report), replayed.Dir)
		if replayed.Interrupted {
			break
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d of %d replays showed %s\n", same, r.times, anomalies(wanted))
	return verdict(cmd.OutOrStdout(), worst)
}

// sameAnomalies reports whether got shows one of wanted, or nothing where
// nothing is wanted.
func sameAnomalies(wanted, got []string) bool {
	if len(wanted) == 0 {
		return len(got) == 0
	}
	return slices.ContainsFunc(wanted, func(id string) bool { return slices.Contains(got, id) })
}

func anomalies(ids []string) string {
	if len(ids) == 0 {
		return "no anomaly, as the original"
	}
	return fmt.Sprintf("one of %v, as the original", ids)
}

// violations lists the anomaly ids of a report, each once, in order.
func violations(r checker.Report) []string {
	var ids []string
	for _, f := range r.Violations {
		if !slices.Contains(ids, f.ID) {
			ids = append(ids, f.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

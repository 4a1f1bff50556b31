package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/bench"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/measure"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
	"locktorture/reports"
	benchreport "locktorture/reports/bench"
	"locktorture/workload/history/printable"
)

// A benchCommand is `torture bench`.
type benchCommand struct {
	measurement[benchreport.Report]
	cfg bench.Config
}

func (t *tool) newBench() *cobra.Command {
	b := &benchCommand{cfg: bench.Config{Catalogue: t.locks}, measurement: measurement[benchreport.Report]{
		name: "bench", write: (*benchreport.Report).Write, formats: []format[benchreport.Report]{
			{"text", (*benchreport.Report).Text}, {"summary", (*benchreport.Report).Summary},
			{"markdown", (*benchreport.Report).Markdown}, {"json", (*benchreport.Report).JSON}, {"gobench", (*benchreport.Report).GoBench},
		},
	}}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "compare locks in one interleaved run: rates, latencies, fairness, cost (about 5 min)",
		Long: "bench runs the locks in turn on the same servers, in a random order that every repeat draws anew, and reports\n" +
			"ratios paired within a repeat, with intervals over whole repeats; --format summary prints the ratios alone, in Markdown.\n" +
			"A cell that other programs disturb is measured again, and left out when that disturbs it every time. It exits with 3 when every\n" +
			"cell was left out, or when it was interrupted (what it had measured is written).\n\nlocks:\n  " +
			strings.Join(measure.ContestantLines(), "\n  ") + "\n  and every lock of: torture list locks\n\nscenarios:\n  " +
			strings.Join(bench.Scenarios(), "\n  "),
		Args: cobra.NoArgs,
		RunE: b.run,
	}
	f := cmd.Flags()
	f.StringSliceVar(&b.cfg.Locks, "lock", nil, "only these locks; the first is what the others are compared with")
	f.StringSliceVar(&b.cfg.Scenarios, "scenario", nil, "these scenarios alone")
	f.IntSliceVar(&b.cfg.Nodes, "nodes", nil, "masters, in place of those of each scenario: odd numbers up to 9")
	f.IntSliceVar(&b.cfg.Workers, "workers", nil, "goroutines or clients, in place of those of each scenario")
	f.IntVar(&b.cfg.Repeats, "repeats", 5, "whole runs of every lock")
	f.DurationVar(&b.cfg.Slice, "slice", 400*time.Millisecond, "measured of one lock in one repeat")
	b.addFlags(f, "the order")
	addServerFlags(cmd, &b.cfg.Servers)
	return cmd
}

// addServerFlags adds what bench and capacity ask about servers.
func addServerFlags(cmd *cobra.Command, c *measure.Config) {
	f := cmd.Flags()
	f.StringVar(&c.Testbed, "testbed", testbed.KindAuto, "auto, process, embedded or external")
	given := map[string]string{}
	for _, s := range config.GivenSettings() {
		flag := f.VarPF(&flagValue{given, s}, s.Name, "", s.Help)
		if s.Bool {
			flag.NoOptDefVal = "true"
		}
	}
	cmd.PreRunE = func(*cobra.Command, []string) error {
		c.Given.ReadPassword(config.Environ())
		err := applyFlags(&c.Given, given)
		c.Given.HidePasswords()
		return err
	}
}

func (b *benchCommand) run(cmd *cobra.Command, _ []string) error {
	r, err := b.measurement.run(cmd, b.cfg.Validate, func(ctx context.Context, dir string, say func(string)) (*benchreport.Report, error) {
		b.cfg.Seed, b.cfg.Servers.Dir, b.cfg.Progress = b.seed, filepath.Join(dir, "nodes"), say
		r, err := bench.Run(ctx, b.cfg)
		if r == nil {
			return nil, measureError(err)
		}
		r.Version, r.Command, r.Host = version, commandLine(os.Args[1:], b.seed), hostLine()
		return r, measureError(err)
	})
	if err == nil && !r.Measured() {
		return exitCode(exitInconclusive)
	}
	return err
}

// measureError tells a wrong choice of servers from a failure of the harness.
func measureError(err error) error {
	if err == nil {
		return nil
	}
	if unfit, ok := errors.AsType[wiring.UnfitError](err); ok {
		return unfit
	}
	return harnessError{err}
}

// resultsDir is where a measurement writes; it is made when something is
// written.
func resultsDir(out, what string, seed uint64) string {
	return filepath.Join(out, reports.DirName(reports.Meta{Scenario: what, Seed: seed, Began: time.Now()}))
}

// commandLine is the command as it was typed, with the seed that was drawn.
func commandLine(args []string, seed uint64) string {
	words := printable.HideSecrets(append([]string{"torture"}, args...))
	if !slices.ContainsFunc(words, func(w string) bool { return w == "--seed" || strings.HasPrefix(w, "--seed=") }) {
		words = append(words, "--seed", strconv.FormatUint(seed, 10))
	}
	for i, w := range words {
		words[i] = printable.Shell(w)
	}
	return strings.Join(words, " ")
}

func hostLine() string {
	h := reports.ThisHost()
	return fmt.Sprintf("%d CPUs, %s/%s, %s", h.CPUs, h.OS, h.Arch, h.Go)
}

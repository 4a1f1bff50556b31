package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/bench"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/measure"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
	"locktorture/reports"
	benchreport "locktorture/reports/bench"
	"locktorture/workload/history/printable"
)

// A benchCommand is `torture bench`.
type benchCommand struct {
	cfg    bench.Config
	out    string
	format string
	quiet  bool
}

func (t *tool) newBench() *cobra.Command {
	b := &benchCommand{cfg: bench.Config{Catalogue: t.locks}}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "compare locks in one interleaved run: rates, latencies, fairness, cost (about 5 min)",
		Long: "bench runs the locks in turn on the same servers, in a random order that every repeat draws anew, and reports\n" +
			"ratios paired within a repeat, with intervals over whole repeats.\n\nlocks:\n  " +
			strings.Join(measure.ContestantIDs(), "\n  ") + "\n  and every lock of: torture list locks\n\nscenarios:\n  " +
			strings.Join(bench.Scenarios(), "\n  "),
		Args: cobra.NoArgs,
		RunE: b.run,
	}
	f := cmd.Flags()
	f.StringSliceVar(&b.cfg.Locks, "lock", nil, "these locks alone, the first one as the one that the others are held against")
	f.StringSliceVar(&b.cfg.Scenarios, "scenario", nil, "these scenarios alone")
	f.IntSliceVar(&b.cfg.Nodes, "nodes", nil, "masters: 1, 5 or both")
	f.IntSliceVar(&b.cfg.Workers, "workers", nil, "goroutines, where a scenario has several sizes")
	f.IntVar(&b.cfg.Repeats, "repeats", 5, "whole runs of every lock")
	f.DurationVar(&b.cfg.Slice, "slice", 400*time.Millisecond, "measured of one lock in one repeat")
	f.Uint64Var(&b.cfg.Seed, "seed", 0, "seed of the order; drawn when 0")
	f.StringVar(&b.format, "format", "text", "what to print: text, summary (ratios alone, Markdown), markdown, json or gobench")
	f.BoolVar(&b.quiet, "quiet", false, "no progress")
	addFieldFlags(cmd, &b.cfg.Servers, &b.out)
	return cmd
}

// addFieldFlags adds what bench and capacity ask about servers and results.
func addFieldFlags(cmd *cobra.Command, c *measure.Config, out *string) {
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
	f.StringVar(out, "out", runsFolder, "folder in which a directory with the results is made")
}

func (b *benchCommand) run(cmd *cobra.Command, _ []string) error {
	print, err := b.printer()
	if err != nil {
		return err
	}
	if b.cfg.Seed == 0 {
		b.cfg.Seed = drawSeed()
	}
	if err := b.cfg.Validate(); err != nil {
		return err
	}
	discard, err := run.PrepareOut(b.out)
	if err != nil {
		return startError(err)
	}
	defer discard()
	dir := resultsDir(b.out, "bench", b.cfg.Seed)
	b.cfg.Servers.Dir = filepath.Join(dir, "nodes")
	b.cfg.Progress = func(line string) {
		if !b.quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), line)
		}
	}
	r, err := bench.Run(cmd.Context(), b.cfg)
	if cmd.Context().Err() != nil {
		return exitCode(exitInterrupted)
	}
	if err != nil {
		return measureError(err)
	}
	r.Version, r.Command, r.Host = version, commandLine(b.cfg.Seed), hostLine()
	*r = printable.Of(*r)
	if err := r.Write(dir); err != nil {
		return harnessError{err}
	}
	if err := print(r, cmd.OutOrStdout()); err != nil {
		return harnessError{fmt.Errorf("print bench: %w", err)}
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "results", dir)
	return nil
}

// measureError tells servers that were badly chosen from trouble of our own.
func measureError(err error) error {
	if unfit, ok := errors.AsType[wiring.UnfitError](err); ok {
		return unfit
	}
	return harnessError{err}
}

func (b *benchCommand) printer() (func(*benchreport.Report, io.Writer) error, error) {
	switch b.format {
	case "text":
		return (*benchreport.Report).Text, nil
	case "markdown":
		return (*benchreport.Report).Markdown, nil
	case "summary":
		return (*benchreport.Report).Summary, nil
	case "json":
		return (*benchreport.Report).JSON, nil
	case "gobench":
		return (*benchreport.Report).GoBench, nil
	}
	return nil, fmt.Errorf("--format %q: want text, summary, markdown, json or gobench", b.format)
}

// resultsDir is where a measurement writes; it is made when something is
// written.
func resultsDir(out, what string, seed uint64) string {
	return filepath.Join(out, reports.DirName(reports.Meta{Scenario: what, Seed: seed, Began: time.Now()}))
}

// commandLine is what was typed, with the seed that was drawn.
func commandLine(seed uint64) string {
	words := printable.HideSecrets(append([]string{"torture"}, os.Args[1:]...))
	if !strings.Contains(strings.Join(words, " "), "--seed") {
		words = append(words, fmt.Sprintf("--seed %d", seed))
	}
	for i, w := range words {
		if strings.ContainsAny(w, "<>'\"$&;|*? ") && !strings.HasPrefix(w, "--seed") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func hostLine() string {
	h := reports.ThisHost()
	return fmt.Sprintf("%d CPUs, %s/%s, %s", h.CPUs, h.OS, h.Arch, h.Go)
}

package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/envelope"
	envelopereport "locktorture/reports/envelope"
)

// An envelopeCommand is `torture envelope`.
type envelopeCommand struct {
	measurement[envelopereport.Report]
	cfg envelope.Config
}

func (t *tool) newEnvelope() *cobra.Command {
	e := &envelopeCommand{cfg: envelope.Config{Catalogue: t.locks, Play: t.playWith}, measurement: measurement[envelopereport.Report]{
		name: "envelope", page: envelopereport.PageFile, write: (*envelopereport.Report).Write, formats: []format[envelopereport.Report]{
			{"text", (*envelopereport.Report).Text}, {"json", (*envelopereport.Report).JSON}, {"html", (*envelopereport.Report).Page},
		},
	}}
	cmd := &cobra.Command{
		Use:   "envelope",
		Short: "say which lease covers which pauses, delays and clock errors, and what each choice costs",
		Long: "envelope plays rounds in virtual time over leases of 250 ms to 8 s: with pauses of a holder, with delays of every message,\n" +
			"with clocks of a majority that jump, and with crashes. It draws, for every cell, the violations that a store without a fence\n" +
			"would have let happen, those that the fence prevented, those that happened in spite of it, and the share of requests that were\n" +
			"served; and the limit that theory gives. Cells for which --budget leaves no time stay empty. With --on-redis the rounds are played on real servers, several at once, each on\n" +
			"servers of its own, over leases of 0.5 to 2 s. It exits with 3 when no cell was played.",
		Args: cobra.NoArgs,
		RunE: e.run,
	}
	f := cmd.Flags()
	f.StringVar(&e.cfg.Lock, "lock", "redlock", "lock to look at (see: torture list locks); not one in a child process")
	f.IntVar(&e.cfg.Masters, "nodes", 0, "number of masters; 0: as many as the lock is made for")
	f.DurationVar(&e.cfg.Hold, "hold", 20*time.Millisecond, "work done while holding")
	f.IntVar(&e.cfg.Rounds, "rounds", 2, "rounds of every cell")
	f.DurationVar(&e.cfg.Budget, "budget", 5*time.Minute, "real time for all of it")
	f.BoolVar(&e.cfg.OnRedis, "on-redis", false, "play on real servers, on a coarser grid")
	f.IntVar(&e.cfg.Jobs, "jobs", min(2*runtime.NumCPU(), envelope.MaxJobs), "with --on-redis: rounds at once")
	e.addFlags(f, "load and faults")
	return cmd
}

func (e *envelopeCommand) run(cmd *cobra.Command, _ []string) error {
	validate := func() error {
		if cmd.Flags().Changed("jobs") && !e.cfg.OnRedis {
			return fmt.Errorf("--jobs %d: rounds in virtual time are played one after the other: leave it out, or play on real servers with --on-redis", e.cfg.Jobs)
		}
		return e.cfg.Validate()
	}
	r, err := e.measurement.run(cmd, validate, func(ctx context.Context, dir string, say func(string)) (*envelopereport.Report, error) {
		e.cfg.Seed, e.cfg.Progress, e.cfg.Out = e.seed, say, filepath.Join(dir, "rounds")
		r, err := envelope.Run(ctx, e.cfg)
		if err != nil {
			return nil, harnessError{err}
		}
		_ = os.Remove(e.cfg.Out) // of rounds nothing stays
		r.Version, r.Command = version, commandLine(os.Args[1:], e.seed)
		return r, nil
	})
	if err == nil && !r.Played() {
		return exitCode(exitInconclusive)
	}
	return err
}

package app

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/capacity"
	"locktorture/cmd/torture/internal/envelope"
	"locktorture/cmd/torture/internal/run"
	capacityreport "locktorture/reports/capacity"
	envelopereport "locktorture/reports/envelope"
	"locktorture/workload/history/printable"
	"locktorture/workload/load"
)

// A capacityCommand is `torture capacity`.
type capacityCommand struct {
	cfg    capacity.Config
	out    string
	format string
	quiet  bool

	whatIf, plan, from string // questions to a stored calibration
	arrivals           string // file of a trace
}

func (t *tool) newCapacity() *cobra.Command {
	c := &capacityCommand{cfg: capacity.Config{Catalogue: t.locks}}
	cmd := &cobra.Command{
		Use:   "capacity",
		Short: "say how much a lock can carry within an objective, what limits it, and which lease to choose (about 7 min)",
		Long: "capacity offers rates in an open loop until the objectives are missed, and recommends a part of the highest rate\n" +
			"that meets them. It also measures what one hot key carries, how throughput scales, what changes of the surroundings\n" +
			"do to it, and what a lost majority leaves behind. Every figure carries its interval over whole repeats, or the\n" +
			"reason for which it is suppressed. It exits with 3 when no rate can be recommended.\n\n" +
			"What it measured calibrates a model, which answers without a measurement:\n" +
			"  torture capacity --what-if 'nodes=5,rtt=2ms,clients=5000,keys=1e6 zipf 0.99,hold=30ms'\n" +
			"  torture capacity --plan 'rate=20000/s,acquire.p99<50ms,keys=1e6'\n" +
			"reports/README.md states the method, and how far its answers went wrong.",
		Args: cobra.NoArgs,
		RunE: c.run,
	}
	f := cmd.Flags()
	f.StringVar(&c.cfg.Lock, "lock", "redlock", "lock to measure")
	f.StringArrayVar(&c.cfg.SLO, "slo", []string{"acquire.p99<50ms"}, "objective, repeatable; error<0.1% is demanded unless one speaks of errors")
	f.IntVar(&c.cfg.Masters, "nodes", 0, "masters; what the lock is made for when 0")
	f.IntVar(&c.cfg.Clients, "clients", 16, "clients, each with connections of its own")
	f.IntVar(&c.cfg.Keys, "keys", 64, "keys, equally popular")
	f.DurationVar(&c.cfg.Hold, "hold", 20*time.Millisecond, "work done while holding")
	f.DurationVar(&c.cfg.TTL, "ttl", 2*time.Second, "lease asked for")
	f.IntVar(&c.cfg.Repeats, "repeats", 5, "repeats of everything, in random order")
	f.DurationVar(&c.cfg.Step, "step", 1500*time.Millisecond, "measured of one rate in one repeat")
	f.Float64Var(&c.cfg.MaxRate, "max-rate", 20000, "never offer more arrivals per second")
	f.DurationVar(&c.cfg.MaxLag, "max-lag", 0, "lag of the generator (p99) that makes a point invalid; a fifth of the objective when 0")
	f.DurationVar(&c.cfg.Outage, "outage", 2*time.Second, "how long the majority is lost")
	f.DurationVar(&c.cfg.Budget, "budget", 10*time.Minute, "time for everything; what it leaves no time for is suppressed")
	f.Uint64Var(&c.cfg.Seed, "seed", 0, "seed of order, arrivals and intervals; drawn when 0")
	f.StringVar(&c.format, "format", "text", "what to print: text, json, csv or html")
	f.BoolVar(&c.quiet, "quiet", false, "no progress")
	f.StringVar(&c.whatIf, "what-if", "", "predict from a stored calibration: nodes=, rtt=, clients= or rate=, keys=, hold=, think=, shards=, cores=, machines=own")
	f.StringVar(&c.plan, "plan", "", "say from a stored calibration what a rate takes: rate=20000/s,acquire.p99<50ms, and keys=, hold=, rtt=, nodes=")
	f.StringVar(&c.from, "from", "", "the calibration that answers: a capacity.json or its folder; the newest in --out when empty")
	f.StringVar(&c.arrivals, "arrivals", "", "CSV file of recorded arrivals (time, or time,key), which are played in place of rates: at their own pace, slower and faster")
	cmd.MarkFlagsMutuallyExclusive("what-if", "plan", "arrivals")
	addFieldFlags(cmd, &c.cfg.Servers, &c.out)
	return cmd
}

func (c *capacityCommand) run(cmd *cobra.Command, _ []string) error {
	if c.whatIf != "" || c.plan != "" {
		return c.answer(cmd)
	}
	if c.from != "" {
		return errors.New("--from: it names the calibration that answers --what-if or --plan, and neither is given")
	}
	print, err := c.printer()
	if err != nil {
		return err
	}
	if c.cfg.Seed == 0 {
		c.cfg.Seed = drawSeed()
	}
	if err := c.readArrivals(); err != nil {
		return fmt.Errorf("--arrivals: %w", err)
	}
	if err := c.cfg.Validate(); err != nil {
		return err
	}
	discard, err := run.PrepareOut(c.out)
	if err != nil {
		return startError(err)
	}
	defer discard()
	dir := resultsDir(c.out, "capacity", c.cfg.Seed)
	c.cfg.Servers.Dir = filepath.Join(dir, "nodes")
	c.cfg.Progress = func(line string) {
		if !c.quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), line)
		}
	}
	r, err := capacity.Run(cmd.Context(), c.cfg)
	if cmd.Context().Err() != nil {
		return exitCode(exitInterrupted)
	}
	if err != nil {
		return measureError(err)
	}
	r.Version, r.Command, r.Host = version, commandLine(c.cfg.Seed), hostLine()
	*r = printable.Of(*r)
	if err := r.Write(dir); err != nil {
		return harnessError{err}
	}
	if err := print(r, cmd.OutOrStdout()); err != nil {
		return harnessError{fmt.Errorf("print capacity: %w", err)}
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "report", filepath.Join(dir, capacityreport.PageFile))
	if !r.Recommended.Known() {
		return exitCode(exitInconclusive)
	}
	return nil
}

// readArrivals reads the trace, where one is named.
func (c *capacityCommand) readArrivals() error {
	if c.arrivals == "" {
		return nil
	}
	file, err := os.Open(c.arrivals)
	if err != nil {
		return err
	}
	defer file.Close() // it was only read
	c.cfg.Trace, err = load.ReadTrace(file, c.arrivals)
	c.cfg.TraceFile = c.arrivals
	return err
}

// answer answers a question from a stored calibration.
func (c *capacityCommand) answer(cmd *cobra.Command) error {
	r, file, err := capacity.Load(cmp.Or(c.from, c.out))
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	m, err := r.Model()
	if err != nil {
		return fmt.Errorf("--from %s: %w", file, err)
	}
	if c.plan != "" {
		return c.answerPlan(cmd, r, m, file)
	}
	s, err := capacity.WhatIf(c.whatIf, r)
	if err != nil {
		return err
	}
	p, err := m.Predict(c.whatIf, s)
	if err != nil {
		return fmt.Errorf("--what-if: %w", err)
	}
	switch c.format {
	case "text":
		err = r.Answer(cmd.OutOrStdout(), file, p)
	case "json":
		err = writeJSON(cmd.OutOrStdout(), p)
	default:
		return fmt.Errorf("--format %q: an answer is text or json", c.format)
	}
	return asHarness(err)
}

func (c *capacityCommand) answerPlan(cmd *cobra.Command, r *capacityreport.Report, m *capacityreport.Model, file string) error {
	w, err := capacity.PlanFor(c.plan, r)
	if err != nil {
		return err
	}
	plans, err := m.Plan(w)
	if err != nil {
		return fmt.Errorf("--plan: %w", err)
	}
	switch c.format {
	case "text":
		err = r.AnswerPlan(cmd.OutOrStdout(), file, c.plan, plans)
	case "json":
		err = writeJSON(cmd.OutOrStdout(), plans)
	default:
		return fmt.Errorf("--format %q: an answer is text or json", c.format)
	}
	return asHarness(err)
}

func asHarness(err error) error {
	if err != nil {
		return harnessError{err}
	}
	return nil
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// exitInconclusive says that nothing was wrong and not enough was seen.
const exitInconclusive = 3

func (c *capacityCommand) printer() (func(*capacityreport.Report, io.Writer) error, error) {
	switch c.format {
	case "text":
		return (*capacityreport.Report).Text, nil
	case "json":
		return (*capacityreport.Report).JSON, nil
	case "csv":
		return (*capacityreport.Report).CSV, nil
	case "html":
		return (*capacityreport.Report).Page, nil
	}
	return nil, fmt.Errorf("--format %q: want text, json, csv or html", c.format)
}

// newEnvelope is `torture envelope`.
func (t *tool) newEnvelope() *cobra.Command {
	c := envelope.Config{Catalogue: t.locks}
	var out, format string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "envelope",
		Short: "say which lease covers which pauses, delays and clock errors, and what each choice costs (virtual time)",
		Long: "envelope plays rounds in virtual time over leases of 250 ms to 8 s: with pauses of a holder, with delays of every message,\n" +
			"with clocks of a majority that jump, and with crashes. It draws what a store without a fence would have let happen, what the\n" +
			"fence rejected, what happened all the same, and how many requests were served, beside the line that theory draws. Cells\n" +
			"that --budget leaves no time for stay empty. It exits with 3 when no cell was played.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			print, known := map[string]func(*envelopereport.Report, io.Writer) error{
				"text": (*envelopereport.Report).Text, "json": (*envelopereport.Report).JSON, "html": (*envelopereport.Report).Page,
			}[format]
			if !known {
				return fmt.Errorf("--format %q: want text, json or html", format)
			}
			if c.Seed == 0 {
				c.Seed = drawSeed()
			}
			c.Progress = func(line string) {
				if !quiet {
					fmt.Fprintln(cmd.ErrOrStderr(), line)
				}
			}
			if err := c.Validate(); err != nil {
				return err
			}
			discard, err := run.PrepareOut(out)
			if err != nil {
				return startError(err)
			}
			defer discard()
			r, err := envelope.Run(cmd.Context(), c)
			if err != nil {
				return harnessError{err}
			}
			r.Version, r.Command = version, commandLine(c.Seed)
			*r = printable.Of(*r)
			dir := resultsDir(out, "envelope", c.Seed)
			if err := r.Write(dir); err != nil {
				return harnessError{err}
			}
			if err := print(r, cmd.OutOrStdout()); err != nil {
				return harnessError{fmt.Errorf("print envelope: %w", err)}
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "report", filepath.Join(dir, envelopereport.PageFile))
			switch {
			case cmd.Context().Err() != nil:
				return exitCode(exitInterrupted)
			case !r.Played():
				return exitCode(exitInconclusive)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Lock, "lock", "redlock", "lock to look at (see: torture list locks); not one in a child process")
	f.IntVar(&c.Masters, "nodes", 0, "masters; what the lock is made for when 0")
	f.DurationVar(&c.Hold, "hold", 20*time.Millisecond, "work done while holding")
	f.IntVar(&c.Rounds, "rounds", 2, "rounds of every cell")
	f.DurationVar(&c.Budget, "budget", 5*time.Minute, "real time for all of it")
	f.Uint64Var(&c.Seed, "seed", 0, "seed of what is drawn; drawn itself when 0")
	f.StringVar(&format, "format", "text", "what to print: text, json or html")
	f.StringVar(&out, "out", runsFolder, "folder in which a directory with the results is made")
	f.BoolVar(&quiet, "quiet", false, "no progress")
	return cmd
}

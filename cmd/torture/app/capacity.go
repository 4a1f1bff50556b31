package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/capacity"
	capacityreport "locktorture/reports/capacity"
	"locktorture/workload/load"
)

// A capacityCommand is `torture capacity`.
type capacityCommand struct {
	measurement[capacityreport.Report]
	cfg capacity.Config

	whatIf, plan, from string // questions to a stored calibration
	arrivals           string // file of a trace
}

func (t *tool) newCapacity() *cobra.Command {
	c := &capacityCommand{cfg: capacity.Config{Catalogue: t.locks}, measurement: measurement[capacityreport.Report]{
		name: "capacity", page: capacityreport.PageFile, write: (*capacityreport.Report).Write, formats: []format[capacityreport.Report]{
			{"text", (*capacityreport.Report).Text}, {"json", (*capacityreport.Report).JSON}, {"csv", (*capacityreport.Report).CSV}, {"html", (*capacityreport.Report).Page},
		},
	}}
	cmd := &cobra.Command{
		Use:   "capacity",
		Short: "say how much a lock can carry within an objective, what limits it, and which lease to choose (about 7 min)",
		Long: "capacity offers rates in an open loop until the objectives are missed, and recommends a part of the highest rate\n" +
			"that meets them. It also measures the rate on one hot key, how throughput scales, how it changes with delays, a slow\n" +
			"node and other conditions, and how it recovers from the loss of a majority. Every figure carries its interval over whole\n" +
			"repeats, or the reason for which it is suppressed. It exits with 3 when no rate can be recommended, or when it was\n" +
			"interrupted (what it had measured is written), and --plan with 4 when no number of shards meets the objective. If other\n" +
			"programs disturbed most of a calibration's closed loops, it is not used: --what-if and --plan then exit with 3.\n\n" +
			"The measurement calibrates a model, which then answers without measuring:\n" +
			"  torture capacity --what-if 'nodes=5,rtt=2ms,clients=5000,keys=1e6 zipf 0.99,hold=30ms'\n" +
			"  torture capacity --plan 'rate=20000/s,acquire.p99<50ms,keys=1e6'\n" +
			"reports/README.md states the method, and how large the errors of its answers were.",
		Args: cobra.NoArgs,
		RunE: c.run,
	}
	f := cmd.Flags()
	f.StringVar(&c.cfg.Lock, "lock", "redlock", "lock to measure")
	f.StringArrayVar(&c.cfg.SLO, "slo", []string{"acquire.p99<50ms"}, "objective, repeatable; error<0.1% is demanded unless one speaks of errors")
	f.IntVar(&c.cfg.Masters, "nodes", 0, "number of masters; 0: as many as the lock is made for")
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
	c.addFlags(f, "order, arrivals and intervals")
	f.StringVar(&c.whatIf, "what-if", "", "predict from a stored calibration: nodes=, rtt=, clients= or rate=, keys=, hold=, think=, shards=, cores=, machines=own")
	f.StringVar(&c.plan, "plan", "", "say from a stored calibration how many shards a rate needs: rate=20000/s,acquire.p99<50ms, and keys=, hold=, rtt=, nodes=")
	f.StringVar(&c.from, "from", "", "the calibration that answers: a capacity.json or its folder; the newest in --out when empty")
	f.StringVar(&c.arrivals, "arrivals", "", "CSV file of recorded arrivals (time, or time,key), which are played in place of rates: at their own pace, slower and faster")
	cmd.MarkFlagsMutuallyExclusive("what-if", "plan", "arrivals")
	addServerFlags(cmd, &c.cfg.Servers)
	return cmd
}

func (c *capacityCommand) run(cmd *cobra.Command, _ []string) error {
	if cmd.Flags().Changed("what-if") || cmd.Flags().Changed("plan") {
		if err := alone(cmd); err != nil {
			return err
		}
		return c.answer(cmd)
	}
	if c.from != "" {
		return errors.New("--from: it names the calibration that answers --what-if or --plan, and neither is given")
	}
	r, err := c.measurement.run(cmd, c.validate, func(ctx context.Context, dir string, say func(string)) (*capacityreport.Report, error) {
		c.cfg.Seed, c.cfg.Servers.Dir, c.cfg.Progress = c.seed, filepath.Join(dir, "nodes"), say
		r, err := capacity.Run(ctx, c.cfg)
		if r == nil {
			return nil, measureError(err)
		}
		r.Version, r.Command, r.Host = version, commandLine(os.Args[1:], c.seed), hostLine()
		return r, measureError(err)
	})
	if err == nil && !r.Recommended.Known() {
		return exitCode(exitInconclusive)
	}
	return err
}

// alone rejects flags of a measurement beside a question, which a stored calibration answers
// with settings of its own.
func alone(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"what-if", "plan", "from", "out", "format", "quiet"}, f.Name) && err == nil {
			err = fmt.Errorf("--%s: a question is answered from a stored calibration, which has its own; leave it out, or say it in the question", f.Name)
		}
	})
	return err
}

func (c *capacityCommand) validate() error {
	if err := c.readArrivals(); err != nil {
		return fmt.Errorf("--arrivals: %w", err)
	}
	return c.cfg.Validate()
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
	if disturbed, yes := errors.AsType[capacityreport.DisturbedError](err); yes {
		return c.refuse(cmd, r.Refuse(cmp.Or(c.whatIf, c.plan), file, disturbed))
	}
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
	return c.print(cmd, func(w io.Writer) error { return r.Answer(w, file, p) }, r.Sourced(p, file))
}

// print prints an answer in the format of the flag --format: text, or v as JSON.
func (c *capacityCommand) print(cmd *cobra.Command, text func(io.Writer) error, v any) error {
	switch c.format {
	case "text":
		return asHarness(folded(cmd.OutOrStdout(), text))
	case "json":
		return asHarness(writeJSON(cmd.OutOrStdout(), v))
	}
	return fmt.Errorf("--format %q: an answer is text or json", c.format)
}

// refuse says why there is no answer.
func (c *capacityCommand) refuse(cmd *cobra.Command, why capacityreport.Refusal) error {
	if err := c.print(cmd, why.Text, why); err != nil {
		return err
	}
	return exitCode(exitInconclusive)
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
	for i := range plans {
		plans[i].Warnings, plans[i].One = r.Warning, r.Sourced(plans[i].One, file)
	}
	err = c.print(cmd, func(w io.Writer) error { return r.AnswerPlan(w, file, c.plan, plans) }, plans)
	if err == nil && !slices.ContainsFunc(plans, func(p capacityreport.Plan) bool { return p.Why == "" }) {
		return exitCode(checker.SLOBreach.Exit())
	}
	return err
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

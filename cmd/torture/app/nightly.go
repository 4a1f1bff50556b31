package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/nightly"
	"locktorture/cmd/torture/internal/run"
	"locktorture/reports"
)

// A nightlyCommand plays the nightly matrix.
type nightlyCommand struct {
	*tool
	night   nightly.Config
	flags   map[string]string // settings for every cell
	seeds   []uint
	date    string
	canary  bool
	out     string
	began   time.Time
	dir     string
	elapsed func() time.Duration
	farm    farmFlags
	resume  string
}

// nightCanary is broken by a pause of its holder alone, on any testbed.
const nightCanary = "set-nx-ex-del"

// perNight are the settings that a night takes for all of its cells.
var perNight = []string{"testbed", "redis-image"}

func (t *tool) newNightly() *cobra.Command {
	n := &nightlyCommand{tool: t, night: nightly.Config{Catalogue: t.locks}, flags: map[string]string{}}
	cmd := &cobra.Command{
		Use:   "nightly",
		Short: "play locks × scenarios × seeds within a time budget; for a cron job",
		Long: "nightly first plays locks that are known to be broken: when one of them, the canary above all, is not caught,\n" +
			"the night proves nothing and is inconclusive. Then it plays every lock under test in every scenario, with the\n" +
			"seed of the date and with fixed seeds, as many as the budget has room for. It writes summary.md, junit.xml and\n" +
			"night.json, keeps the whole directory of each run that did not pass, says what changed since the night before, and exits by its\n" +
			"verdict.",
		Args: cobra.NoArgs,
		RunE: n.run,
	}
	f := cmd.Flags()
	f.DurationVar(&n.night.Budget, "budget", 2*time.Hour, "time for all of it, e.g. 15m")
	f.StringSliceVar(&n.night.Locks, "lock", []string{"redlock", "single"}, "locks under test")
	f.StringSliceVar(&n.night.Scenarios, "scenario", []string{"standard", "pause", "amnesia", "restarts", "calm"}, "scenarios: built-in ones, or random")
	f.UintSliceVar(&n.seeds, "seeds", []uint{1, 2, 3, 4, 5}, "fixed seeds, beside that of the date")
	f.StringVar(&n.date, "date", "", "the date whose seed is played first, YYYY-MM-DD (today in UTC)")
	f.StringSliceVar(&n.night.KnownBad, "known-bad", []string{"setnx-del", "getset-timestamp", "redlock-plain", "token-clock"},
		"further locks that must be caught")
	f.BoolVar(&n.canary, "canary", true, "play first a lock that must be caught, "+nightCanary+"; a night without it is inconclusive")
	f.StringVar(&n.night.Planted, "plant-mutant", "", "put this mutant in the place of the first lock: the night must fail (see: torture list locks)")
	f.StringVar(&n.out, "out", "nightly", "folder of the nights and of their trend file")
	n.farm.add(f)
	f.StringVar(&n.resume, "resume", "", "with --farm or --nats: folder of a night whose coordinator was killed, to go on with, or latest")
	for _, s := range config.Settings {
		if slices.Contains(perNight, s.Name) {
			f.Var(&flagValue{n.flags, s}, s.Name, s.Help)
		}
	}
	return cmd
}

func (n *nightlyCommand) run(cmd *cobra.Command, _ []string) error {
	isFarm, err := n.farm.on()
	if err != nil {
		return err
	}
	cells, night, err := n.planOrResume(cmd, isFarm)
	if err != nil {
		return err
	}
	if err := summaryWritable(); err != nil {
		return startError(cmd.Context(), err)
	}
	discard, err := run.PrepareOut(n.out)
	if err != nil {
		return startError(cmd.Context(), err)
	}
	defer discard()
	before, err := reports.LastNight(n.out)
	if err != nil {
		return harnessError{err}
	}
	if err := os.MkdirAll(filepath.Join(n.dir, reports.NightRuns), 0o700); err != nil {
		return harnessError{err}
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "torture %s · nightly · %d cells within %v · seeds %s · dir %s\n", version, len(cells), n.night.Budget, seedWords(night.Seeds), n.dir)
	for _, text := range night.LeftOut {
		fmt.Fprintf(w, "  left out  %s\n", text)
	}
	var lost error
	if isFarm {
		if lost, err = n.playOnFarm(cmd, w, cells, night); err != nil {
			return err
		}
	} else {
		n.play(cmd, w, cells, night)
	}
	if lost != nil {
		return harnessError{fmt.Errorf("the farm: %w; --resume %s goes on", lost, n.dir)}
	}
	night.Took = n.elapsed()
	night.Compare(before)
	night.Judge()
	return n.conclude(cmd, w, night)
}

// plan lays the night out.
func (n *nightlyCommand) plan() ([]nightly.Cell, *reports.Night, error) {
	n.began = time.Now()
	n.elapsed = func() time.Duration { return time.Since(n.began) }
	date := n.began.UTC()
	if n.date != "" {
		var err error
		if date, err = time.Parse(time.DateOnly, n.date); err != nil {
			return nil, nil, fmt.Errorf("--date: %q is not a date such as 2026-11-21", n.date)
		}
	}
	if n.night.Budget <= 0 {
		return nil, nil, fmt.Errorf("--budget is %v: above 0", n.night.Budget)
	}
	n.night.Seeds = []uint64{dateSeed(date)}
	for _, s := range n.seeds {
		if s == 0 {
			return nil, nil, fmt.Errorf("--seeds: 0 is no seed")
		}
		n.night.Seeds = append(n.night.Seeds, uint64(s))
	}
	night := &reports.Night{
		Version: version, Commit: revision(), Host: reports.ThisHost(), Began: n.began,
		Budget: n.night.Budget, Seeds: n.night.Seeds, Planted: n.night.Planted,
	}
	if n.canary {
		n.night.Canary = nightCanary
	} else {
		night.Missing = append(night.Missing, "the canary was disabled: nothing shows that the judges could see tonight")
	}
	n.dir = filepath.Join(n.out, n.began.UTC().Format("20060102T150405Z")+"-night")
	n.night.Settings = n.applySettings
	cells, leftOut, err := nightly.Plan(n.night)
	night.LeftOut = leftOut
	return cells, night, err
}

// dateSeed is the date's digits: 20261121.
func dateSeed(d time.Time) uint64 {
	return uint64(d.Year()*10000 + int(d.Month())*100 + d.Day())
}

func seedWords(seeds []uint64) string {
	words := []string{fmt.Sprintf("0x%x (of the date)", seeds[0])}
	for _, s := range seeds[1:] {
		words = append(words, fmt.Sprintf("0x%x", s))
	}
	return strings.Join(words, " ")
}

// applySettings sets what the whole night has in common on one cell.
func (n *nightlyCommand) applySettings(c *config.Config) error {
	if err := c.ReadEnvironment(config.Environ()); err != nil {
		return err
	}
	if err := applyFlags(c, n.flags); err != nil {
		return err
	}
	c.Out = filepath.Join(n.dir, reports.NightRuns)
	if err := c.Reconcile(); err != nil {
		return err
	}
	return n.validate(*c)
}

// play plays the cells one after the other while the budget lasts.
func (n *nightlyCommand) play(cmd *cobra.Command, w io.Writer, cells []nightly.Cell, night *reports.Night) {
	played := map[string]bool{}
	for i := range cells {
		c := &cells[i]
		name := c.Lock + " in " + c.Scenario
		if why := n.spent(cmd.Context(), c.Config.Duration); why != "" {
			night.LeftOut = append(night.LeftOut, fmt.Sprintf("%s, seed 0x%x: %s", name, c.Seed, why))
			if !played[name] {
				night.Missing = append(night.Missing, fmt.Sprintf("%s (%s) was not played: %s", name, c.Role, why))
				played[name] = true
			}
			continue
		}
		nightly.Play(cmd.Context(), c, n.player(night))
		played[name] = true
		night.Cells = append(night.Cells, c.NightCell)
		n.printCell(w, i, len(cells), c)
	}
	if cmd.Context().Err() != nil {
		night.Missing = append(night.Missing, "the night was interrupted")
	}
}

// spent says why a cell whose main phase takes d is not played any more.
func (n *nightlyCommand) spent(ctx context.Context, d time.Duration) string {
	switch {
	case ctx.Err() != nil:
		return "interrupted"
	case n.elapsed()+d > n.night.Budget:
		return "the time was up"
	}
	return ""
}

// playCell plays one cell for a worker.
func (t *tool) playCell(ctx context.Context, c config.Config) (*reports.Run, error) {
	return t.play(ctx, c, nil)
}

// planOrResume lays the night out, or takes over the one of --resume.
func (n *nightlyCommand) planOrResume(cmd *cobra.Command, isFarm bool) ([]nightly.Cell, *reports.Night, error) {
	if n.resume == "" {
		cells, night, err := n.plan()
		if err == nil && isFarm {
			err = n.forFarm(cmd.Context(), cells)
		}
		return cells, night, err
	}
	if !isFarm {
		return nil, nil, errors.New("--resume goes with --farm or --nats alone: a night of this machine leaves nothing to go on with")
	}
	var clash error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "resume" && f.Name != "out" && f.Name != "budget" && f.Name != "farm" && !strings.HasPrefix(f.Name, "nats") && clash == nil {
			clash = fmt.Errorf("--%s beside --resume %s: that night has its own; leave one of both out", f.Name, n.resume)
		}
	})
	if clash != nil {
		return nil, nil, clash
	}
	n.dir = n.resume
	if n.resume == reports.Latest {
		all, err := filepath.Glob(filepath.Join(n.out, "*-night", nightly.PlanFile))
		if err != nil || len(all) == 0 {
			return nil, nil, fmt.Errorf("--resume %s: there is no night of a farm in %s", n.resume, n.out)
		}
		n.dir = filepath.Dir(slices.Max(all))
	}
	night, cells, err := nightly.LoadPlan(n.dir, thisBuild())
	if err != nil {
		return nil, nil, fmt.Errorf("--resume %s: %w", n.resume, err)
	}
	if !cmd.Flags().Changed("budget") {
		n.night.Budget = night.Budget
	}
	n.night.Seeds, n.began = night.Seeds, time.Now()
	n.elapsed = func() time.Duration { return time.Since(n.began) }
	return cells, night, nil
}

func (n *nightlyCommand) printCell(w io.Writer, i, of int, c *nightly.Cell) {
	fmt.Fprintf(w, "t=+%-5s %d/%d  %-16s %-9s seed 0x%-8x %-10s %-13s counts as %s  %s\n", n.elapsed().Round(time.Second), i+1, of,
		c.Lock, c.Scenario, c.Seed, c.Role, c.Verdict, c.Counts, strings.Join(c.Found, " "))
}

func (n *nightlyCommand) player(night *reports.Night) nightly.Player {
	return func(ctx context.Context, c config.Config) (*reports.Run, error) {
		r, err := n.tool.play(ctx, c, nil)
		if r != nil && r.Meta.Testbed.Version != "" {
			night.Testbed = r.Meta.Testbed.Name + ", " + r.Meta.Testbed.Version
		}
		return r, err
	}
}

// conclude writes the night's files, and exits by its verdict.
func (n *nightlyCommand) conclude(cmd *cobra.Command, w io.Writer, night *reports.Night) error {
	if len(night.Cells) == 0 && cmd.Context().Err() != nil {
		return exitCode(exitInterrupted)
	}
	if path := os.Getenv(stepSummary); path != "" {
		if err := reports.AppendSummary(path, night); err != nil {
			return harnessError{err}
		}
		for _, line := range night.Annotations() {
			fmt.Fprintln(cmd.ErrOrStderr(), line)
		}
	}
	if err := reports.WriteNight(n.dir, night); err != nil {
		return harnessError{err}
	}
	if night.Planted == "" { // such a night says nothing about the others
		if err := reports.AppendTrend(n.out, night); err != nil {
			return harnessError{err}
		}
	}
	if err := reports.Link(n.dir); err != nil {
		return harnessError{err}
	}
	fmt.Fprintf(w, "\n%s\n", night.Summary())
	return verdict(w, checker.Verdict(night.Verdict))
}

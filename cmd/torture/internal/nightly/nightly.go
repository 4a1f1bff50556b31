// Package nightly lays out and plays a night: locks × scenarios × seeds within a
// time budget.
package nightly

import (
	"context"
	"fmt"
	"slices"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/gallery"
	"locktorture/cmd/torture/internal/run"
	"locktorture/reports"
	"locktorture/workload/history/historyfile"
)

// A Config shapes a night.
type Config struct {
	Catalogue catalogue.Locks // of which the locks are
	Locks     []string        // under test
	Scenarios []string        // that they are played in
	Seeds     []uint64        // the date's first
	Canary    string          // a lock that must be caught, played first; empty: none
	KnownBad  []string        // further locks that must be caught
	Planted   string          // a mutant under test in place of the first lock; empty: none
	Budget    time.Duration   // for all of it

	// Settings lays over a cell what the whole night has in common.
	Settings func(c *config.Config) error
}

// A Cell is one run of a night.
type Cell struct {
	reports.NightCell
	lock   catalogue.Lock
	Config config.Config
}

// trialScenario is the name of a known-bad lock's own trial.
const trialScenario = "trial"

// cellOverhead is what a run takes beside its phases: testbed, judging,
// reports.
const cellOverhead = 8 * time.Second

// longest is how far a budget may stretch the scenarios.
const longest = 10.0

// Plan lays out a night: the canary, the other locks known to be broken,
// then for one seed after the other every lock in every scenario. Seeds for
// which the budget has no room are left out, and said; what room is left
// stretches the scenarios.
//
// A budget too small for the faults of a cell is an error, which names one that
// would do.
func Plan(n Config) (cells []Cell, leftOut []string, err error) {
	if cells, leftOut, err = n.layOut(); err != nil {
		return nil, nil, err
	}
	misfit := n.fitting(cells)
	if misfit == nil {
		return cells, leftOut, nil
	}
	for enough := n; enough.Budget < longestNight; {
		enough.Budget = (enough.Budget + enough.Budget/10).Round(10*time.Second) + 10*time.Second
		if more, _, err := enough.layOut(); err == nil && n.fitting(more) == nil {
			return nil, nil, fmt.Errorf("--budget is %v: %w (--budget %v is enough for every cell)", n.Budget, misfit, enough.Budget)
		}
	}
	return nil, nil, misfit
}

// longestNight bounds the budgets that are proposed.
const longestNight = 24 * time.Hour

// fitting says whose faults do not fit into the length that the budget leaves.
func (n Config) fitting(cells []Cell) error {
	for _, c := range cells {
		if err := run.FitsFaults(c.Config, c.lock); err != nil {
			return fmt.Errorf("%s in %s: %w", c.Lock, c.Scenario, err)
		}
	}
	return nil
}

func (n Config) layOut() (cells []Cell, leftOut []string, err error) {
	room := n.Budget
	for _, id := range append([]string{n.Canary}, n.KnownBad...) {
		if id == "" {
			continue
		}
		c, err := n.trial(id, n.Seeds[0])
		if err != nil && id != n.Canary {
			err = fmt.Errorf("--known-bad: %w", err)
		}
		if err != nil {
			return nil, nil, err
		}
		if c.Role = reports.KnownBad; id == n.Canary {
			c.Role = reports.TheCanary
		}
		cells, room = append(cells, c), room-c.estimate()
	}
	var rounds [][]Cell
	var need time.Duration
	for _, seed := range n.Seeds {
		round, left, err := n.round(seed)
		if err != nil {
			return nil, nil, err
		}
		if len(rounds) == 0 {
			leftOut = append(leftOut, left...)
		} else if need+total(round) > room {
			leftOut = append(leftOut, fmt.Sprintf("seed 0x%x: no room within %v", seed, n.Budget))
			continue
		}
		rounds, need = append(rounds, round), need+total(round)
	}
	for _, round := range rounds {
		cells = append(cells, round...)
	}
	stretch(cells, room, need)
	return cells, leftOut, nil
}

// round is every lock in every scenario with one seed.
func (n Config) round(seed uint64) (cells []Cell, leftOut []string, err error) {
	locks, scenarios := slices.Clone(n.Locks), n.Scenarios
	if n.Planted != "" {
		if n.Catalogue[n.Planted].Category != catalogue.Mutants {
			return nil, nil, fmt.Errorf("--plant-mutant: mutant %q does not exist%s (torture list locks)", n.Planted, config.DidYouMean(n.Planted, n.mutantIDs()))
		}
		if len(locks) > 0 {
			locks = locks[1:]
		}
		c, err := n.trial(n.Planted, seed)
		if err != nil {
			return nil, nil, err
		}
		c.Role = reports.UnderTest
		cells = append(cells, c)
		locks = append([]string{n.Planted}, locks...)
	}
	for _, lock := range locks {
		for _, name := range scenarios {
			c, why, err := n.cell(lock, name, seed)
			switch {
			case err != nil:
				return nil, nil, err
			case why != "":
				leftOut = append(leftOut, why)
			default:
				cells = append(cells, c)
			}
		}
	}
	return cells, leftOut, nil
}

// cell is one lock in one scenario, or why that cannot be played.
func (n Config) cell(lock, name string, seed uint64) (c Cell, why string, err error) {
	l, err := n.Catalogue.Find(lock)
	if err != nil {
		return c, "", fmt.Errorf("--lock: %w", err)
	}
	if c.Config, err = nightScenario(name); err != nil {
		return c, "", fmt.Errorf("--scenario: %w", err)
	}
	c.Config.Lock, c.Config.Seed = lock, seed
	unfit := n.applySettings(&c)
	if nodes := l.Masters(c.Config); slices.Contains([]string{"amnesia", "restarts"}, name) && nodes <= nodes/2+1 {
		return c, fmt.Sprintf("%s in %s: %d nodes, none of which can be spared", lock, name, nodes), nil
	}
	if unfit != nil {
		return c, "", fmt.Errorf("%s in %s: %w", lock, name, unfit)
	}
	c.lock, c.NightCell = l, reports.NightCell{Lock: l.ID, Scenario: name, Seed: seed, Role: reports.UnderTest}
	return c, "", nil
}

// nightScenario is a built-in scenario, or random: the standard load under a
// plan drawn at random.
func nightScenario(name string) (config.Config, error) {
	if name != "random" {
		return config.Base(name)
	}
	c, err := config.Base("standard")
	c.Scenario, c.Faults, c.PerMinute = name, config.Faults{Plan: name}, nil
	return c, err
}

// trial is a lock that is known to be broken, under the faults that show it.
func (n Config) trial(id string, seed uint64) (c Cell, err error) {
	l, err := n.Catalogue.Find(id)
	if err != nil {
		return c, err
	}
	t, ok := gallery.Trials[id]
	if !ok || len(l.Expected) == 0 {
		return c, fmt.Errorf("lock %s is not known to be broken: no trial is laid out for it", id)
	}
	if c.Config, err = t.Config(id, seed); err != nil {
		return c, err
	}
	c.lock, c.NightCell = l, reports.NightCell{Lock: id, Scenario: trialScenario, Seed: seed}
	return c, n.applySettings(&c)
}

func (n Config) applySettings(c *Cell) error {
	if n.Settings == nil {
		return nil
	}
	return n.Settings(&c.Config)
}

// estimate is how long the cell takes. Where no key stays taken its final phase is over soon after
// every lease has ended.
func (c Cell) estimate() time.Duration {
	return c.Config.Duration + min(c.Config.FinalPhase(), 5*c.Config.TTL) + cellOverhead
}

func total(cells []Cell) (sum time.Duration) {
	for _, c := range cells {
		sum += c.estimate()
	}
	return sum
}

// stretch lengthens or shortens the main phases of what is under test, so that
// need becomes room. A trial keeps its length: its faults have fixed times.
func stretch(cells []Cell, room, need time.Duration) {
	var flexible time.Duration
	for _, c := range cells {
		if c.Scenario != trialScenario {
			flexible += c.Config.Duration
		}
	}
	factor := 1.0
	if flexible > 0 {
		factor = min(longest, max(0.1, 1+float64(room-need)/float64(flexible)))
	}
	for i := range cells {
		if c := &cells[i].Config; cells[i].Scenario != trialScenario {
			c.Duration = time.Duration(float64(c.Duration) * factor).Round(time.Second)
			c.ScaleFloors()
		}
	}
}

func (n Config) mutantIDs() []string {
	var ids []string
	for _, l := range n.Catalogue.In(catalogue.Mutants) {
		ids = append(ids, l.ID)
	}
	return ids
}

// A Player plays one run.
type Player func(ctx context.Context, c config.Config) (*reports.Run, error)

// nightTries is how often a cell is played that ends without an answer.
const nightTries = 2

// Play plays a cell until it has an answer, says in it what came out, and
// removes from a run that counts as a pass what nobody will look at. Violations
// are never played again.
func Play(ctx context.Context, c *Cell, play Player) {
	began := time.Now()
	defer func() { c.Took = time.Since(began) }()
	tries := nightTries
	if c.Role != reports.UnderTest {
		tries = gallery.Rounds
	}
	for c.Tries < tries && ctx.Err() == nil {
		c.Tries++
		r, err := play(ctx, c.Config)
		if err != nil {
			c.Verdict, c.Counts, c.Headline = checker.HarnessError, checker.HarnessError, err.Error()
			return
		}
		c.Fill(r)
		c.Found = gallery.Proved(r)
		c.Counts = c.counts(r)
		if c.Counts != checker.Inconclusive {
			break
		}
		if c.Role != reports.UnderTest {
			c.Config.Seed++ // what one seed does not show, the next may
			c.Seed = c.Config.Seed
		}
	}
	if c.Counts == checker.Pass {
		if err := reports.Prune(c.Dir, historyfile.Name, run.NodesDir); err != nil {
			c.Counts, c.Headline = checker.HarnessError, err.Error()
		}
	}
}

// counts is what a run adds to the night: its verdict, or for a lock known to
// be broken whether it was caught.
func (c *Cell) counts(r *reports.Run) checker.Verdict {
	if c.Role == reports.UnderTest {
		if r.Verdict() == checker.Pass && r.Meta.Faults == 0 && c.Config.Faults.Any() {
			c.Headline = fmt.Sprintf("faults %s: not one of them took place", c.Config.Faults.Plan)
			return checker.Inconclusive
		}
		return r.Verdict()
	}
	if r.Verdict() == checker.HarnessError {
		return checker.HarnessError
	}
	row := gallery.NewRow(c.lock, gallery.Trials, c.Seed)
	row.Judge(c.Found, nil)
	if row.Outcome != gallery.OK {
		c.Headline = fmt.Sprintf("%s was not caught: expected %v, found %v", c.Lock, row.Expected, c.Found)
		return checker.Inconclusive
	}
	return checker.Pass
}

// Package bench compares locks in one interleaved run.
package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/measure"
	"locktorture/reports"
	"locktorture/reports/bench"
	"locktorture/reports/unit"
)

// A Config says what to compare, and for how long.
type Config struct {
	Servers   measure.Config
	Catalogue catalogue.Locks // of which Locks may be
	Locks     []string        // empty: all
	Scenarios []string        // empty: all
	Nodes     []int           // empty: as each scenario has it
	Workers   []int           // empty: as each scenario has it
	Repeats   int
	Slice     time.Duration // measured of one lock in one repeat
	Seed      uint64
	Progress  func(line string)
}

// The bounds of a bench: whatever is asked for, it ends.
const (
	maxWorkers = 1024
)

// Validate reports what is out of range.
func (c Config) Validate() error {
	var errs []error
	demand := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	demand(c.Repeats >= 1 && c.Repeats <= measure.MaxRepeats, "--repeats %d: want 1 to %d", c.Repeats, measure.MaxRepeats)
	demand(c.Slice >= 10*time.Millisecond && c.Slice <= measure.MaxSlice, "--slice %v: want 10ms to %v", c.Slice, measure.MaxSlice)
	for _, n := range c.Nodes {
		demand(n >= 1 && n%2 == 1 && n <= 9, "--nodes %d: want an odd number up to 9", n)
	}
	for _, w := range c.Workers {
		demand(w >= 1 && w <= maxWorkers, "--workers %d: want 1 to %d", w, maxWorkers)
	}
	_, _, err := c.settings()
	return errors.Join(append(errs, c.Servers.Validate(), err)...)
}

// Run measures all locks of all settings, in a random order that each repeat
// draws anew. Of an interrupted bench the report says so; there is none where nothing was
// measured.
func Run(ctx context.Context, c Config) (r *bench.Report, err error) {
	settings, leftOut, err := c.settings()
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		c.Servers.Nodes = max(c.Servers.Nodes, s.masters)
	}
	servers, err := measure.Start(ctx, c.Servers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, servers.Close(context.WithoutCancel(ctx))) }()
	if have := len(servers.Bed.Nodes()); have < c.Servers.Nodes {
		return nil, fmt.Errorf("%d of the masters are given, and %d are needed: give more addresses, or say --nodes %d", have, c.Servers.Nodes, have-1+have%2)
	}
	r = &bench.Report{
		Schema: reports.Schema, Redis: fmt.Sprintf("%s, %s, %s", unit.Counted(len(servers.Bed.Nodes()), "master"), servers.Bed.Name(), servers.Bed.Version()),
		Began: time.Now(), Seed: c.Seed, Repeats: c.Repeats, Slice: c.Slice.Seconds(), Notes: servers.Notes(),
	}
	for _, why := range leftOut {
		r.Notes = append(r.Notes, "left out: "+why)
	}
	for _, l := range c.measured(settings) {
		r.Locks = append(r.Locks, bench.Lock{ID: l.ID, About: l.About})
	}
	if err := servers.Bootstrap(ctx, c.Servers.Nodes); err != nil {
		return nil, err
	}
	c.measure(ctx, servers, settings, r)
	if ctx.Err() != nil && len(r.Cells) == 0 {
		return nil, ctx.Err()
	}
	for _, s := range settings {
		r.Missing += c.Repeats * len(s.locks)
	}
	r.Missing -= len(r.Cells)
	sortCells(r.Cells, settings)
	r.Summarize(c.order())
	return r, nil
}

// measure measures every cell in every repeat, until ctx ends.
func (c Config) measure(ctx context.Context, servers *measure.Servers, settings []setting, r *bench.Report) {
	rng := rand.New(rand.NewPCG(c.Seed, 1))
	for repeat := range c.Repeats {
		c.Progress(fmt.Sprintf("repeat %d of %d", repeat+1, c.Repeats))
		for _, i := range rng.Perm(len(settings)) {
			s := settings[i]
			for _, k := range rng.Perm(len(s.locks)) {
				var cell bench.Cell
				disturbed := servers.Undisturbed(ctx, s.masters, measure.Tries, func() { cell = measureCell(ctx, servers, s, s.locks[k], c.Slice, rng.Uint64()) })
				cell.Repeat, cell.Disturbed = repeat, disturbed
				if ctx.Err() != nil {
					return
				}
				r.Cells = append(r.Cells, cell)
				c.Progress(cellLine(cell))
			}
		}
	}
}

// sortCells brings the cells into the order of the settings.
func sortCells(cells []bench.Cell, settings []setting) {
	place := func(c bench.Cell) int {
		return slices.IndexFunc(settings, func(s setting) bool {
			return s.name == c.Scenario && s.masters == c.Nodes && s.goroutines == c.Workers
		})
	}
	slices.SortStableFunc(cells, func(a, b bench.Cell) int { return place(a) - place(b) })
}

// measured are the locks of any setting, in the order of tables.
func (c Config) measured(settings []setting) (out []measure.Contestant) {
	seen := map[string]measure.Contestant{}
	for _, s := range settings {
		for _, l := range s.locks {
			seen[l.ID] = l
		}
	}
	for _, id := range c.order() {
		if l, ok := seen[id]; ok {
			out = append(out, l)
		}
	}
	return out
}

// order is that of the locks in tables.
func (c Config) order() []string {
	if len(c.Locks) > 0 {
		return once(c.Locks)
	}
	return measure.ContestantIDs()
}

func cellLine(c bench.Cell) string {
	line := fmt.Sprintf("  %-16s nodes=%d workers=%-3d %-12s %9s  acquire p50 %s p99 %s",
		c.Scenario, c.Nodes, c.Workers, c.Lock, unit.Rate(c.Rate), unit.Latency(c.Acquire.P50), unit.Latency(c.Acquire.P99))
	if c.Error != "" {
		line += "  error: " + c.Error
	}
	if c.Disturbed != "" {
		line += "  " + c.Disturbed
	}
	return line
}

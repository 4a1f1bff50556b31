package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/lockimpl"
	"locktorture/reports"
	"locktorture/reports/bench"
	"locktorture/reports/unit"
)

// A BenchConfig says what to compare, and for how long.
type BenchConfig struct {
	Field     FieldConfig
	Locks     []string // empty: all
	Scenarios []string // empty: all
	Nodes     []int    // empty: as each scenario has it
	Workers   []int    // empty: as each scenario has it
	Repeats   int
	Slice     time.Duration // measured of one lock in one repeat
	Seed      uint64
	Progress  func(line string)
}

// The bounds of a bench: whatever is asked for, it ends.
const (
	maxWorkers = 1024
	maxSlice   = 30 * time.Second
	maxRepeats = 50
)

// Validate reports what is out of range.
func (c BenchConfig) Validate() error {
	var errs []error
	demand := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	demand(c.Repeats >= 1 && c.Repeats <= maxRepeats, "--repeats %d: want 1 to %d", c.Repeats, maxRepeats)
	demand(c.Slice >= 10*time.Millisecond && c.Slice <= maxSlice, "--slice %v: want 10ms to %v", c.Slice, maxSlice)
	for _, n := range c.Nodes {
		demand(n >= 1 && n%2 == 1 && n <= 9, "--nodes %d: want an odd number up to 9", n)
	}
	for _, w := range c.Workers {
		demand(w >= 1 && w <= maxWorkers, "--workers %d: want 1 to %d", w, maxWorkers)
	}
	_, err := c.settings()
	return errors.Join(append(errs, c.Field.Validate(), err)...)
}

// Bench measures all locks of all settings, in a random order that each repeat
// draws anew. On an error what was measured so far comes with it.
func Bench(ctx context.Context, c BenchConfig) (r *bench.Report, err error) {
	settings, err := c.settings()
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		c.Field.Nodes = max(c.Field.Nodes, s.masters)
	}
	f, err := newField(ctx, c.Field)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.close(context.WithoutCancel(ctx))) }()
	if have := len(f.bed.Nodes()); have < c.Field.Nodes {
		return nil, fmt.Errorf("%d masters are given, and %d are needed: give more addresses or say --nodes %d", have, c.Field.Nodes, have)
	}
	r = &bench.Report{
		Schema: reports.Schema, Redis: fmt.Sprintf("%d masters, %s, %s", len(f.bed.Nodes()), f.bed.Name(), f.bed.Version()),
		Began: time.Now(), Seed: c.Seed, Repeats: c.Repeats, Slice: c.Slice.Seconds(), Notes: f.notes(),
	}
	if err := f.bootstrap(ctx, c.Field.Nodes); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(c.Seed, 1))
	for repeat := range c.Repeats {
		c.Progress(fmt.Sprintf("repeat %d of %d", repeat+1, c.Repeats))
		for _, i := range rng.Perm(len(settings)) {
			s := settings[i]
			for _, k := range rng.Perm(len(s.locks)) {
				cell := f.cell(ctx, s, s.locks[k], c.Slice, rng.Uint64())
				cell.Repeat = repeat
				if ctx.Err() != nil {
					return r, ctx.Err()
				}
				r.Cells = append(r.Cells, cell)
				c.Progress(cellLine(cell))
			}
		}
	}
	sortCells(r.Cells, settings)
	r.Summarize(c.order())
	return r, nil
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

// order is that of the locks in tables.
func (c BenchConfig) order() []string {
	if len(c.Locks) > 0 {
		return c.Locks
	}
	return ContestantIDs()
}

func cellLine(c bench.Cell) string {
	line := fmt.Sprintf("  %-16s nodes=%d workers=%-3d %-12s %9s  acquire p50 %s p99 %s",
		c.Scenario, c.Nodes, c.Workers, c.Lock, unit.Rate(c.Rate), unit.Latency(c.Acquire.P50), unit.Latency(c.Acquire.P99))
	if c.Error != "" {
		line += "  error: " + c.Error
	}
	return line
}

// notes say what limits the figures.
func (f *field) notes() []string {
	var out []string
	switch {
	case f.embedded():
		out = append(out, "embedded nodes: not Redis; no figure here is a benchmark")
	case slices.ContainsFunc(f.pids, func(pid int) bool { return pid > 0 }):
		out = append(out, "load and Redis share this machine's processors: ratios within this run hold, absolute figures only here")
	}
	return out
}

// bootstrap admits the brand-new nodes to the full lock, on one master and on
// all: two sets of nodes, two prefixes.
func (f *field) bootstrap(ctx context.Context, most int) error {
	for n := 1; n <= most; n += 2 {
		l, err := benchFull(f.fullPrefix(n))(f.direct(n))
		if err != nil {
			return fmt.Errorf("admit %d nodes: %w", n, err)
		}
		err = l.(lockimpl.Bootstrapper).Bootstrap(ctx)
		if err := errors.Join(err, l.Close()); err != nil {
			return fmt.Errorf("admit %d nodes: %w", n, err)
		}
	}
	return nil
}

// fullPrefix is the full lock's prefix on the first n nodes.
func (f *field) fullPrefix(n int) string { return fmt.Sprintf("%s-on%d", f.id, n) }

func (f *field) direct(n int) []lockimpl.Node {
	var nodes []lockimpl.Node
	for _, one := range f.bed.Nodes()[:n] {
		nodes = append(nodes, lockimpl.Node{Name: one.Name(), Addr: one.Addr(), Dial: dialer(one)})
	}
	return nodes
}

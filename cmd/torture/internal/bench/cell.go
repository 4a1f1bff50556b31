package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/measure"
	"locktorture/lockimpl"
	"locktorture/reports/bench"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/load"
)

const (
	benchWarmup    = 150 * time.Millisecond
	quiet          = 100 * time.Millisecond // after a load, before leftovers are counted
	leftoversLimit = 20 * time.Second       // bounds the count
)

// A cell is one lock set up for one load.
type cell struct {
	*measure.Clients
	setting
	servers *measure.Servers
	lock    measure.Contestant
}

// measureCell measures one lock in one setting. What goes wrong is part of the cell.
func measureCell(ctx context.Context, servers *measure.Servers, s setting, l measure.Contestant, slice time.Duration, seed uint64) bench.Cell {
	out := bench.Cell{Scenario: s.name, Nodes: s.masters, Workers: s.goroutines, Lock: l.ID, Allocs: -1, Goroutines: -1}
	clients, err := servers.Connect(ctx, l, s.topology())
	c := &cell{Clients: clients, setting: s, servers: servers, lock: l}
	if err == nil {
		err = errors.Join(c.measure(ctx, &out, slice, seed), c.Close())
	}
	if err != nil {
		out.Error = err.Error()
	}
	out.Leftovers = c.leftovers(ctx)
	return out
}

// topology is one client, or one for every goroutine; the last master may be
// behind a link.
func (s setting) topology() measure.Topology {
	t := measure.Topology{Masters: s.masters, Clients: 1}
	if s.clients {
		t.Clients = s.goroutines
	}
	if s.linked {
		t.Linked = 1
	}
	return t
}

// workers gives every goroutine its client and key.
func (c *cell) workers() []load.Worker {
	keys := c.Keys(c.goroutines)
	if c.hot {
		keys = []string{c.Prefix + "-hot"}
	}
	return c.Workers(c.goroutines, keys)
}

// warmers are the workers with a key each that is not measured.
func (c *cell) warmers() []load.Worker {
	all := c.workers()
	for i := range all {
		all[i].Key = fmt.Sprintf("%s-warm-%d", c.Prefix, i)
	}
	return all
}

// measure warms the connections up, impairs the link, and loads the lock.
func (c *cell) measure(ctx context.Context, out *bench.Cell, slice time.Duration, seed uint64) (err error) {
	task := c.task
	task.Pause = c.lock.Pause
	measure.Labelled(ctx, func(ctx context.Context) { load.Once(ctx, c.warmers(), task, measure.ConnectTime) })
	if c.impair != nil {
		heal, err := c.Impair(ctx, c.masters, *c.impair)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, heal()) }()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	writes, commands := c.Meter.Writes(), c.servers.Commands(ctx, c.masters)
	servers, harness := c.servers.CPUTimes()
	r := c.load(ctx, out, task, slice, seed)
	runtime.ReadMemStats(&after)
	serversAfter, harnessAfter := c.servers.CPUTimes()
	record(out, r)
	pairs := float64(max(r.AllPairs, 1))
	out.RoundTrips = float64(c.Meter.Writes()-writes) / pairs / float64(c.masters)
	out.Commands = (c.servers.Commands(ctx, c.masters) - commands) / pairs
	for i := range c.masters {
		out.ServerCPU += micros(serversAfter[i]-servers[i]) / pairs
	}
	if !c.linked && !c.servers.Embedded() {
		out.Allocs = float64(after.Mallocs-before.Mallocs) / pairs
		out.ClientCPU = micros(harnessAfter-harness) / pairs
	}
	return nil
}

// load runs the closed loop. Behind links, where figures are not about
// microseconds, it counts the lock's goroutines beside the workers.
func (c *cell) load(ctx context.Context, out *bench.Cell, task load.Task, slice time.Duration, seed uint64) (r *load.Result) {
	w := load.Window{Warmup: benchWarmup, Measure: slice}
	if !c.linked {
		return load.Closed(ctx, c.workers(), task, w, seed)
	}
	count := measure.CountGoroutines()
	measure.Labelled(ctx, func(ctx context.Context) { r = load.Closed(ctx, c.workers(), task, w, seed) })
	out.Goroutines = count() - c.goroutines - 1 // the one that waits for the workers is no lock's
	return r
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// record reads a load's result into the cell.
func record(c *bench.Cell, r *load.Result) {
	c.Rate, c.HandOffs = r.Rate(), float64(r.Changes)/r.Window.Seconds()
	c.Acquire = stats.QuantilesOfAll(r.Response)
	c.Release = stats.QuantilesOfAll(r.Release)
	c.HandOff = stats.QuantilesOfAll(r.HandOff)
	c.Extend = stats.QuantilesOfAll(r.Extend)
	c.Jain, c.Least, c.Most = stats.Jain(r.Grants), slices.Min(r.Grants), slices.Max(r.Grants)
	c.Errors, c.CutOff = r.Errors, r.CutOff
	switch {
	case r.Err != nil && r.Errors > 0:
		c.Error = r.Err.Error()
	case r.Pairs == 0:
		c.Error = fmt.Sprintf("not one pair in %s", unit.Setting(r.Window))
	}
}

// leftovers counts the keys that still bear a lease when nobody holds one; -1 where a
// server does not tell.
func (c *cell) leftovers(ctx context.Context) (n int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leftoversLimit)
	defer cancel()
	if c.Clients == nil || len(c.Lockers) == 0 {
		return 0
	}
	lister, ok := c.Lockers[0].(lockimpl.KeyLister)
	if !ok {
		return 0
	}
	var keys []string
	for _, w := range c.workers() {
		keys = append(keys, lister.LeaseKeys(w.Key)...)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	_ = load.Sleep(ctx, quiet)
	for _, a := range c.servers.Admins[:c.masters] {
		found, err := a.Exists(ctx, keys...).Result()
		if err != nil {
			return -1
		}
		n += int(found)
	}
	return n
}

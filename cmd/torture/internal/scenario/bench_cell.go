package scenario

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"locktorture/faults/link"
	"locktorture/lockimpl"
	"locktorture/reports/bench"
	"locktorture/reports/stats"
	"locktorture/workload/load"
)

const (
	benchWarmup = 150 * time.Millisecond
	connectTime = 5 * time.Second        // for the first request of every worker
	quiet       = 100 * time.Millisecond // after a load, before leftovers are counted
	setUpTime   = 20 * time.Second       // bounds what surrounds a load
)

// A stand is one lock set up for one load: its clients, and the road to the
// last node when that is behind a link.
type stand struct {
	*field
	setting
	lock    contestant
	meter   meter
	fabric  link.Fabric
	lockers []lockimpl.Locker
	roads   []link.Link
	prefix  string
}

// cell measures one lock in one setting. What goes wrong is part of the cell.
func (f *field) cell(ctx context.Context, s setting, l contestant, slice time.Duration, seed uint64) bench.Cell {
	c := bench.Cell{Scenario: s.name, Nodes: s.masters, Workers: s.goroutines, Lock: l.id, Allocs: -1, Goroutines: -1}
	st := &stand{field: f, setting: s, lock: l, prefix: f.prefix()}
	err := st.open(ctx)
	if err == nil {
		err = st.measure(ctx, &c, slice, seed)
	}
	if err = errors.Join(err, st.close()); err != nil {
		c.Error = err.Error()
	}
	c.Leftovers = st.leftovers(ctx)
	return c
}

// open builds the clients.
func (st *stand) open(ctx context.Context) error {
	n := 1
	if st.clients {
		n = st.goroutines
	}
	if st.linked {
		st.fabric = link.NewEmbedded()
	}
	for i := range n {
		nodes, err := st.nodes(ctx, fmt.Sprintf("c%02d", i))
		if err != nil {
			return err
		}
		var l lockimpl.Locker
		labelled(ctx, func(context.Context) { l, err = st.lock.factory(st.fullPrefix(st.masters))(nodes) })
		if err != nil {
			return fmt.Errorf("build lock %s: %w", st.lock.id, err)
		}
		st.lockers = append(st.lockers, l)
	}
	return nil
}

// nodes returns the masters as one client sees them.
func (st *stand) nodes(ctx context.Context, client string) ([]lockimpl.Node, error) {
	var out []lockimpl.Node
	for i, n := range st.bed.Nodes()[:st.masters] {
		var road link.Link
		if st.linked && i == st.masters-1 {
			var err error
			if road, err = st.fabric.Open(ctx, client, n.Name(), n.Addr()); err != nil {
				return nil, fmt.Errorf("open link %s→%s: %w", client, n.Name(), err)
			}
			st.roads = append(st.roads, road)
		}
		out = append(out, st.meter.node(n, road))
	}
	return out, nil
}

// workers gives every goroutine its client and key.
func (st *stand) workers() []load.Worker {
	all := make([]load.Worker, st.goroutines)
	for i := range all {
		all[i] = load.Worker{Locker: st.lockers[i%len(st.lockers)], Key: st.prefix + "-hot"}
		if !st.hot {
			all[i].Key = fmt.Sprintf("%s-%d", st.prefix, i)
		}
	}
	return all
}

// strangers are the workers with a key each that is not measured.
func (st *stand) strangers() []load.Worker {
	all := st.workers()
	for i := range all {
		all[i].Key = fmt.Sprintf("%s-warm-%d", st.prefix, i)
	}
	return all
}

// measure warms the connections up, hurts the link, and loads the lock.
func (st *stand) measure(ctx context.Context, c *bench.Cell, slice time.Duration, seed uint64) (err error) {
	task := st.task
	task.Pause = st.lock.pause
	labelled(ctx, func(ctx context.Context) { load.Once(ctx, st.strangers(), task, connectTime) })
	if st.impair != nil {
		heal, err := hurt(ctx, st.roads, *st.impair)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, heal()) }()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	writes, commands := st.meter.writes.Load(), st.commands(ctx, st.masters)
	servers, harness := st.cpuTimes()
	r := st.load(ctx, c, task, slice, seed)
	runtime.ReadMemStats(&after)
	serversAfter, harnessAfter := st.cpuTimes()
	file(c, r)
	pairs := float64(max(r.AllPairs, 1))
	c.RoundTrips = float64(st.meter.writes.Load()-writes) / pairs / float64(st.masters)
	c.Commands = (st.commands(ctx, st.masters) - commands) / pairs
	for i := range st.masters {
		c.ServerCPU += micros(serversAfter[i]-servers[i]) / pairs
	}
	if !st.linked && !st.embedded() {
		c.Allocs = float64(after.Mallocs-before.Mallocs) / pairs
		c.ClientCPU = micros(harnessAfter-harness) / pairs
	}
	return nil
}

// load runs the closed loop. Behind links, where figures are not about
// microseconds, it counts the lock's goroutines beside the workers.
func (st *stand) load(ctx context.Context, c *bench.Cell, task load.Task, slice time.Duration, seed uint64) (r *load.Result) {
	w := load.Window{Warmup: benchWarmup, Measure: slice}
	if !st.linked {
		return load.Closed(ctx, st.workers(), task, w, seed)
	}
	count := census()
	labelled(ctx, func(ctx context.Context) { r = load.Closed(ctx, st.workers(), task, w, seed) })
	c.Goroutines = count() - st.goroutines - 1 // the one that waits for the workers is no lock's
	return r
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// file reads a load's result into the cell.
func file(c *bench.Cell, r *load.Result) {
	c.Rate, c.HandOffs = r.Rate(), float64(r.Changes)/r.Window.Seconds()
	c.Acquire = stats.QuantilesOfAll(r.Response)
	c.Release = stats.QuantilesOfAll(r.Release)
	c.HandOff = stats.QuantilesOfAll(r.HandOff)
	c.Extend = stats.QuantilesOfAll(r.Extend)
	c.Jain, c.Least, c.Most = stats.Jain(r.Grants), slices.Min(r.Grants), slices.Max(r.Grants)
	c.Errors, c.CutOff = r.Errors, r.CutOff
	if r.Err != nil && r.Errors > 0 {
		c.Error = r.Err.Error()
	}
}

// close waits for what the lock has under way.
func (st *stand) close() error { return closeClients(st.lockers, st.fabric) }

// leftovers counts the keys that still bear a lease when nobody holds one.
func (st *stand) leftovers(ctx context.Context) (n int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), setUpTime)
	defer cancel()
	if len(st.lockers) == 0 {
		return 0
	}
	lister, ok := st.lockers[0].(lockimpl.KeyLister)
	if !ok {
		return 0
	}
	var keys []string
	for _, w := range st.workers() {
		keys = append(keys, lister.LeaseKeys(w.Key)...)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	select {
	case <-time.After(quiet):
	case <-ctx.Done():
	}
	for _, a := range st.admins[:st.masters] {
		found, _ := a.Exists(ctx, keys...).Result()
		n += int(found)
	}
	return n
}

package capacity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locktorture/cmd/torture/internal/measure"
	"locktorture/faults/link"
	"locktorture/reports/capacity"
	"locktorture/reports/unit"
	"locktorture/workload/load"
)

// A side is one of the two loads of which an effect is the ratio.
type side struct {
	clients *measure.Clients
	workers int
	keys    int
	task    load.Task
	impair  *link.Impairment
	nodes   int // that the impairment hurts
}

// An effect compares two loads, paired within a repeat.
type effect struct {
	name, of      string
	before, after side
	missing       string // why it cannot be measured
}

const (
	sideWorkers = 32 // goroutines of a compared load
	linkClients = 4  // clients behind links, which cost processor time
	effectPairs = 50 // of a key that is held all the time, in a repeat: of five, as many as a rate wants
)

// sensitivity measures what changes of the surroundings do to throughput.
func (s *survey) sensitivity(ctx context.Context) (err error) {
	var all []*measure.Clients
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.Close())
		}
	}()
	build := func(masters, clients int, linked bool) (*measure.Clients, error) {
		c, err := s.connect(ctx, masters, clients, linked)
		if err == nil {
			all = append(all, c)
		}
		return c, err
	}
	plain, err := build(s.Masters, hotWaiters, false)
	if err != nil {
		return err
	}
	linked, err := build(s.Masters, linkClients, true)
	if err != nil {
		return err
	}
	effects := s.effects(plain, linked)
	fewer := effect{name: fmt.Sprintf("masters %d→%d", s.Masters-2, s.Masters), of: fleetLoad, missing: "the lock runs on one master"}
	if s.Masters >= 5 || s.Masters == 3 && s.lock.Fits(1) {
		small, err := build(s.Masters-2, hotWaiters, false)
		if err != nil {
			return err
		}
		fewer.missing = ""
		fewer.before = side{clients: small, workers: sideWorkers, keys: sideWorkers, task: s.task(0)}
		fewer.after = side{clients: plain, workers: sideWorkers, keys: sideWorkers, task: s.task(0)}
	}
	for _, e := range append(effects, fewer) {
		change, pairs, err := s.change(ctx, e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		s.r.Effects = append(s.r.Effects, capacity.Effect{Name: e.name, Of: e.of, Change: change, Pairs: pairs})
	}
	return nil
}

var fleetLoad = fmt.Sprintf("closed loop, %d goroutines, a key each, no hold", sideWorkers)

// effects lists what is compared on the masters at hand.
func (s *survey) effects(plain, linked *measure.Clients) []effect {
	fleet := func(c *measure.Clients, i *link.Impairment, nodes int) side {
		return side{clients: c, workers: sideWorkers, keys: sideWorkers, task: s.task(0), impair: i, nodes: nodes}
	}
	delay := func(d time.Duration) *link.Impairment {
		return &link.Impairment{Kind: link.Delay, Toward: link.Down, Delay: d}
	}
	rtt := max(time.Millisecond, s.r.RTT)
	hot := func(hold time.Duration) side {
		return side{clients: plain, workers: hotWaiters, keys: 1, task: s.task(hold)}
	}
	spread := func(keys int) side {
		return side{clients: plain, workers: sideWorkers, keys: keys, task: s.task(max(s.Hold, time.Millisecond))}
	}
	longer := fleet(plain, nil, 0)
	longer.task.TTL = 2 * s.TTL
	hold := max(s.Hold, time.Millisecond)
	all := []effect{
		{name: fmt.Sprintf("rtt ×2 (%s→%s, links)", unit.Setting(rtt), unit.Setting(2*rtt)), of: fleetLoad,
			before: fleet(linked, delay(rtt), s.Masters), after: fleet(linked, delay(2*rtt), s.Masters)},
		{name: fmt.Sprintf("hold ×2 (%s→%s)", unit.Setting(hold), unit.Setting(2*hold)), of: fmt.Sprintf("one hot key, %d clients", hotWaiters),
			before: hot(hold), after: hot(2 * hold)},
		{name: fmt.Sprintf("ttl ×2 (%s→%s)", unit.Setting(s.TTL), unit.Setting(2*s.TTL)), of: fleetLoad, before: fleet(plain, nil, 0), after: longer},
		{name: "keys 8→64", of: fmt.Sprintf("closed loop, %d goroutines, hold %s", sideWorkers, unit.Setting(hold)), before: spread(8), after: spread(64)},
		{name: "one slow node (50 ms)", of: fleetLoad, before: fleet(linked, nil, 0), after: fleet(linked, delay(50*time.Millisecond), 1)},
	}
	if 2*s.TTL > 10*time.Second {
		all[2].missing = "twice the TTL is more than the nodes grant"
	}
	if s.Masters == 1 {
		all[4].missing = "the only node being slow is rtt, above"
	}
	return all
}

// change is the relative change of the rate from one load to the other, and how many pairs
// that of the two had that had fewer.
func (s *survey) change(ctx context.Context, e effect) (change capacity.Estimate, fewer int64, err error) {
	if e.missing != "" {
		return capacity.Estimate{Suppressed: e.missing}, 0, nil
	}
	var ratios []float64
	var pairs [2]int64
	tried := 0
	for range s.Repeats {
		if s.late(lateEffects) {
			break
		}
		var rates [2]*load.Result
		for _, i := range s.rng.Perm(2) {
			if rates[i], err = s.rate(ctx, [2]side{e.before, e.after}[i]); err != nil {
				return capacity.Estimate{}, 0, err
			}
		}
		if ctx.Err() != nil {
			return capacity.Estimate{}, 0, ctx.Err()
		}
		before, after := rates[0], rates[1]
		if tried++; before.Pairs > 0 && after.Pairs > 0 { // a load without a pair tells of no rate
			ratios = append(ratios, after.Rate()/before.Rate())
		}
		pairs[0], pairs[1] = pairs[0]+before.Pairs, pairs[1]+after.Pairs
	}
	return capacity.Change(ratios, tried), min(pairs[0], pairs[1]), nil
}

func (s *survey) rate(ctx context.Context, one side) (r *load.Result, err error) {
	if one.impair != nil {
		heal, err := one.clients.Impair(ctx, one.nodes, *one.impair)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, heal()) }()
	}
	w := s.briefly()
	w.Measure = max(w.Measure, effectPairs*one.task.Hold)
	return s.closed(ctx, one.clients.Workers(one.workers, one.clients.Keys(one.keys)), one.task, w), nil
}

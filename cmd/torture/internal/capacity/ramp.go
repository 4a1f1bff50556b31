package capacity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"locktorture/cmd/torture/internal/measure"
	"locktorture/reports/capacity"
	"locktorture/reports/slo"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/load"
)

const (
	growth   = 1.3  // between two rates of the ramp
	first    = 0.06 // of the highest rate, where the ramp begins
	overload = 0.05 // of arrivals still waiting at the end: the backlog grows
	again    = 2    // times that a point that says nothing is tried again
	refine   = 2    // rounds of bisection
)

// rates of the ramp end a step above what the fleet and the keys can carry.
func (s *survey) rates() []float64 {
	top := s.fleet()
	if hot := s.r.Hot.Measured; hot.Known() && s.Hold > 0 {
		top = min(top, hot.Value*float64(s.Keys))
	}
	top = min(max(top*1.1, 20), s.MaxRate)
	var out []float64
	for r := top; r > top*first; r /= growth {
		out = append(out, math.Round(r*10)/10)
	}
	slices.Reverse(out)
	return out
}

const rampPhase = "ramp"

// ramp offers every rate in every repeat, in random order.
func (s *survey) ramp(ctx context.Context) error { return s.offer(ctx, rampPhase, s.rates()) }

// bisect offers rates between the last that met the objectives and the first
// that did not.
func (s *survey) bisect(ctx context.Context) error {
	for range refine {
		low, high, ok := bracket(s.r.Points)
		if !ok || high/low < 1.03 || s.late(lateRamp) {
			return nil
		}
		if err := s.offer(ctx, "bisection", []float64{math.Round(math.Sqrt(low*high)*10) / 10}); err != nil {
			return err
		}
	}
	return nil
}

// bracket returns the highest rate below every rate of which most repeats
// missed the objectives, and the lowest of these.
func bracket(points []capacity.Point) (low, high float64, ok bool) {
	met, all := map[float64]int{}, map[float64]int{}
	for _, p := range points {
		if p.Valid {
			all[p.Rate]++
			if p.OK {
				met[p.Rate]++
			}
		}
	}
	var rates []float64
	for r := range all {
		rates = append(rates, r)
	}
	slices.Sort(rates)
	for i, r := range rates {
		if 2*met[r] < all[r] {
			if i == 0 {
				return 0, 0, false
			}
			return rates[i-1], r, true
		}
	}
	return 0, 0, false
}

func (s *survey) offer(ctx context.Context, phase string, rates []float64) error {
	return s.offerTimes(ctx, phase, rates, s.Repeats)
}

// offerTimes offers rates in so many repeats. A rate that a repeat has had is not offered
// in it again.
func (s *survey) offerTimes(ctx context.Context, phase string, rates []float64, repeats int) (err error) {
	c, err := s.connect(ctx, s.Masters, s.Clients, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	load.Once(ctx, c.Workers(s.Clients*4, c.Keys(s.Clients*4)), s.task(0), measure.ConnectTime)
	for repeat := range repeats {
		if phase == rampPhase {
			s.repeat = repeat
		}
		if repeat >= 2 && s.late(lateRamp) {
			s.r.Warning = append(s.r.Warning, fmt.Sprintf("the budget left time for %d of %d repeats of the %s", repeat, s.Repeats, phase))
			break
		}
		for _, i := range s.rng.Perm(len(rates)) {
			if s.offered(rates[i], repeat) {
				continue
			}
			for range again + 1 {
				p, err := s.point(ctx, c, rates[i], repeat)
				if err := cmp.Or(ctx.Err(), err); err != nil { // what was broken off is no point
					return err
				}
				p.Phase = phase
				s.r.Points = append(s.r.Points, p)
				s.Progress(pointLine(p))
				if p.Valid || s.late(lateRetries) {
					break
				}
			}
		}
	}
	s.repeat = noRepeat
	return nil
}

// offered reports whether a repeat has a valid point of that rate.
func (s *survey) offered(rate float64, repeat int) bool {
	return slices.ContainsFunc(s.r.Points, func(p capacity.Point) bool { return p.Rate == rate && p.Repeat == repeat && p.Valid })
}

func pointLine(p capacity.Point) string {
	mark := "met"
	if !p.OK || !p.Valid {
		mark = p.Why
	}
	return fmt.Sprintf("        %9s  p50 %s  p99 %s  (service p99 %s, lag p99 %s)  %s",
		unit.Rate(p.Rate), unit.Latency(p.Response.P50), unit.Latency(p.Response.P99), unit.Latency(p.Service.P99), unit.Latency(p.Lag.P99), mark)
}

// point offers one rate once.
func (s *survey) point(ctx context.Context, c *measure.Clients, rate float64, repeat int) (capacity.Point, error) {
	var w load.Window
	w.Warmup, w.Measure = s.r.Setup.OpenWindow(s.Hold)
	a := load.Arrivals{Rate: rate, Keys: c.Keys(s.Keys), Limit: maxFlight, Seed: s.rng.Uint64()}
	if len(s.Trace) > 0 {
		a.Pace = rate / s.Trace.Rate()
		a.Trace, w = s.trace(c, a.Pace)
	}
	before := s.servers.Usage()
	r, err := load.Open(ctx, c.Lockers, a, s.task(s.Hold), w)
	if err != nil {
		return capacity.Point{}, err
	}
	busy := s.servers.Usage().Since(before, s.Masters)
	m := measured(r)
	p := capacity.Point{
		Rate: rate, Window: w.Measure, Repeat: repeat, Valid: true, Offered: r.Offered, Done: r.Pairs, Dropped: r.Dropped, CutOff: r.CutOff, Busy: busy,
		Response: m.Response.Quantiles, Service: m.Find(stats.AcquireService, stats.All), Lag: m.Lag,
		SLO: slo.EvaluateAll(s.objectives, m),
	}
	p.OK = slo.Met(p.SLO)
	for _, o := range p.SLO {
		if !o.OK {
			p.Why = fmt.Sprintf("missed %s: %s", o.SLO, o.Observed)
		}
	}
	switch {
	case r.Dropped > 0:
		p.OK, p.Why = false, fmt.Sprintf("%d arrivals dropped: %d under way", r.Dropped, r.MaxFlight)
	case float64(r.CutOff) > overload*float64(r.Offered):
		p.OK, p.Why = false, fmt.Sprintf("the backlog grew to %d", r.CutOff)
	}
	switch {
	case r.Offered == 0:
		p.Valid, p.Why = false, "discarded: no arrival fell into the step"
	case p.Lag.P99 > s.MaxLag:
		p.Valid, p.Why = false, fmt.Sprintf("discarded: the generator lagged by %s (p99)", unit.Latency(p.Lag.P99))
	case measure.Disturbed(busy) != "":
		p.Valid, p.Why = false, "discarded: "+measure.Disturbed(busy)
	}
	if p.Valid {
		t := &s.tails[repeat]
		t.pause = max(t.pause, p.Lag.Max)
		t.overheld = append(t.overheld, r.Overheld...)
		if p.OK {
			t.acquires = append(t.acquires, r.Service...)
		}
	}
	return p, nil
}

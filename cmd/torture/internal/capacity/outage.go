package capacity

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/measure"
	"locktorture/faults/link"
	"locktorture/reports/capacity"
	"locktorture/reports/stats"
	"locktorture/workload/load"
)

const (
	outageRepeats = 3
	saturating    = 128 // goroutines that measure what the links carry
	momentWidth   = 100 * time.Millisecond
)

// loseMajority takes a majority of the nodes away at the recommended rate, and
// watches the queue that it leaves.
func (s *survey) loseMajority(ctx context.Context) (err error) {
	r := &s.r.Recovery
	r.Outage = s.Outage
	limit := capacity.Edge(capacity.Steps(s.r.Points))
	switch {
	case !limit.Known():
		s.noRecovery("there is no recommended rate to lose a majority at: " + limit.Suppressed)
		return nil
	case s.bound == 0:
		s.noRecovery("no objective bounds acquire.p99, so there is nothing to be back inside of")
		return nil
	}
	r.Rate = limit.Value * capacity.Headroom
	c, err := s.connect(ctx, s.Masters, linkClients, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var carried, backlogs, backs []float64
	var felt []outage
	for repeat := range min(s.Repeats, outageRepeats) {
		if s.late(lateRecovery) {
			break
		}
		w := load.Window{Warmup: 200 * time.Millisecond, Measure: max(s.Step/2, 20*s.Hold)}
		carries := load.Closed(ctx, c.Workers(saturating, c.Keys(s.Keys)), s.task(s.Hold), w, s.rng.Uint64()).Rate()
		var o outage
		if o, err = s.outage(ctx, c, s.Masters/2+1, r.Rate, carries); err != nil {
			break
		}
		carried, felt = append(carried, carries), append(felt, o)
		backlogs = append(backlogs, float64(o.backlog))
		if o.back >= 0 {
			backs = append(backs, o.back.Seconds())
		}
		if repeat == 0 {
			r.Timeline = o.timeline
		}
	}
	r.Capacity, r.Backlog = capacity.Amount(carried), capacity.Amount(backlogs)
	r.Back = capacity.Amount(backs)
	if len(backs) < len(backlogs) {
		r.Back = capacity.Estimate{Suppressed: "in some repeats the objective was not met again while it was watched"}
	}
	r.Felt = s.felt(s.Masters/2+1, r.Rate, felt)
	r.Predicted.Backlog, r.Predicted.Drain = capacity.Queue{Rate: r.Rate, Capacity: r.Capacity.Value, Outage: s.Outage.Seconds()}.Predict()
	if math.IsInf(r.Predicted.Drain, 0) {
		r.Predicted.Drain = -1
	}
	return err
}

func (s *survey) noRecovery(why string) {
	none := capacity.Estimate{Suppressed: why}
	s.r.Recovery.Capacity, s.r.Recovery.Backlog, s.r.Recovery.Back = none, none, none
}

// An outage is what one loss of the majority left.
type outage struct {
	backlog  int           // requests under way when the majority was back
	back     time.Duration // after that, until arrivals met the objective again; -1: not seen
	timeline []capacity.Moment

	before, during []time.Duration // response of requests by when they were due
}

// loseOne takes one master away at the recommended rate: how users feel that.
func (s *survey) loseOne(ctx context.Context) (err error) {
	limit := capacity.Edge(capacity.Steps(s.r.Points))
	if !limit.Known() || s.bound == 0 || s.Masters < 3 || s.late(lateRecovery) {
		return nil // the majority's part says why, and of one master the loss is that of the majority
	}
	c, err := s.connect(ctx, s.Masters, linkClients, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	rate := limit.Value * capacity.Headroom
	var all []outage
	for range min(s.Repeats, outageRepeats) {
		if s.late(lateRecovery) {
			break
		}
		var o outage
		if o, err = s.outage(ctx, c, 1, rate, math.Inf(1)); err != nil {
			break
		}
		all = append(all, o)
	}
	s.r.LostMaster = s.felt(1, rate, all)
	return err
}

// felt is how users felt several outages: requests before them, and those that were due
// while they lasted.
func (s *survey) felt(masters int, rate float64, all []outage) *capacity.Failure {
	var before, during []time.Duration
	for _, o := range all {
		before, during = append(before, o.before...), append(during, o.during...)
	}
	f := &capacity.Failure{Masters: masters, Outage: s.Outage, Rate: rate, Times: len(all)}
	for _, d := range during {
		if d >= s.bound {
			f.Late++
		}
	}
	f.Requests = len(during)
	f.Before, f.During = stats.QuantilesOfAll(before), stats.QuantilesOfAll(during)
	f.BeforeShares, f.DuringShares = capacity.Shares(before), capacity.Shares(during)
	return f
}

// watchLimit bounds how long a recovery is watched.
const watchLimit = 15 * time.Second

// outage plays one. The load begins a second before.
func (s *survey) outage(ctx context.Context, c *measure.Clients, masters int, rate, carried float64) (outage, error) {
	const before = time.Second
	_, drain := capacity.Queue{Rate: rate, Capacity: carried, Outage: s.Outage.Seconds()}.Predict()
	watch := watchLimit
	if predicted := 2*drain + 2*s.Step.Seconds(); predicted < watchLimit.Seconds() {
		watch = time.Duration(predicted * float64(time.Second))
	}
	w := load.Window{Warmup: 300 * time.Millisecond, Measure: before + s.Outage + watch}
	from := time.Now().Add(w.Warmup)
	lost, healed := make(chan error, 1), time.Duration(0)
	var down time.Duration
	go func() { // ends when the majority is back, and is waited for below
		lost <- func() error {
			if err := load.Sleep(ctx, w.Warmup+before); err != nil {
				return err
			}
			heal, err := c.Impair(ctx, masters, link.Impairment{Kind: link.BlackHole})
			if err != nil {
				return err
			}
			down = time.Since(from)
			err = load.Sleep(ctx, s.Outage)
			healed = time.Since(from)
			return errors.Join(err, heal())
		}()
	}()
	a := load.Arrivals{Rate: rate, Keys: c.Keys(s.Keys), Limit: maxFlight, Seed: s.rng.Uint64()}
	r, err := load.Open(ctx, c.Lockers, a, s.task(s.Hold), w)
	if err := errors.Join(err, <-lost, ctx.Err()); err != nil {
		return outage{}, err
	}
	out := outage{back: -1}
	for i, due := range r.Due {
		if due <= healed && due+r.Response[i] > healed {
			out.backlog++
		}
		switch {
		case due < 0: // from before the window
		case due < down:
			out.before = append(out.before, r.Response[i])
		case due < healed:
			out.during = append(out.during, r.Response[i])
		}
	}
	out.timeline = moments(r, down)
	out.back = s.backInside(r, healed)
	return out, nil
}

// slicesOf cuts the requests by when they were due.
func slicesOf(r *load.Result, width time.Duration) (out [][]time.Duration) {
	for i, due := range r.Due {
		k := int(due / width)
		for len(out) <= k {
			out = append(out, nil)
		}
		out[k] = append(out[k], r.Response[i])
	}
	return out
}

func moments(r *load.Result, down time.Duration) []capacity.Moment {
	var out []capacity.Moment
	for k, all := range slicesOf(r, momentWidth) {
		q := stats.QuantilesOfAll(slices.Clone(all))
		out = append(out, capacity.Moment{At: (time.Duration(k)*momentWidth - down).Seconds(), P99: q.P99.Seconds(), Count: len(all)})
	}
	return out
}

// backInside is how long after the heal the objective is met again: from the
// first slice on of which it and the next four, taken together, meet the bound.
func (s *survey) backInside(r *load.Result, healed time.Duration) time.Duration {
	const together = 5
	all := slicesOf(r, momentWidth)
	for k := int(healed / momentWidth); k+together <= len(all); k++ {
		q := stats.QuantilesOfAll(slices.Concat(all[k : k+together]...))
		if q.Count > 0 && q.P99 < s.bound {
			return max(time.Duration(k)*momentWidth-healed, 0)
		}
	}
	return -1
}

package capacity

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"locktorture/reports/capacity/queueing"
)

// A keyBound is what the most popular key of a scenario allows in the long run, which a
// play, that has an end, does not reach where many wait for it.
type keyBound struct {
	share float64 // of the requests that want it
	turn  float64 // seconds that one of its holders keeps it from the next
}

// keyBound is that of a scenario; without a share where each client has a key of its own.
func (m *Model) keyBound(s Scenario, c queueing.Curve) (b keyBound) {
	if s.Keys == 0 {
		return b
	}
	keys, _ := queueing.Shard(s.Keys, s.Zipf, s.Shards)
	delays := m.networkDelays(s, c, -1, 1)
	b.share = keys.Hottest()
	b.turn = m.hold(s.Hold) + delays.HandOff + delays.HandedPart()/c.Rate(1) + delays.HandedNetwork()
	return b
}

// bounded corrects an outcome by what the most popular key allows, and by what arrives:
// nothing is served that nobody asked for.
func (m *Model) bounded(s Scenario, out queueing.Outcome, c queueing.Curve) queueing.Outcome {
	b := m.keyBound(s, c)
	if b.share == 0 || b.turn <= 0 {
		return out
	}
	most := 1 / b.turn // of that key
	limit := most / b.share
	switch {
	case s.Rate > 0:
		arriving := s.Rate
		if s.Shards > 1 {
			_, part := queueing.Shard(s.Keys, s.Zipf, s.Shards)
			arriving *= part
		}
		if wanted := arriving * b.share; wanted > queueing.KeptUp*most {
			out.Behind = true
			out.Rate = min(out.Rate, arriving-max(wanted-most, 0))
			if out.Rate == 0 { // none of the holds ended in the play
				out.Rate = min(arriving, limit, c.Highest())
			}
			out.KeyBusy = 1
		}
	case out.Rate > limit, b.share == 1 && s.Clients > 1 && out.KeyBusy > queueing.KeptUp: // of one key that is never free it is just that
		out = s.slowed(out, limit, b.share)
	}
	switch reached := min(out.Rate*b.share*b.turn, 1); {
	case out.Waited == 0: // the holds alone: nobody is kept waiting by the rest
		out.KeyBusy = min(out.Rate*b.share*m.hold(s.Hold), 1)
	case b.share*playPairs < enoughTurns: // of so many keys, the busiest of a play is chance
		out.KeyBusy = reached
	default:
		out.KeyBusy = max(out.KeyBusy, reached)
	}
	return out
}

// enoughTurns of a key tell how much it was in use.
const enoughTurns = 100

// slowed is the outcome of a closed loop at the rate that its busiest key allows. By
// Little's law a round of its clients takes longer than in the play by so much, which is
// spent waiting: by all where keys are alike, and where they are not, by those who want
// that key.
// Source: J. Little, A Proof for the Queuing Formula L = λW, 1961.
func (s Scenario) slowed(out queueing.Outcome, limit, share float64) queueing.Outcome {
	if out.Rate > 0 && s.Clients > 0 {
		longer := float64(s.Clients)/limit - float64(s.Clients)/out.Rate
		p50, p99 := longer, longer
		if s.Zipf > 0 && share < 1 {
			p50, p99 = 0, 0
			if share > 0.5 {
				p50 = longer / share
			}
			if share > 0.01 {
				p99 = longer / share
			}
		}
		out.P50, out.P99 = max(out.P50+p50, 0), max(out.P99+p99, 0)
	}
	out.Rate = limit
	return out
}

// ceiling is the rate that no scenario like this one goes beyond, whatever the error of the
// model: what arrives, what its clients have time for, and what its busiest key can be held.
func (s Scenario) ceiling() float64 {
	keys, part := queueing.Shard(s.Keys, s.Zipf, s.Shards)
	held := math.Inf(1) // how often the busiest key can be
	if s.Keys > 0 && s.Hold > 0 {
		held = 1 / s.Hold.Seconds()
	}
	if s.Rate > 0 {
		arriving := s.Rate * part
		return arriving - max(arriving*keys.Hottest()-held, 0)
	}
	most := math.Inf(1)
	if s.Keys > 0 {
		most = held / keys.Hottest()
	}
	if round := (s.Hold + s.Think).Seconds() + s.roundTrip(); s.Clients > 0 && round > 0 {
		most = min(most, float64(s.Clients)/round)
	}
	return most
}

// within keeps an estimate's interval below what is possible.
func (e Estimate) within(ceiling float64) Estimate {
	e.Value, e.High = min(e.Value, ceiling), min(e.High, ceiling)
	return e
}

// beyond keeps an estimate and its interval above what is possible.
func (e Estimate) beyond(floor float64) Estimate {
	if e.Value = max(e.Value, floor); e.Confidence > 0 {
		e.Low, e.High = max(e.Low, floor), max(e.High, floor)
	}
	return e
}

// consistent keeps figures and intervals to what they cannot contradict: the ceiling, each
// other's order, and for clients of one key, who all wait alike, Little's law: a round of
// theirs takes what their number over the rate is.
func (s Scenario) consistent(rate, p50, p99 Estimate) (r, median, tail Estimate) {
	rate = rate.within(s.ceiling())
	if s.Rate == 0 && s.Keys == 1 && s.Clients > 1 && rate.Confidence > 0 && rate.Low > 0 {
		longest := float64(s.Clients) / rate.Low
		shortest := max(float64(s.Clients)/rate.High-2*(s.Hold+s.Think).Seconds(), 0)
		for _, e := range []*Estimate{&p50, &p99} {
			e.Low, e.High = min(max(e.Low, shortest), e.Value), max(min(e.High, longest), e.Value)
		}
	}
	if p50.Confidence > 0 && p99.Confidence > 0 {
		p50.High, p99.Low = min(p50.High, max(p99.High, p50.Value)), max(p99.Low, min(p50.Low, p99.Value))
	}
	return rate, p50, p99
}

// Sound says what in a stored report cannot be: it was written by another version, or by
// hand.
func (r *Report) Sound(schema int) error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	want(r.Schema == schema, "schema is %d: this version reads %d", r.Schema, schema)
	r.Setup.sound(want)
	want(r.Repeats >= 1 && r.Repeats <= soundRepeats, "repeats is %d: want 1 to %d", r.Repeats, soundRepeats)
	want(r.RTT >= 0 && r.RTT <= time.Hour, "rtt_ns is %d: want 0 to an hour", r.RTT)
	want(!r.Began.IsZero(), "began: want the time at which it was measured")
	for _, h := range headlines {
		e := h.pick(r)
		want(!e.Known() || inRange(e.Value, 1e9) && e.Confidence >= 0 && e.Confidence < 1 && (e.Confidence == 0 || e.Low <= e.Value && e.Value <= e.High && e.High <= 1e9),
			"%s: value %g [%g, %g] with confidence %g: want a figure of at least 0 within its interval", h.name, e.Value, e.Low, e.High, e.Confidence)
	}
	for name, e := range map[string]Estimate{"hot_key.measured": r.Hot.Measured, "hot_key.handoff_s": r.Hot.HandOff, "hot_key.overhold_s": r.Hot.Over} {
		want(!e.Known() || inRange(e.Value, 1e9), "%s.value is %g: want 0 or more", name, e.Value)
	}
	want(r.Hot.Hold >= 0 && r.Hot.Hold <= time.Hour, "hot_key.hold_ns is %d: want 0 to an hour", r.Hot.Hold)
	c := r.Calibration
	if c == nil {
		return errors.Join(errs...)
	}
	c.sound(want)
	for name, loads := range map[string][]Load{
		"sweep": r.Sweep, "calibration.hot_delayed": c.HotDelayed, "calibration.same": c.Same, "calibration.fewer_masters": c.Fewer, "calibration.apart": c.Apart, "calibration.linked": c.Linked, "calibration.delayed": c.Delayed,
	} {
		for i, l := range loads {
			l.sound(r.Repeats, fmt.Sprintf("%s[%d]", name, i), want)
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// Beyond these a stored figure is none.
const (
	soundRepeats = 1000
	soundMasters = 99
	soundKeys    = 10_000_000
	soundCPUs    = 65_536
	soundSpread  = 10 // a factor of e¹⁰
	soundTime    = 3600.0
	soundWork    = 60.0 // seconds of a processor for a pair
)

// A wanted notes what is wanted and is not so.
type wanted func(ok bool, format string, args ...any)

// inRange reports whether x is a number from 0 to most.
func inRange(x, most float64) bool { return x >= 0 && x <= most }

func (s Setup) sound(want wanted) {
	want(s.Masters >= 1 && s.Masters <= soundMasters && s.Masters%2 == 1, "setup.masters is %d: want an odd number up to %d", s.Masters, soundMasters)
	want(s.Clients >= 1 && s.Clients <= 1_000_000, "setup.clients is %d: want 1 to 1000000", s.Clients)
	want(s.Keys >= 1 && s.Keys <= soundKeys, "setup.keys is %d: want 1 to %d", s.Keys, soundKeys)
	want(s.TTL > 0 && s.TTL <= 24*time.Hour, "setup.ttl_ns is %d: want more than 0, and up to a day", s.TTL)
	want(s.Hold >= 0 && s.Hold <= max(s.TTL, 0), "setup.hold_ns is %d: want 0 to the TTL", s.Hold)
	want(s.Step >= 0 && s.Step <= 24*time.Hour, "setup.step_ns is %d: want 0 to a day", s.Step)
}

func (c *Calibration) sound(want wanted) {
	want(c.CPUs >= 1 && c.CPUs <= soundCPUs, "calibration.cpus is %d: want 1 to %d", c.CPUs, soundCPUs)
	want(c.Quorum >= 0 && c.Quorum <= soundMasters, "calibration.quorum is %d: want up to %d", c.Quorum, soundMasters)
	want(c.Linkers >= 0, "calibration.link_clients is %d: want 0 or more", c.Linkers)
	want(inRange(c.Overhold, soundTime), "calibration.overhold_s is %g: want 0 to %g", c.Overhold, soundTime)
	want(len(c.Delayed)+len(c.HotDelayed) == 0 || len(c.Delays) > 0, "calibration.delays_s: there are loads behind delays, and none is listed")
	for i, d := range c.Delays {
		want(inRange(d, soundTime) && (i == 0 || d > c.Delays[i-1]), "calibration.delays_s[%d] is %g: want times in ascending order", i, d)
	}
	for name, e := range map[string]Error{"rate": c.Errors.Rate, "acquire_p50": c.Errors.P50, "acquire_p99": c.Errors.P99} {
		want(e.N >= 0 && inRange(e.Spread, soundSpread) && inRange(e.Median, 1e9) && inRange(e.Worst, 1e9), "calibration.errors.%s: want n, median and worst of at least 0, and a spread of 0 to %d", name, soundSpread)
	}
}

func (l Load) sound(repeats int, at string, want wanted) {
	want(l.N >= 1 && l.N <= 1_000_000, "%s.n is %d: want 1 to 1000000", at, l.N)
	want(l.Repeat >= 0 && l.Repeat < max(repeats, 1), "%s.repeat is %d: want 0 to %d", at, l.Repeat, repeats-1)
	want(inRange(l.Rate, 1e9), "%s.rate is %g: want 0 to 1e9", at, l.Rate)
	want(l.Masters >= 0 && l.Masters <= soundMasters, "%s.masters is %d: want up to %d", at, l.Masters, soundMasters)
	want(inRange(l.Delay, soundTime) && inRange(l.Over, soundTime), "%s: delay_s %g and overhold_s %g: want 0 to %g", at, l.Delay, l.Over, soundTime)
	want(inRange(l.Harness, soundWork) && inRange(l.Redis, soundWork), "%s: harness_s_per_pair %g and redis_s_per_pair %g: want 0 to %g", at, l.Harness, l.Redis, soundWork)
	for phase, t := range map[string]*Times{"acquire": l.Acquire, "release": l.Release} {
		if t == nil {
			continue
		}
		want(t.Mean > 0 && t.Mean <= soundTime, "%s.%s.mean_s is %g: want more than 0", at, phase, t.Mean)
		want(len(t.Quantiles) == len(queueing.Probabilities) && slices.IsSorted(t.Quantiles) && t.Quantiles[0] >= 0 && t.Quantiles[len(t.Quantiles)-1] > 0,
			"%s.%s.quantiles_s: want %d times in ascending order", at, phase, len(queueing.Probabilities))
	}
}

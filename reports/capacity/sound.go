package capacity

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/reports/capacity/queueing"
)

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

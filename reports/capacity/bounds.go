package capacity

import (
	"errors"
	"fmt"
	"math"

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
	road := m.networkDelays(s, c, -1, 1)
	b.share = keys.Hottest()
	b.turn = m.hold(s.Hold) + road.HandOff + road.HandedPart()/c.Rate(1) + road.Acquire + road.Release
	return b
}

// saturated is from which share of its time in use on a key's line grows for longer than
// a play lasts.
const saturated = 0.97

// beyondBound is from where on a play has seen less than the long run: clients that have
// yet to come to wait for the key.
const beyondBound = 1.1

// bounded corrects an outcome by what the most popular key allows, and by what arrives:
// nothing is served that nobody asked for.
func (m *Model) bounded(s Scenario, out queueing.Outcome, c queueing.Curve) queueing.Outcome {
	b := m.keyBound(s, c)
	if b.share == 0 || b.turn <= 0 {
		return out
	}
	most := 1 / b.turn // of that key
	if s.Rate > 0 {
		arriving := s.Rate
		if s.Shards > 1 {
			_, part := queueing.Shard(s.Keys, s.Zipf, s.Shards)
			arriving *= part
		}
		if wanted := arriving * b.share; wanted > saturated*most {
			out.Behind = true
			out.Rate = min(out.Rate, arriving-max(wanted-most, 0))
		}
	} else if limit := most / b.share; out.Rate > limit {
		out.Behind = out.Rate > beyondBound*limit
		out.Rate = limit
	}
	out.KeyBusy = min(out.Rate*b.share*b.turn, 1)
	return out
}

// ceiling is the rate that no scenario like this one goes beyond, whatever the error of the
// model: what arrives, or what its clients have time for.
func (s Scenario) ceiling() float64 {
	switch {
	case s.Rate > 0:
		_, part := queueing.Shard(s.Keys, s.Zipf, s.Shards)
		return s.Rate * part
	case s.Clients > 0 && s.Hold+s.Think > 0:
		return float64(s.Clients) / (s.Hold + s.Think).Seconds()
	}
	return math.Inf(1)
}

// within keeps an estimate's interval below what is possible.
func (e Estimate) within(ceiling float64) Estimate {
	e.Value, e.High = min(e.Value, ceiling), min(e.High, ceiling)
	return e
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
	want(r.Setup.Masters >= 1 && r.Setup.Clients >= 1 && r.Setup.Keys >= 1 && r.Setup.Hold >= 0, "setup: want at least one master, client and key")
	want(r.Repeats >= 1, "repeats is %d: want at least 1", r.Repeats)
	c := r.Calibration
	if c == nil {
		return errors.Join(errs...)
	}
	want(c.CPUs >= 0, "calibration.cpus is %d: want 0 or more", c.CPUs)
	want(len(c.Delayed) == 0 || len(c.Delays) > 0, "calibration.delays_s: there are loads behind delays, and none is listed")
	for name, loads := range map[string][]Load{
		"sweep": r.Sweep, "calibration.same": c.Same, "calibration.fewer_masters": c.Fewer, "calibration.apart": c.Apart, "calibration.linked": c.Linked, "calibration.delayed": c.Delayed,
	} {
		for i, l := range loads {
			want(l.N >= 1 && l.Rate >= 0 && l.Masters >= 0, "%s[%d]: want n of at least 1, and a rate and masters of at least 0", name, i)
			for phase, t := range map[string]*Times{"acquire": l.Acquire, "release": l.Release} {
				want(t == nil || len(t.Quantiles) == len(queueing.Probabilities), "%s[%d].%s.quantiles_s: want %d", name, i, phase, len(queueing.Probabilities))
			}
		}
	}
	return errors.Join(errs...)
}

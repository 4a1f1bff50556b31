package capacity

import (
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

package capacity

import (
	"fmt"
	"slices"

	"locktorture/reports/unit"
)

// A Bottleneck is what limits the rate, with the evidence.
type Bottleneck struct {
	Name     string   `json:"name"`
	Cause    string   `json:"cause"`
	Next     string   `json:"next_step"`
	Evidence []string `json:"evidence"`
}

// The shares above which something counts as the limit.
const (
	redisFull   = 0.85 // of a processor: Redis executes on one thread
	machineFull = 0.90 // of all processors
	intruders   = 0.40 // of a processor, by programs that are neither load nor Redis
	keysFull    = 0.25 // of a key's time: beyond, waits for the key itself make the tail
)

// Blame names what limits the rate from what was busy around it. ceiling is
// what one key can carry, hottest the share of requests that want the most popular key.
func Blame(points []Point, at float64, s Setup, ceiling, hottest float64) Bottleneck {
	b, n := around(points, at)
	if n == 0 {
		return Bottleneck{Name: "unknown", Cause: "no valid point near the limit", Next: "measure on a quieter machine, or with --max-lag"}
	}
	redis := 0.0
	if len(b.Redis) > 0 {
		redis = slices.Max(b.Redis)
	}
	others := max(b.Machine*float64(b.CPUs)-b.Harness-sum(b.Redis), 0)
	inUse := 0.0
	if ceiling > 0 {
		inUse = min(at*hottest/ceiling, 1)
	}
	out := Bottleneck{Evidence: []string{
		fmt.Sprintf("busiest Redis %s of a processor, all %d together %s", unit.Percent(redis), len(b.Redis), unit.Percent(sum(b.Redis))),
		fmt.Sprintf("harness %s of a processor, other programs %s, machine %s of its %d processors", unit.Percent(b.Harness), unit.Percent(others), unit.Percent(b.Machine), b.CPUs),
		fmt.Sprintf("the busiest of %d keys in use %s of the time (one key carries %s)", s.Keys, unit.Percent(inUse), unit.Rate(ceiling)),
		fmt.Sprintf("from %d valid points within 30 %% of %s", n, unit.Rate(at)),
	}}
	switch {
	case b.Machine >= machineFull && others >= intruders:
		out.Name, out.Cause = "other programs on this machine", fmt.Sprintf("they take %s of a processor, and all processors are full", unit.Percent(others))
		out.Next = "measure on a machine of its own before planning with any figure here"
	case redis >= redisFull:
		out.Name, out.Cause = "redis main thread", "one Redis executes all commands on one thread, and that is full"
		out.Next = "shard the keys over more sets of masters"
	case inUse >= keysFull:
		out.Name, out.Cause = "waiting for keys", fmt.Sprintf("at %s of a key's time in use, requests queue behind other holders of the same key", unit.Percent(inUse))
		out.Next = "more keys or a shorter hold; faster servers change little"
	case b.Machine >= machineFull:
		out.Name, out.Cause = "processors of this machine", "load, Redis and other programs share them, and they are full"
		out.Next = "put load and masters on machines of their own, and measure again"
	default:
		out.Name, out.Cause = "round trips and scheduling", "nothing is full: the tail is made on the way"
		out.Next = "look at the tail of the service time, the network and the scheduler; measure longer steps"
	}
	return out
}

// around averages what was busy in the valid points near a rate.
func around(points []Point, at float64) (out Busy, n int) {
	for _, p := range points {
		if !p.Valid || p.Rate < at/1.3 || p.Rate > at*1.3 {
			continue
		}
		n++
		if out.Redis == nil {
			out.Redis = make([]float64, len(p.Busy.Redis))
		}
		for i, v := range p.Busy.Redis {
			out.Redis[i] += v
		}
		out.Harness += p.Busy.Harness
		out.Machine += p.Busy.Machine
		out.CPUs = p.Busy.CPUs
	}
	for i := range out.Redis {
		out.Redis[i] /= float64(n)
	}
	if n > 0 {
		out.Harness /= float64(n)
		out.Machine /= float64(n)
	}
	return out, n
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

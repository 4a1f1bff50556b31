package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/faults"
	"locktorture/workload"
)

// A chancy world shows one finding with a probability that is known of each round.
type chancy struct {
	shows func(r Round) float64

	mu    sync.Mutex
	rng   *rand.Rand
	plays int
}

func (c *chancy) Fits(r Round) error {
	if r.Clients < 1 || r.Load.Keys < leastKeys(r) {
		return fmt.Errorf("%d clients, %d keys", r.Clients, r.Load.Keys)
	}
	for _, x := range r.Steps {
		if x.At+max(0, x.Then)+x.For > r.Duration {
			return fmt.Errorf("%s ends after %v", x.Fault, r.Duration)
		}
	}
	return nil
}

func (c *chancy) Play(ctx context.Context, r Round) Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return Outcome{Void: "called off"}
	}
	c.plays++
	o := Outcome{Took: time.Second}
	if c.rng.Float64() < c.shows(r) {
		o.Findings = []Finding{known}
	}
	return o
}

var known = Finding{ID: "S1", Blame: "server", At: 4 * time.Second}

// crowded is a round in which much goes on that nothing needs.
func crowded() Round {
	r := Round{
		Seed: 9, Clients: 12, TTL: time.Second, Duration: 5 * time.Second,
		Load: config.Load{Keys: 8, Hold: workload.Fixed(50 * time.Millisecond), Think: workload.Fixed(20 * time.Millisecond), Writes: 3, Mode: workload.ModeMixed, Wait: time.Second, Extend: 0.1, LongHold: 0.05},
	}
	for i, fault := range []string{"latency", "reset", "kill-empty", "cut", "stall", "latency", "pause-client", "reset", "one-way", "cut"} {
		r.Steps = append(r.Steps, faults.Spec{Fault: fault, At: time.Duration(i+1) * 400 * time.Millisecond, For: 300 * time.Millisecond})
	}
	return r
}

func has(r Round, fault string) bool {
	return slices.ContainsFunc(r.Steps, func(x faults.Spec) bool { return x.Fault == fault })
}

// inTime is how likely something is to happen that happens so often in a second.
func inTime(perSecond float64, d time.Duration) float64 {
	return 1 - math.Exp(-perSecond*d.Seconds())
}

// TestShrinkReachesWhatIsKnownToBeEnough: in worlds of which the smallest rounds are
// known, and that show their finding in some of the plays alone, what is left shows it
// in 8 of 10, and has on most seeds no more than half of the steps, clients and keys.
func TestShrinkReachesWhatIsKnownToBeEnough(t *testing.T) {
	attempts := func(r Round) float64 { // at each key in a second
		return float64(r.Clients) / (r.Load.Think.Mean + r.Load.Hold.Mean).Seconds() / float64(r.Load.Keys)
	}
	for name, w := range map[string]struct {
		shows func(r Round) float64
		least Size // of rounds that show it at all
	}{
		"two faults, and somebody to suffer": {func(r Round) float64 {
			if !has(r, "pause-client") || !has(r, "kill-empty") || r.Clients < 2 {
				return 0
			}
			return 0.93
		}, Size{Steps: 2, Clients: 2, Keys: 1}},
		"contention alone, the rarer the fewer contend": {func(r Round) float64 {
			if r.Clients < 2 {
				return 0
			}
			return inTime(attempts(r)*float64(r.Clients-1)/40, r.Duration)
		}, Size{Clients: 2, Keys: 1}},
		"a crowd": {func(r Round) float64 {
			if r.Clients < 5 || !has(r, "cut") {
				return 0
			}
			return 0.95
		}, Size{Steps: 1, Clients: 5, Keys: 1}},
		"two keys": {func(r Round) float64 {
			if r.Load.Keys < 2 || !has(r, "stall") {
				return 0
			}
			return 0.9
		}, Size{Steps: 1, Clients: 1, Keys: 2}},
		"less noise shows it better": {func(r Round) float64 {
			if !has(r, "pause-client") {
				return 0
			}
			return max(0.3, 1-float64(len(r.Steps))/15)
		}, Size{Steps: 1, Clients: 1, Keys: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			const seeds = 15
			reliable, halved, within := 0, 0, true
			for seed := range uint64(seeds) {
				s := Shrinker{Executor: &chancy{shows: w.shows, rng: rand.New(rand.NewPCG(seed, 7))}, Jobs: 2}
				small, ok := s.Shrink(t.Context(), crowded(), known)
				b, a := small.Before, small.After
				within = within && a.Steps >= w.least.Steps && a.Clients >= w.least.Clients && a.Keys >= w.least.Keys
				if ok && w.shows(small.Round) >= 0.8 {
					reliable++
				}
				if ok && 2*a.Steps <= b.Steps && 2*a.Clients <= b.Clients && 2*a.Keys <= b.Keys {
					halved++
				}
				if testing.Verbose() {
					t.Logf("seed %d: %+v → %+v, %d of %d, truly %.2f, %d plays", seed, b, a, small.Again, small.Of, w.shows(small.Round), small.Trials)
				}
			}
			if !within || reliable < seeds*4/5 || halved < seeds*4/5 {
				t.Errorf("of %d seeds %d end in a round that shows it reliably, %d in one of half the size; none too small to show it: %v", seeds, reliable, halved, within)
			}
		})
	}
}

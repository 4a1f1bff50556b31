// Package plan makes schedules of faults: out of what a person asked for, and by
// drawing from a seed.
package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"locktorture/faults"
	"locktorture/faults/catalogue"
)

// A Plan is a schedule as drawn, and what was left out of it.
type Plan struct {
	Steps   faults.Schedule `json:"steps"`
	LeftOut []LeftOut       `json:"left_out,omitempty"`
	Asked   int             `json:"asked,omitempty"` // faults that were asked for, or that the plan would have had room for elsewhere
}

// A LeftOut says which fault a plan does without, and why.
type LeftOut struct {
	Fault string `json:"fault"`
	Times int    `json:"times,omitempty"` // how many more of it there would be; 0 is all
	Why   string `json:"why"`
}

// Omissions says in a line each what was left out, the faults together that have one reason.
func (p Plan) Omissions() []string {
	var reasons []string
	omitted := map[string][]string{} // faults, by reason
	for _, l := range p.LeftOut {
		if omitted[l.Why] == nil {
			reasons = append(reasons, l.Why)
		}
		name := l.Fault
		if l.Times > 0 {
			name += fmt.Sprintf(" ×%d", l.Times)
		}
		omitted[l.Why] = append(omitted[l.Why], name)
	}
	for i, why := range reasons {
		reasons[i] = strings.Join(omitted[why], ", ") + ": " + why
	}
	return reasons
}

// A sequence is faults of which no two overlap.
type sequence struct {
	specs []faults.Spec
	gap   func(faults.Spec) time.Duration // recovery after each
}

// steady is the gap of a sequence whose faults leave nothing behind.
func steady(d time.Duration) func(faults.Spec) time.Duration {
	return func(faults.Spec) time.Duration { return d }
}

// afterNodes is the gap of a sequence of faults of nodes: one that forgot may
// be kept out for a while.
func afterNodes(entries map[string]catalogue.Entry, t *faults.Target, others time.Duration) func(faults.Spec) time.Duration {
	return func(s faults.Spec) time.Duration {
		if entries[s.Fault].KeptOut {
			return t.TTL/2 + max(t.TTL, t.Quarantine)
		}
		return others
	}
}

// lay spreads the sequence's faults over a window, in random order and with random
// pauses between them. Those that do not fit are left out, from the end.
func (l sequence) lay(window time.Duration, rng *rand.Rand) (laid, dropped []faults.Spec) {
	var used time.Duration
	for i, s := range l.specs {
		if used+s.For+l.gap(s) > window {
			dropped = append(dropped, l.specs[i])
			continue
		}
		used += s.For + l.gap(s)
		laid = append(laid, s)
	}
	rng.Shuffle(len(laid), func(i, j int) { laid[i], laid[j] = laid[j], laid[i] })
	var at time.Duration
	for i, pause := range shares(window-used, len(laid), rng) {
		at += pause
		laid[i].At = at
		at += laid[i].For + l.gap(laid[i])
	}
	return laid, dropped
}

// shares draws n pauses that together stay below total, none of them much
// larger than the others.
func shares(total time.Duration, n int, rng *rand.Rand) []time.Duration {
	parts := make([]time.Duration, n)
	for i := range parts {
		parts[i] = time.Duration(rng.Float64() * float64(total) / float64(n))
	}
	return parts
}

// roundAt makes the plan's times readable.
func roundAt(specs []faults.Spec) []faults.Spec {
	for i := range specs {
		specs[i].At = specs[i].At.Round(time.Millisecond)
	}
	return specs
}

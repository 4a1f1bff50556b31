package capacity

import (
	"fmt"
	"math"
	"slices"
	"time"

	"locktorture/reports/stats"
	"locktorture/reports/unit"
)

// Cost is what one acquire and release costs, and what a held key costs.
type Cost struct {
	Missing     string   `json:"missing,omitempty"`      // why nothing was measured
	Size        int      `json:"size"`                   // goroutines of the closed loop
	Client      Estimate `json:"client_s_per_pair"`      // processor time of load and lock
	Master      Estimate `json:"master_s_per_pair"`      // of each master
	Commands    Estimate `json:"commands_per_pair"`      // that all masters execute, those in scripts too
	In          Estimate `json:"bytes_to_per_pair"`      // that all masters receive
	Out         Estimate `json:"bytes_from_per_pair"`    // that all masters send
	Connections Estimate `json:"connections_per_client"` // to each master
	Key         Estimate `json:"bytes_per_key"`          // of memory, on each master, while it is held
	Keys        int      `json:"keys"`                   // that were held at once, in every repeat
	Many        Sample   `json:"many_keys"`              // many more at once, on one master
}

// A Sample is what was measured once, so that it has no interval.
type Sample struct {
	Keys    int     `json:"keys"` // held at once
	Each    float64 `json:"bytes_per_key"`
	Missing string  `json:"missing,omitempty"` // why it was not measured
}

// A Failure is what the loss of masters for some seconds did to users' requests.
type Failure struct {
	Masters  int             `json:"masters"` // that were lost at once
	Outage   time.Duration   `json:"outage_ns"`
	Times    int             `json:"times"`
	Rate     float64         `json:"rate"`
	Requests int             `json:"requests"` // due while they were lost
	Late     int             `json:"late"`     // of these, beyond the objective
	Before   stats.Quantiles `json:"before"`   // response from the intended start, of requests due before
	During   stats.Quantiles `json:"during"`   // and while they were lost

	BeforeShares []Share `json:"before_shares,omitempty"` // the distributions of both
	DuringShares []Share `json:"during_shares,omitempty"`
}

// A Share is a point of a distribution: so much of all that was asked for was answered
// within that time.
type Share struct {
	Share  float64       `json:"share"`
	Within time.Duration `json:"within_ns"`
}

// perDecade is how densely the tail of a distribution is kept.
const perDecade = 12

// Shares are the distribution of all durations, evenly over the logarithm of what is left
// out, up to the longest.
func Shares(all []time.Duration) (out []Share) {
	if len(all) == 0 {
		return nil
	}
	ordered := slices.Sorted(slices.Values(all))
	n := float64(len(ordered))
	for i := 0.0; ; i++ {
		left := math.Pow(10, -i/perDecade)
		if left*n < 1 {
			return append(out, Share{1, ordered[len(ordered)-1]})
		}
		out = append(out, Share{1 - left, ordered[max(int(math.Ceil((1-left)*n))-1, 0)]})
	}
}

// bytesOf writes a number of bytes.
func bytesOf(n float64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", n/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.1f kB", n/1e3)
	}
	return fmt.Sprintf("%.0f B", n)
}

// million is a number of keys that people ask for.
const million = 1_000_000

// lines are the costs as text.
func (c Cost) lines(masters int) []Line {
	if c.Missing != "" {
		return []Line{{"cost", "not measured: " + c.Missing}}
	}
	if !c.Commands.Known() {
		return nil
	}
	out := []Line{
		{"cost of a pair", fmt.Sprintf("processor time %s in the clients, %s in each of %s (closed loop, %d goroutines)", formatEstimate(c.Client, seconds), formatEstimate(c.Master, seconds), unit.Counted(masters, "master"), c.Size)},
		{"", fmt.Sprintf("all masters together: %s commands, %s to them, %s from them; %s connections of a client to each",
			formatEstimate(c.Commands, unit.Number), formatEstimate(c.In, bytesOf), formatEstimate(c.Out, bytesOf), formatEstimate(c.Connections, unit.Number))},
	}
	memory := "of a held key: " + formatEstimate(c.Key, bytesOf)
	if c.Key.Known() {
		memory = fmt.Sprintf("a held key takes %s on each master, of %s held at once", formatEstimate(c.Key, bytesOf), unit.Count(c.Keys))
	}
	return append(append(out, Line{"memory", memory}), c.millionKeys()...)
}

// millionKeys is what a million held keys take, from the largest number that was held.
func (c Cost) millionKeys() []Line {
	fold := func(keys int) string { return unit.Number(million / float64(keys)) }
	switch many := c.Many; {
	case many.Keys > 0 && many.Missing == "":
		return []Line{{"", fmt.Sprintf("≈ %s for 1 M keys on each master, extrapolated %s-fold from %s held at once on one master, %s each (measured once, so that it has no interval)",
			bytesOf(many.Each*million), fold(many.Keys), unit.Count(many.Keys), bytesOf(many.Each))}}
	case c.Key.Known() && c.Keys > 0:
		text := fmt.Sprintf("≈ %s for 1 M keys on each master, extrapolated %s-fold from %s held at once", formatEstimate(c.Key.Times(million), bytesOf), fold(c.Keys), unit.Count(c.Keys))
		if many.Missing != "" {
			text += "; many more were not measured: " + many.Missing
		}
		return []Line{{"", text}}
	}
	return nil
}

// what failed.
func (f *Failure) what() string {
	if f.Masters > 1 {
		return fmt.Sprintf("%d masters", f.Masters)
	}
	return "one master"
}

// line says how users felt a failure.
func (f *Failure) line() string {
	return fmt.Sprintf("%s silent for %s, %d times at %s: of %s due meanwhile %s missed the objective; acquire p50 %s, p90 %s, p99 %s, max %s (before: p50 %s, p99 %s)",
		f.what(), unit.Setting(f.Outage), f.Times, rate(f.Rate), unit.Counted(f.Requests, "request"), unit.Percent(float64(f.Late)/float64(max(f.Requests, 1))),
		unit.Latency(f.During.P50), unit.Latency(f.During.P90), unit.Latency(f.During.P99), unit.Latency(f.During.Max), unit.Latency(f.Before.P50), unit.Latency(f.Before.P99))
}

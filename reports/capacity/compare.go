package capacity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locktorture/reports/unit"
)

// A Guard is a change that must not be: of a figure, by a share or more.
type Guard struct {
	Figure string
	Change float64 // −0.1 is 10 % less
}

// A headline is a figure that two measurements are held against each other by.
type headline struct {
	name   string
	pick   func(*Report) Estimate
	format func(float64) string
}

var headlines = []headline{
	{"recommended", func(r *Report) Estimate { return r.Recommended }, rate},
	{"limit", func(r *Report) Estimate { return r.Limit }, rate},
	{"knee", func(r *Report) Estimate { return r.Knee }, rate},
	{"hot", func(r *Report) Estimate { return r.Hot.Measured }, rate},
	{"handoff", func(r *Report) Estimate { return r.Hot.HandOff }, seconds},
	{"lambda", func(r *Report) Estimate { return r.USL.Lambda }, rate},
	{"recovery", func(r *Report) Estimate { return r.Recovery.Back }, seconds},
}

// ParseGuard reads a guard such as "recommended -10%".
func ParseGuard(text string) (Guard, error) {
	var names []string
	for _, c := range headlines {
		names = append(names, c.name)
	}
	words := strings.Fields(text)
	if len(words) != 2 || !slices.Contains(names, words[0]) {
		return Guard{}, fmt.Errorf("%q: want a figure and a change, such as 'recommended -10%%'; the figures are %s", text, strings.Join(names, ", "))
	}
	number, percent := strings.CutSuffix(words[1], "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !percent || !(v >= -100 && v <= 1e6) || v == 0 || !strings.ContainsAny(number[:1], "+-") {
		return Guard{}, fmt.Errorf("%q: %s is no change: want one such as -10%% or +25%%", text, words[1])
	}
	return Guard{words[0], v / 100}, nil
}

// A Comparison holds a measurement against an earlier one.
type Comparison struct {
	Lines   []string
	Failed  []string // guards that were run into
	Unknown []string // guards of figures that one of the two lacks
}

// Compare holds two measurements against each other.
func Compare(before, after *Report, guards []Guard) (out Comparison) {
	for i, r := range []*Report{before, after} {
		for _, w := range r.Warning {
			out.Lines = append(out.Lines, fmt.Sprintf("warning of the %s: %s", []string{"first", "second"}[i], w))
		}
	}
	for _, differs := range settings(before, after) {
		out.Lines = append(out.Lines, "not the same load: "+differs)
		if len(guards) > 0 {
			out.Unknown = append(out.Unknown, "not the same load: "+differs)
		}
	}
	for _, differs := range surroundings(before, after) {
		out.Lines = append(out.Lines, "not the same surroundings: "+differs)
	}
	for _, c := range headlines {
		a, b := c.pick(before), c.pick(after)
		if !a.Known() || !b.Known() || a.Value == 0 {
			out.Lines = append(out.Lines, fmt.Sprintf("%-12s %s; %s", c.name, show(a, c.format), show(b, c.format)))
			continue
		}
		note := "the intervals overlap"
		if a.apart(b) {
			note = "the intervals are apart"
		}
		out.Lines = append(out.Lines, fmt.Sprintf("%-12s %s → %s: %s, %s", c.name, show(a, c.format), show(b, c.format), unit.Change(b.Value/a.Value-1), note))
	}
	for _, g := range guards {
		i := slices.IndexFunc(headlines, func(h headline) bool { return h.name == g.Figure })
		a, b := headlines[i].pick(before), headlines[i].pick(after)
		if !a.Known() || !b.Known() || a.Value == 0 {
			out.Unknown = append(out.Unknown, fmt.Sprintf("%s: one of the two has no such figure", g.Figure))
			continue
		}
		change := b.Value/a.Value - 1
		if g.Change < 0 && change <= g.Change+rounding || g.Change > 0 && change >= g.Change-rounding {
			text := fmt.Sprintf("%s changed by %s, and %s is too much", g.Figure, unit.Change(change), unit.Change(g.Change))
			if !a.apart(b) {
				text += " (the intervals overlap: it may be chance)"
			}
			out.Failed = append(out.Failed, text)
		}
	}
	return out
}

// A pair is one setting of two measurements.
type pair struct{ name, a, b string }

// settings are those of the load in which two measurements differ.
func settings(a, b *Report) []string {
	return differing(
		pair{"lock", a.Setup.Lock, b.Setup.Lock},
		pair{"masters", fmt.Sprint(a.Setup.Masters), fmt.Sprint(b.Setup.Masters)},
		pair{"clients", fmt.Sprint(a.Setup.Clients), fmt.Sprint(b.Setup.Clients)},
		pair{"keys", fmt.Sprint(a.Setup.Keys), fmt.Sprint(b.Setup.Keys)},
		pair{"hold", unit.Setting(a.Setup.Hold), unit.Setting(b.Setup.Hold)},
		pair{"ttl", unit.Setting(a.Setup.TTL), unit.Setting(b.Setup.TTL)},
		pair{"objectives", strings.Join(a.SLO, ", "), strings.Join(b.SLO, ", ")},
	)
}

// surroundings are the servers and machines in which they differ.
func surroundings(a, b *Report) []string {
	return differing(pair{"redis", a.Redis, b.Redis}, pair{"host", a.Host, b.Host})
}

func differing(pairs ...pair) (out []string) {
	for _, p := range pairs {
		if p.a != p.b {
			out = append(out, fmt.Sprintf("%s %s against %s", p.name, p.a, p.b))
		}
	}
	return out
}

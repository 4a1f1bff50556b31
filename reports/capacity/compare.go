package capacity

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locktorture/reports/plots"
	"locktorture/reports/unit"
)

// A Guard is a change that must not happen: of a figure, by a share or more.
type Guard struct {
	Figure string
	Change float64 // −0.1 is 10 % less
}

// String writes the guard.
func (g Guard) String() string { return fmt.Sprintf("%s %+.4g%%", g.Figure, 100*g.Change) }

// A headline is a figure by which two measurements are compared.
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

// A Comparison compares a measurement with an earlier one.
type Comparison struct {
	Before, After Side
	Cautions      []string // what the measurements say against themselves, and in what they are not alike
	Figures       []Difference
	Guards        []string // that were asked for, as they were written
	Failed        []string // guards that were run into
	Unknown       []string // guards of figures that one of the two lacks
}

// A Side is one of the two measurements.
type Side struct{ File, Title, Began string }

// A Difference is one figure of both measurements.
type Difference struct {
	Name          string
	Before, After string
	Change        string // of the second against the first; empty where one of them is not known
	Note          string // whether the intervals overlap
	apart         bool
	change        plots.Change
}

// Compare holds two measurements against each other.
func Compare(before, after *Report, guards []Guard) (out Comparison) {
	out.Before, out.After = before.side(), after.side()
	for _, w := range before.Warning {
		of := "the first"
		if slices.Contains(after.Warning, w) {
			of = "both"
		}
		out.Cautions = append(out.Cautions, "warning of "+of+": "+w)
	}
	for _, w := range after.Warning {
		if !slices.Contains(before.Warning, w) {
			out.Cautions = append(out.Cautions, "warning of the second: "+w)
		}
	}
	unlike := settings(before, after)
	for _, differs := range unlike {
		out.Cautions = append(out.Cautions, "not the same load: "+differs)
	}
	if len(unlike) > 0 && len(guards) > 0 {
		out.Unknown = append(out.Unknown, "the two loads are not the same, and a guard says nothing of such")
	}
	for _, differs := range surroundings(before, after) {
		out.Cautions = append(out.Cautions, "not the same surroundings: "+differs)
	}
	for _, h := range headlines {
		out.Figures = append(out.Figures, h.difference(before, after))
	}
	for _, g := range guards {
		out.Guards = append(out.Guards, g.String())
		if len(unlike) == 0 {
			out.hold(g, before, after)
		}
	}
	return out
}

func (r *Report) side() Side {
	return Side{Title: fmt.Sprintf("%s, %d repeats, seed %s", r.Title(), r.Repeats, unit.Seed(r.Seed)), Began: r.Began.UTC().Format("2006-01-02 15:04 MST")}
}

func (h headline) difference(before, after *Report) Difference {
	a, b := h.pick(before), h.pick(after)
	d := Difference{Name: h.name, Before: formatEstimate(a, h.format), After: formatEstimate(b, h.format)}
	if !a.Known() || !b.Known() || a.Value == 0 {
		return d
	}
	d.Change, d.Note, d.apart = unit.Change(b.Value/a.Value-1), "the intervals overlap", a.apart(b)
	if d.apart {
		d.Note = "the intervals are apart"
	}
	d.change = plots.Change{Name: h.name, Value: 100 * (b.Value/a.Value - 1)}
	d.change.Low, d.change.High = d.change.Value, d.change.Value
	if a.Low > 0 && a.Confidence > 0 && b.Confidence > 0 {
		d.change.Low, d.change.High = 100*(b.Low/a.High-1), 100*(b.High/a.Low-1)
	}
	return d
}

// hold checks the measurements against a guard.
func (c *Comparison) hold(g Guard, before, after *Report) {
	i := slices.IndexFunc(headlines, func(h headline) bool { return h.name == g.Figure })
	a, b := headlines[i].pick(before), headlines[i].pick(after)
	if !a.Known() || !b.Known() || a.Value == 0 {
		c.Unknown = append(c.Unknown, fmt.Sprintf("%s: one of the two has no such figure", g.Figure))
		return
	}
	change := b.Value/a.Value - 1
	if g.Change < 0 && change <= g.Change+rounding || g.Change > 0 && change >= g.Change-rounding {
		text := fmt.Sprintf("%s changed by %s, and %s is too much", g.Figure, unit.Change(change), unit.Change(g.Change))
		if !a.apart(b) {
			text += " (the intervals overlap: it may be chance)"
		}
		c.Failed = append(c.Failed, text)
	}
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
			out = append(out, fmt.Sprintf("%s %s against %s", p.name, cmp.Or(p.a, "none"), cmp.Or(p.b, "none")))
		}
	}
	return out
}

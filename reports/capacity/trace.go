package capacity

import (
	"fmt"
	"math"
	"strings"

	"locktorture/reports/unit"
)

// pace writes a rate as what it is of the trace's own.
func (a *Arrivals) pace(rate float64) string { return fmt.Sprintf("×%.2f", rate/a.Rate) }

// recorded are the valid points of the trace at its own pace, and how many of them met
// the objectives.
func (r *Report) recorded() (points []Point, met int) {
	for _, p := range r.Points {
		if p.Valid && math.Abs(p.Rate/r.Arrivals.Rate-1) < 1e-9 {
			points = append(points, p)
			if p.OK {
				met++
			}
		}
	}
	return points, met
}

// traceLines are the answer to a trace of arrivals, most important first.
func (r *Report) traceLines() []Line {
	a := r.Arrivals
	keys := fmt.Sprintf("keys drawn from %d equally popular ones", r.Setup.Keys)
	if a.Keys > 0 {
		keys = fmt.Sprintf("%s, the most popular wanted by %s of them", unit.Counted(a.Keys, "key"), unit.Percent(a.Hottest))
	}
	out := []Line{{"arrivals", fmt.Sprintf("%s: %s in %s, %s on average, %s in the busiest second; %s",
		a.File, unit.Counted(a.Count, "arrival"), unit.Span(a.Span), rate(a.Rate), rate(a.Peak), keys)}}
	points, met := r.recorded()
	as := Line{"at their own pace", fmt.Sprintf("no valid repeat of %d", r.Repeats)}
	if len(points) > 0 {
		pick := func(value func(Point) float64) Estimate {
			var all []float64
			for _, p := range points {
				all = append(all, value(p)/1e9)
			}
			return Amount(all)
		}
		as.Text = fmt.Sprintf("%d of %d repeats meet %s; acquire p50 %s, p99 %s", met, len(points), strings.Join(r.SLO, ", "), formatEstimate(pick(p50), seconds), formatEstimate(pick(p99), seconds))
		if a.Count < enough {
			as.Text += fmt.Sprintf("; few: %s, where a p99 wants %d", unit.Counted(a.Count, "arrival"), enough)
		}
	}
	out = append(out, as)
	carried := formatEstimate(r.Limit, rate)
	if r.Limit.Known() {
		carried = fmt.Sprintf("up to %s of their own pace [%s, %s] (n = %d), %s on average", a.pace(r.Limit.Value), a.pace(r.Limit.Low), a.pace(r.Limit.High), r.Limit.N, rate(r.Limit.Value))
	}
	out = append(out, Line{"carried", carried}, Line{"limited by", r.Bottleneck.Name + ": " + r.Bottleneck.Cause})
	for _, e := range r.Bottleneck.Evidence {
		out = append(out, Line{"", e})
	}
	return append(out, Line{"lease", r.lease()})
}

// traceAdvice is the answer to a trace in sentences.
func (r *Report) traceAdvice(discarded string) []string {
	a := r.Arrivals
	points, met := r.recorded()
	var out []string
	switch {
	case len(points) == 0:
		out = append(out, fmt.Sprintf("Nothing can be said of %s at its own pace: no repeat was valid. %s.", a.File, upper(discarded)))
	case 2*met <= len(points):
		out = append(out, fmt.Sprintf("The lock does not carry %s: %d of %d repeats at its own pace meet the objectives (%s).", a.File, met, len(points), strings.Join(r.SLO, ", ")))
	default:
		out = append(out, fmt.Sprintf("The lock carries %s: %d of %d repeats at its own pace meet the objectives (%s).", a.File, met, len(points), strings.Join(r.SLO, ", ")))
	}
	if r.Limit.Known() {
		out = append(out, fmt.Sprintf("Played faster or slower, it is carried up to %s of its own pace; with %s confidence that lies between %s and %s (%d repeats). Bursts grow with the pace, so that this says more than an even rate of as many arrivals.",
			a.pace(r.Limit.Value), unit.Percent(r.Limit.Confidence), a.pace(r.Limit.Low), a.pace(r.Limit.High), r.Limit.N))
	} else {
		out = append(out, fmt.Sprintf("How much faster it may come is not known: %s.", r.Limit.Suppressed))
	}
	return out
}

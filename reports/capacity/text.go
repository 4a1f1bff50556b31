package capacity

import (
	"fmt"
	"io"
	"strings"
	"time"

	"locktorture/reports/unit"
)

// A Line is one figure of the answer: what it is, the figure with n and
// interval, and how it came about.
type Line struct{ Label, Text string }

// formatEstimate writes an estimate with its interval and n, or why there is none.
func formatEstimate(e Estimate, format func(float64) string) string {
	if !e.Known() {
		return "suppressed: " + e.Suppressed
	}
	if e.Confidence == 0 {
		return fmt.Sprintf("%s (n = %d)", format(e.Value), e.N)
	}
	return fmt.Sprintf("%s [%s, %s] (n = %d)", format(e.Value), format(e.Low), format(e.High), e.N)
}

func rate(v float64) string    { return unit.Rate(v) }
func seconds(v float64) string { return unit.Latency(time.Duration(v * float64(time.Second))) }
func small(v float64) string   { return fmt.Sprintf("%.2g", v) }

// Lines are the answer, most important first.
func (r *Report) Lines() []Line {
	if r.Arrivals != nil {
		return r.traceLines()
	}
	out := []Line{
		{"recommended", r.recommended()},
		{"limit", r.limit()},
		{"knee", r.knee()},
		{"one hot key", r.hot()},
		{"model (USL)", r.model()},
		{"limited by", r.Bottleneck.Name + ": " + r.Bottleneck.Cause},
	}
	for _, e := range r.Bottleneck.Evidence {
		out = append(out, Line{"", e})
	}
	for i, e := range r.Effects {
		label := "sensitivity"
		if i > 0 {
			label = ""
		}
		out = append(out, Line{label, fmt.Sprintf("%s → %s (%s)%s", e.Name, formatEstimate(e.Change, unit.Change), e.Of, e.few())})
	}
	out = append(out, Line{"lease", r.lease()})
	out = append(out, r.Cost.lines(r.Setup.Masters)...)
	out = append(out, r.recovery()...)
	label := "failures as felt"
	for _, f := range []*Failure{r.LostMaster, r.Recovery.Felt} {
		if f != nil && f.Times > 0 {
			out = append(out, Line{label, f.line()})
			label = ""
		}
	}
	return append(out, Line{"not measured", strings.Join(r.NotMeasured, ", ")})
}

func (r *Report) recommended() string {
	if !r.Recommended.Known() {
		return formatEstimate(r.Recommended, rate)
	}
	return fmt.Sprintf("%s acquire+release, %s of the limit; %s interval %s to %s (n = %d)", rate(r.Recommended.Value), unit.Percent(Headroom),
		unit.Percent(r.Recommended.Confidence), rate(r.Recommended.Low), rate(r.Recommended.High), r.Recommended.N)
}

func (r *Report) limit() string {
	if !r.Limit.Known() {
		return formatEstimate(r.Limit, rate)
	}
	return formatEstimate(r.Limit, rate) + ": the highest rate that meets " + strings.Join(r.SLO, ", ") + r.few(r.Limit)
}

// few says when a rate of the ramp rests on so few arrivals that the p99 of a repeat near
// it is one of the slowest of them.
func (r *Report) few(e Estimate) string {
	fewest := int64(-1)
	for _, p := range r.Points {
		if near := p.Rate >= e.Value*0.8 && p.Rate <= e.Value*1.25; near && p.Valid && p.Offered > 0 && (fewest < 0 || p.Offered < fewest) {
			fewest = p.Offered
		}
	}
	if fewest < 0 || fewest >= enough {
		return ""
	}
	return fmt.Sprintf("; few: %s in a repeat at a rate near it, where a p99 wants %d: a longer --step has more", unit.Counted(int(fewest), "arrival"), enough)
}

// few says when a change rests on few pairs.
func (e Effect) few() string {
	if !e.Change.Known() {
		return ""
	}
	return fewPairs("", e.Pairs)
}

// fewPairs says when a rate rests on few pairs; of an unknown number, which is 0, nothing.
func fewPairs(where string, pairs int64) string {
	if pairs == 0 || pairs >= enough {
		return ""
	}
	return fmt.Sprintf("; few%s: %s in all, where a rate wants %d", where, unit.Counted(int(pairs), "pair"), enough)
}

// fewLoops says when a size of the sweep rests on few pairs: the one that has the fewest.
func (r *Report) fewLoops() string {
	at, fewest := 0, int64(0)
	for _, n := range sizesOf(r.Sweep) {
		pairs := int64(0)
		for _, l := range sizedAs(r.Sweep, n) {
			pairs += l.Pairs
		}
		if pairs > 0 && (fewest == 0 || pairs < fewest) {
			at, fewest = n, pairs
		}
	}
	return fewPairs(fmt.Sprintf(" at N = %d", at), fewest)
}

func (r *Report) knee() string {
	if !r.Knee.Known() {
		return formatEstimate(r.Knee, rate)
	}
	return formatEstimate(r.Knee, rate) + ": p99 leaves its flat part" + r.few(r.Knee)
}

// enough events for a rate that is told to a few percent.
const enough = 200

func (r *Report) hot() string {
	h := r.Hot
	over := ""
	if h.Over.Known() {
		over = fmt.Sprintf(", which a timer makes %s longer,", formatEstimate(h.Over, seconds))
	}
	text := fmt.Sprintf("measured %s; predicted %s = 1/(hold %s%s + hand-off %s); no bigger server changes it",
		formatEstimate(h.Measured, rate), formatEstimate(h.Predicted, rate), unit.Setting(h.Hold), over, formatEstimate(h.HandOff, seconds))
	if h.Measured.Known() && h.Pairs < enough {
		text += fmt.Sprintf("; few: %d pairs in all, where a rate wants %d", h.Pairs, enough)
	}
	if h.Measured.apart(h.Predicted) {
		text += fmt.Sprintf("; measured and predicted differ by more than both intervals (%s): the hand-off under a hold is not the one without", unit.Change(h.Measured.Value/h.Predicted.Value-1))
	}
	return text
}

// unseen is what coherence takes at the largest size, below which it is not seen.
const unseen = 0.01

func (r *Report) model() string {
	load := " (closed loop, a key per goroutine, no hold)" + r.fewLoops()
	if !r.USL.Lambda.Known() {
		return formatEstimate(r.USL.Lambda, rate) + load
	}
	kappa := "κ " + formatEstimate(r.USL.Kappa, small)
	if n := float64(r.USL.Most); r.USL.Kappa.High*n*n < unseen { // where the fit of its logarithm ended says nothing
		kappa = "κ too small to be told from 0"
	}
	return fmt.Sprintf("λ %s per goroutine, σ %s, %s; %s%s", formatEstimate(r.USL.Lambda, rate), formatEstimate(r.USL.Sigma, small), kappa, peakWords(r.USL.Peak), load)
}

func (r *Report) lease() string {
	if !r.Lease.TTL.Known() {
		return formatEstimate(r.Lease.TTL, seconds)
	}
	acquire, hold := "acquire p99.9", "hold p99.99"
	switch each := r.Lease.Samples / int64(max(r.Lease.TTL.N, 1)); { // of fewer samples, these are the largest
	case each < 1000:
		acquire, hold = "the slowest acquire", "the longest hold"
	case each < 10_000:
		hold = "the longest hold"
	}
	return fmt.Sprintf("ttl ≥ %s: the most that any repeat needed to cover %s %s + %s %s + longest pause %s, and a renewal every third of it that is missed once (%s holds); the largest of %d repeats has no interval, and one more would ask for more with probability 1/%d",
		formatEstimate(r.Lease.TTL, seconds), acquire, unit.Latency(r.Lease.Acquire), hold, unit.Latency(r.Lease.Hold), unit.Latency(r.Lease.Pause), unit.Count(r.Lease.Samples),
		r.Lease.TTL.N, r.Lease.TTL.N+1)
}

func (r *Report) recovery() []Line {
	v := r.Recovery
	if !v.Backlog.Known() {
		return []Line{{"if a majority is lost", formatEstimate(v.Backlog, rate)}}
	}
	drained := fmt.Sprintf("drained %.2g s after", v.Predicted.Drain)
	if v.Predicted.Drain < 0 {
		drained = "never drained"
	}
	return []Line{
		{"if a majority is lost", fmt.Sprintf("for %s at %s: %s wait; predicted %s", unit.Setting(v.Outage), rate(v.Rate), formatEstimate(v.Backlog, unit.Number), unit.Number(v.Predicted.Backlog))},
		{"", fmt.Sprintf("until the objective is met again: %s; predicted %s, at %s on the same links", formatEstimate(v.Back, seconds), drained, formatEstimate(v.Capacity, rate))},
	}
}

// Title says what was measured.
func (r *Report) Title() string {
	s := r.Setup
	return fmt.Sprintf("%s on %d × %s, rtt %s", s.Lock, s.Masters, r.Redis, unit.Latency(r.RTT))
}

// Subtitle says under which load.
func (r *Report) Subtitle() string {
	s := r.Setup
	how := fmt.Sprintf("Poisson, latency from the intended start · %d repeats of %s per rate", r.Repeats, unit.Setting(s.Step))
	if r.Arrivals != nil {
		how = fmt.Sprintf("arrivals of %s, latency from the intended start · %d repeats", r.Arrivals.File, r.Repeats)
	}
	return fmt.Sprintf("%d clients · %d keys · hold %s · ttl %s · open loop, %s · %d points, %d discarded · seed %s · took %s",
		s.Clients, s.Keys, unit.Setting(s.Hold), unit.Setting(s.TTL), how, len(r.Points), r.Discarded, unit.Seed(r.Seed), unit.Span(r.Took))
}

// Text writes the answer for a terminal.
func (r *Report) Text(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "CAPACITY  %s      SLO: %s\n          %s\n", r.Title(), strings.Join(r.SLO, ", "), r.Subtitle())
	for _, warning := range r.Warning {
		fmt.Fprintf(&out, "  %-22s%s\n", "warning", warning)
	}
	for _, l := range append(r.Lines(), r.modelLines()...) {
		fmt.Fprintf(&out, "  %-22s%s\n", l.Label, l.Text)
	}
	fmt.Fprintln(&out)
	for _, a := range r.Advice {
		fmt.Fprintf(&out, "  %s\n", a)
	}
	fmt.Fprintf(&out, "\n  [low, high]: %s intervals over whole repeats (n). command: %s\n", unit.Percent(confidence), r.Command)
	_, err := io.WriteString(w, out.String())
	return err
}

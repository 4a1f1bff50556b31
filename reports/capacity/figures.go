package capacity

import (
	"fmt"
	"math"
	"strings"

	"locktorture/reports/plots"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
)

// figures draws what the answer rests on. Each caption carries n and the
// interval.
func (r *Report) figures() []*plots.Figure {
	out := []*plots.Figure{r.rampFigure(), r.goodputFigure(), r.lagFigure()}
	if r.Arrivals == nil {
		out = append(out, r.uslFigure(), r.effectFigure())
	}
	if c := r.Calibration; c != nil && len(c.Ramp) > 0 {
		out = append(out, r.modelFigure())
	}
	if c := r.Calibration; c != nil && len(c.HeldOut) > 0 {
		out = append(out, r.heldOutFigure())
	}
	if len(r.Recovery.Timeline) > 0 {
		out = append(out, r.recoveryFigure())
	}
	if f := r.failureFigure(); f != nil {
		out = append(out, f)
	}
	return out
}

// trace is one figure of every point that passes the filter.
func (r *Report) trace(name string, keep func(Point) bool, value func(Point) float64) plots.Trace {
	t := plots.Trace{Name: name, Dots: true}
	for _, p := range r.Points {
		if keep(p) {
			t.X, t.Y = append(t.X, p.Rate), append(t.Y, value(p))
		}
	}
	return t
}

// middle is the median over repeats of every rate, as a line.
func (r *Report) middle(name string, value func(Point) float64) plots.Trace {
	t := plots.Trace{Name: name}
	for _, rate := range ratesOf(Steps(r.Points)) {
		var all []float64
		for _, p := range r.Points {
			if p.Valid && p.Rate == rate {
				all = append(all, value(p))
			}
		}
		t.X, t.Y = append(t.X, rate), append(t.Y, stats.Median(all))
	}
	return t
}

func valid(p Point) bool   { return p.Valid }
func invalid(p Point) bool { return !p.Valid }

func p99(p Point) float64     { return float64(p.Response.P99) }
func p50(p Point) float64     { return float64(p.Response.P50) }
func service(p Point) float64 { return float64(p.Service.P99) }

// marks are the limit, the knee and the recommendation, as far as there are.
func (r *Report) marks() []plots.Mark {
	var out []plots.Mark
	for _, m := range []struct {
		name string
		e    Estimate
	}{{"recommended", r.Recommended}, {"knee", r.Knee}, {"limit", r.Limit}} {
		if m.e.Known() {
			out = append(out, plots.Mark{Name: m.name + " " + unit.Rate(m.e.Value), At: m.e.Value, Low: m.e.Low, High: m.e.High})
		}
	}
	return out
}

// marked says which marks are drawn.
func (r *Report) marked() string {
	var names []string
	for _, m := range r.marks() {
		name, _, _ := strings.Cut(m.Name, " ")
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return "; marked: " + strings.Join(names, ", ")
}

// present leaves out traces without points.
func present(all ...plots.Trace) []plots.Trace {
	var out []plots.Trace
	for _, t := range all {
		if len(t.X) > 0 {
			out = append(out, t)
		}
	}
	return out
}

func (r *Report) basis() string {
	return fmt.Sprintf("n = %d repeats of %s per rate; bands: %s intervals over repeats.", r.Repeats, unit.Setting(r.Setup.Step), unit.Percent(confidence))
}

func (r *Report) rampFigure() *plots.Figure {
	return plots.XY{
		Name: "ramp", Title: "Acquire latency over offered rate (open loop)",
		Alt:    "Latency from the intended start by offered rate: p99 of every repeat as dots, medians of p50, p99 and service p99 as lines" + r.marked() + ". " + r.basis(),
		XLabel: "offered rate (acquire+release per second)", YLabel: "latency (log)", LogTime: true,
		Threshold: float64(r.Bound), ThresholdName: "objective",
		Traces: present(r.middle("p99", p99), r.middle("p50", p50), r.middle("service p99", service), r.trace("p99 per repeat", valid, p99), r.trace("discarded", invalid, p99)),
		Marks:  r.marks(),
	}.Figure()
}

func (r *Report) goodputFigure() *plots.Figure {
	done := func(p Point) float64 { return float64(p.Done) / p.span(r.Setup.Step).Seconds() }
	ideal := plots.Trace{Name: "offered"}
	for _, v := range ratesOf(Steps(r.Points)) {
		ideal.X, ideal.Y = append(ideal.X, v), append(ideal.Y, v)
	}
	return plots.XY{
		Name: "goodput", Title: "Completed over offered rate (open loop)",
		Alt:    "Pairs completed per second by offered rate; where the points leave the diagonal a backlog grows. " + r.basis(),
		XLabel: "offered rate (per second)", YLabel: "completed per second",
		Traces: present(ideal, r.middle("completed", done), r.trace("per repeat", valid, done)), Marks: r.marks(),
	}.Figure()
}

func (r *Report) lagFigure() *plots.Figure {
	redis := func(p Point) float64 {
		most := 0.0
		for _, v := range p.Busy.Redis {
			most = max(most, v)
		}
		return 100 * most
	}
	return plots.XY{
		Name: "busy", Title: "What was busy (open loop)",
		Alt:    "Busiest Redis, the harness and the machine as a whole, in per cent of a processor (the machine: of all), by offered rate; medians. " + r.basis(),
		XLabel: "offered rate (per second)", YLabel: "busy (%)",
		Traces: present(r.middle("busiest Redis", redis), r.middle("harness", func(p Point) float64 { return 100 * p.Busy.Harness }),
			r.middle("machine", func(p Point) float64 { return 100 * p.Busy.Machine })),
		Marks: r.marks(),
	}.Figure()
}

func (r *Report) uslFigure() *plots.Figure {
	measured, fitted := plots.Trace{Name: "measured", Dots: true}, plots.Trace{Name: "fit"}
	for _, l := range r.Sweep {
		measured.X, measured.Y = append(measured.X, float64(l.N)), append(measured.Y, l.Rate)
	}
	if r.USL.Lambda.Known() {
		for n := 1.0; n <= float64(r.USL.Most); n++ {
			fitted.X, fitted.Y = append(fitted.X, n), append(fitted.Y, r.USL.At(n))
		}
	}
	var marks []plots.Mark
	if p := r.USL.Peak; p.Known() {
		marks = append(marks, plots.Mark{Name: fmt.Sprintf("peak N = %.0f", p.Value), At: p.Value, Low: p.Low, High: p.High})
	}
	law := "the law is not fitted: " + r.USL.Lambda.Suppressed
	if r.USL.Lambda.Known() {
		law = "line: the Universal Scalability Law, fitted; " + peakWords(r.USL.Peak)
	}
	return plots.XY{
		Name: "usl", Title: "Throughput over goroutines (closed loop, a key each, no hold)",
		Alt:    fmt.Sprintf("Pairs per second by number of goroutines, dots per repeat (n = %d); %s.", r.Repeats, law),
		XLabel: "goroutines", YLabel: "pairs per second", Traces: present(measured, fitted), Marks: marks,
	}.Figure()
}

func peakWords(e Estimate) string {
	return "peak at N: " + formatEstimate(e, func(v float64) string { return fmt.Sprintf("%.0f", v) })
}

func (r *Report) effectFigure() *plots.Figure {
	var all []plots.Change
	for _, e := range r.Effects {
		if e.Change.Known() {
			all = append(all, plots.Change{Name: e.Name, Value: 100 * e.Change.Value, Low: 100 * e.Change.Low, High: 100 * e.Change.High})
		}
	}
	return plots.Changes("sensitivity", "Sensitivity of throughput",
		fmt.Sprintf("Change of throughput by one change of the surroundings; whiskers: %s intervals, n = %d pairs of runs each; the table names the load.", unit.Percent(confidence), r.Repeats), all)
}

func (r *Report) recoveryFigure() *plots.Figure {
	t := plots.Trace{Name: "p99 of the requests due then"}
	for _, m := range r.Recovery.Timeline {
		v := m.P99 * 1e9
		if m.Count == 0 {
			v = math.NaN()
		}
		t.X, t.Y = append(t.X, m.At), append(t.Y, v)
	}
	var marks []plots.Mark
	out := r.Recovery.Outage.Seconds()
	if b := r.Recovery.Back; b.Known() {
		marks = append(marks, plots.Mark{Name: "back inside the objective", At: out + b.Value, Low: out + b.Low, High: out + b.High})
	}
	if d := r.Recovery.Predicted.Drain; d >= 0 {
		marks = append(marks, plots.Mark{Name: "predicted", At: out + d})
	}
	return plots.XY{
		Name: "recovery", Title: "A lost majority and what it leaves",
		Alt: fmt.Sprintf("p99 from the intended start, by when a request was due, in the first of the repeats; the majority is lost for %s at %s; backlog %s.",
			unit.Setting(r.Recovery.Outage), unit.Rate(r.Recovery.Rate), formatEstimate(r.Recovery.Backlog, unit.Number)),
		XLabel: "seconds since the majority was lost", YLabel: "latency (log)", LogTime: true, Threshold: float64(r.Bound), ThresholdName: "objective",
		Traces: present(t), Marks: marks, Shade: [2]float64{0, out}, ShadeName: "majority lost",
	}.Figure()
}

// failures are those that were felt.
func (r *Report) failures() (out []*Failure) {
	for _, f := range []*Failure{r.LostMaster, r.Recovery.Felt} {
		if f != nil && len(f.DuringShares) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// failureFigure draws how users felt failures: all that they asked for meanwhile, not one
// number. None where no failure was measured.
func (r *Report) failureFigure() *plots.Figure {
	all := r.failures()
	if len(all) == 0 {
		return nil
	}
	traces, told := []plots.Trace{distribution("before", all[0].BeforeShares)}, []string{}
	for _, f := range all {
		traces = append(traces, distribution(f.what()+" silent", f.DuringShares))
		told = append(told, fmt.Sprintf("%s silent for %s: %s due in %d outages, %s beyond the objective", f.what(), unit.Setting(f.Outage),
			unit.Counted(f.Requests, "request"), f.Times, unit.Percent(float64(f.Late)/float64(max(f.Requests, 1)))))
	}
	return plots.XY{
		Name: "failures", Title: "Failures as users feel them: acquires that were due while masters were silent",
		Alt: fmt.Sprintf("Distribution of the time from the intended start to the grant, at %s. %s. All outages of a kind are taken together: the curves have no interval.",
			unit.Rate(all[0].Rate), strings.Join(told, "; ")),
		XLabel: "share of the requests (percentile)", YLabel: "answered within (log)", LogTime: true, Percentiles: true,
		Threshold: float64(r.Bound), ThresholdName: "objective", Traces: present(traces...),
	}.Figure()
}

// distribution is a line over x = 1/(1−share).
func distribution(name string, all []Share) plots.Trace {
	t := plots.Trace{Name: name}
	for i, s := range all {
		x := 1 / (1 - s.Share)
		if s.Share >= 1 { // the longest ends the line where it ended before
			x = t.X[max(i-1, 0)]
		}
		t.X, t.Y = append(t.X, x), append(t.Y, float64(max(s.Within, 1)))
	}
	return t
}

// modelFigure draws the open loop as the model has it, fitted to none of its points:
// a full line where it was measured, a dotted one beyond.
func (r *Report) modelFigure() *plots.Figure {
	rates := ratesOf(Steps(r.Points))
	highest := rates[len(rates)-1]
	inside, beyond := plots.Trace{Name: "predicted p99"}, plots.Trace{Name: "extrapolated p99"}
	for _, p := range r.Calibration.Ramp {
		t := &inside
		if p.Scenario.Rate > highest {
			t = &beyond
			if n := len(inside.X); n > 0 && len(t.X) == 0 {
				t.X, t.Y = append(t.X, inside.X[n-1]), append(t.Y, inside.Y[n-1])
			}
		}
		t.X, t.Y = append(t.X, p.Scenario.Rate), append(t.Y, p.P99.Value*1e9)
	}
	return plots.XY{
		Name: "model", Title: "Acquire p99 as the model predicts it, and as it was measured (open loop)",
		Alt: fmt.Sprintf("The model is fitted to closed loops and the hot key alone, and to none of these points. Error of its p99 on held-out points: %s. %s",
			r.Calibration.Errors.P99.words(), r.basis()),
		XLabel: "offered rate (per second)", YLabel: "latency (log)", LogTime: true,
		Traces: present(inside, r.trace("measured, per repeat", valid, p99), beyond),
	}.Figure()
}

// heldOutFigure shows how far predictions of throughput went wrong.
func (r *Report) heldOutFigure() *plots.Figure {
	var all []plots.Change
	for _, h := range r.Calibration.HeldOut {
		got, want := h.Predicted.Rate, h.Measured.Rate
		if !want.Known() || !(want.Value > 0) {
			continue
		}
		one := plots.Change{Name: h.Name, Value: 100 * (got.Value/want.Value - 1), Low: 100 * (got.Value/want.High - 1)}
		if one.High = 100 * (got.Value/want.Low - 1); !(want.Low > 0) { // it has no upper end
			one.Name, one.High = h.Name+" (measured: from 0)", one.Value
		}
		all = append(all, one)
	}
	f := plots.Changes("heldout", "Predicted over measured throughput, on points that were not fitted",
		fmt.Sprintf("By how much predictions exceed what was measured; whiskers: the %s intervals of the measurements, n = %d repeats. Throughput: %s.",
			unit.Percent(confidence), r.Repeats, r.Calibration.Errors.Rate.words()), all)
	return f
}

package capacity

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"locktorture/reports/capacity/queueing"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
)

// A HeldOut is a point that was measured and not used for any fit: comparing it with the
// model's prediction shows how large the errors of predictions are.
type HeldOut struct {
	Name      string   `json:"name"`
	Scenario  Scenario `json:"scenario"`
	Measured  Figures  `json:"measured"`
	Predicted Figures  `json:"predicted"`       // the intervals are those of the calibration alone
	Pairs     int64    `json:"pairs,omitempty"` // that were measured, in all repeats; 0 where an earlier version did not write it
}

// Figures are those of a load.
type Figures struct {
	Rate Estimate `json:"rate"`
	P50  Estimate `json:"acquire_p50_s"`
	P99  Estimate `json:"acquire_p99_s"`
}

// NewHeldOut is a point as its repeats measured it: rates, and quantiles of acquires
// in seconds.
func NewHeldOut(name string, s Scenario, rates, p50s, p99s []float64) HeldOut {
	return HeldOut{Name: name, Scenario: s, Measured: Figures{Amount(rates), Amount(p50s), Amount(p99s)}}
}

// An Error is how far the predictions of one figure were off, over the held-out points.
type Error struct {
	N      int     `json:"n"`
	Median float64 `json:"median"` // of |predicted/measured − 1|
	Worst  float64 `json:"worst"`
	At     string  `json:"worst_at,omitempty"`  // which point that is
	Why    string  `json:"worst_why,omitempty"` // and why, where its own figures tell
	Spread float64 `json:"spread"`              // root mean square of the logarithms of predicted/measured
}

// Errors are those of each figure.
type Errors struct {
	Rate Error `json:"rate"`
	P50  Error `json:"acquire_p50"`
	P99  Error `json:"acquire_p99"`
}

// fewHeldOut is the number of held-out points below which no error is stated.
const fewHeldOut = 3

// around is a prediction with the interval in which the next measurement would lie, according
// to the errors at the held-out points.
func (e Error) around(value float64) Estimate {
	if e.N < fewHeldOut {
		return Estimate{Value: value, N: 1, Suppressed: fmt.Sprintf("no interval: an error wants %d points that were measured and not fitted, and there are %d", fewHeldOut, e.N)}
	}
	half := distuv.StudentsT{Sigma: 1, Nu: float64(e.N)}.Quantile((1+confidence)/2) * e.Spread
	return Estimate{Value: value, Low: value * math.Exp(-half), High: value * math.Exp(half), Confidence: confidence, N: e.N}
}

// errorOf compares predictions with measurements.
func errorOf(points []HeldOut, pick func(Figures) Estimate) Error {
	var e Error
	var off []float64
	squares := 0.0
	for _, p := range points {
		got, want := pick(p.Predicted), pick(p.Measured)
		if want.Known() && want.Value > 0 && got.Value > 0 {
			off = append(off, math.Abs(got.Value/want.Value-1))
			squares += math.Pow(math.Log(got.Value/want.Value), 2)
			if last := off[len(off)-1]; last > e.Worst {
				e.Worst, e.At, e.Why = last, p.Name, p.overload()
			}
		}
	}
	if len(off) == 0 {
		return Error{}
	}
	e.N, e.Median, e.Spread = len(off), stats.Median(off), math.Sqrt(squares/float64(len(off)))
	return e
}

// overload says why the waits of a point are off where arrivals outrun the service: the
// backlog grows with what is offered less what is carried, so that a small error in the
// second is a large one in the wait. "" where the service keeps up.
func (h HeldOut) overload() string {
	offered, got, want := h.Scenario.Rate, h.Predicted.Rate, h.Measured.Rate
	if !(offered > 0) || !want.Known() || keptUp(h) {
		return ""
	}
	text := fmt.Sprintf("arrivals outrun the service there, and a wait is the backlog's, which grows by what is offered less what is carried: %s measured",
		rate(offered-want.Value))
	if grows := offered - got.Value; got.Value > 0 && grows > 0 {
		text += fmt.Sprintf(", %s predicted (%s)", rate(grows), unit.Change(grows/(offered-want.Value)-1))
	} else if got.Value > 0 {
		text += ", none predicted"
	}
	return text
}

func rateOf(f Figures) Estimate { return f.Rate }
func p50Of(f Figures) Estimate  { return f.P50 }
func p99Of(f Figures) Estimate  { return f.P99 }

// Validate predicts the held-out points and the questions of the page. What cannot be
// predicted is among the Missing of the calibration, with the reason.
func (r *Report) Validate() {
	c := r.Calibration
	m, err := r.Model()
	if err != nil {
		c.Missing = append(c.Missing, "everything: the closed loops give no model: "+err.Error())
		c.HeldOut = nil
		return
	}
	var points []HeldOut
	for _, h := range append(r.ramped(), c.HeldOut...) {
		if err := m.Check(h.Scenario); err != nil {
			c.Missing = append(c.Missing, fmt.Sprintf("%s: %v", h.Name, err))
			continue
		}
		h.Predicted.Rate, h.Predicted.P50, h.Predicted.P99 = m.each(h.Scenario)
		points = append(points, h)
	}
	c.HeldOut = points
	c.Errors = Errors{errorOf(slices.DeleteFunc(slices.Clone(points), keptUp), rateOf), errorOf(points, p50Of), errorOf(points, p99Of)}
	c.Asked = m.asked()
	c.Ramp = m.ramp()
}

// keptUp reports whether the rate of a point is simply the rate that was offered: it does not
// test the model's rates.
func keptUp(h HeldOut) bool {
	return h.Scenario.Rate > 0 && h.Measured.Rate.Value > queueing.KeptUp*h.Scenario.Rate
}

// ramped are rates of the open loop, to which nothing of the model is fitted: those
// nearest to these shares of the highest valid one, and measured often enough.
func (r *Report) ramped() (out []HeldOut) {
	rates := ratesOf(Steps(r.Points))
	last := -1
	for _, share := range []float64{0.15, 0.35, 0.7} {
		i := 0
		for i+1 < len(rates) && rates[i] < share*rates[len(rates)-1] {
			i++
		}
		if i == last || i >= len(rates) {
			continue
		}
		last = i
		var done, p50s, p99s []float64
		pairs := int64(0)
		for _, p := range r.Points {
			if p.Valid && p.Rate == rates[i] {
				pairs += p.Done
				done, p50s, p99s = append(done, float64(p.Done)/p.span(r.Setup.Step).Seconds()), append(p50s, p.Response.P50.Seconds()), append(p99s, p.Response.P99.Seconds())
			}
		}
		seen := r.offered(rates[i])
		seen.Warmup, seen.Window = r.Setup.OpenWindow(seen.Hold)
		one := NewHeldOut(fmt.Sprintf("open loop of %s, as in the ramp", unit.Rate(rates[i])), seen, done, p50s, p99s)
		one.Pairs = pairs
		out = append(out, one)
	}
	return out
}

// offered is the situation of the ramp at a rate.
func (r *Report) offered(rate float64) Scenario {
	return Scenario{Masters: r.Setup.Masters, Rate: rate, Keys: r.Setup.Keys, Hold: r.Setup.Hold}
}

// rampTo is how far beyond the highest valid rate the ramp is predicted.
const rampTo = 1.5

// ramp predicts the open loop for its rates and somewhat beyond.
func (m *Model) ramp() (out []Prediction) {
	rates := ratesOf(Steps(m.r.Points))
	if len(rates) == 0 {
		return nil
	}
	for at := rates[0]; at < rates[len(rates)-1]*rampTo; at *= 1.25 {
		p, err := m.Predict("", m.r.offered(at))
		if err != nil || p.Behind {
			break
		}
		out = append(out, p)
	}
	return out
}

// Cells are the rows of the point in a table: figure, predicted, measured, error.
func (h HeldOut) Cells() (rows [][]string) {
	for _, one := range []struct {
		name   string
		pick   func(Figures) Estimate
		format func(float64) string
	}{{"pairs per second", rateOf, rate}, {"acquire p50", p50Of, seconds}, {"acquire p99", p99Of, seconds}} {
		got, want := one.pick(h.Predicted), one.pick(h.Measured)
		row := []string{one.name, interval(got, one.format), interval(want, one.format), "–"}
		if want.Known() && want.Value > 0 {
			row[3] = unit.Change(got.Value/want.Value - 1)
			if got.apart(want) {
				row[3] += ", beyond both intervals"
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// interval writes a figure with its interval, as far as there is one.
func interval(e Estimate, format func(float64) string) string {
	switch {
	case e.Value > 0 && !e.Known():
		return format(e.Value) + " (no interval)"
	case !e.Known():
		return e.Suppressed
	}
	return fmt.Sprintf("%s [%s, %s]", format(e.Value), format(max(e.Low, 0)), format(e.High))
}

// Named is the name of the point, with what it rests on where that is little.
func (h HeldOut) Named() string { return h.Name + fewPairs("", h.Pairs) }

// line is the point in a line of text.
func (h HeldOut) line() string {
	text := h.Named()
	for _, row := range h.Cells() {
		text += fmt.Sprintf("; %s %s, measured %s: %s", row[0], row[1], row[2], row[3])
	}
	return text
}

func (e Error) words() string {
	if e.N == 0 {
		return "not known"
	}
	text := fmt.Sprintf("median %s, worst %s of %s", unit.Percent(e.Median), unit.Percent(e.Worst), unit.Counted(e.N, "point"))
	if e.At != "" {
		text += fmt.Sprintf(" (%s)", e.At)
	}
	return text
}

// causes say why the worst errors of latencies are as large as they are, where that is known.
func (e Errors) causes() (out []string) {
	for _, one := range []struct {
		of string
		Error
	}{{"acquire p50", e.P50}, {"acquire p99", e.P99}} {
		if one.Why != "" && (len(out) == 0 || !strings.HasSuffix(out[0], one.Why)) {
			out = append(out, fmt.Sprintf("Why the worst is so far off (%s, %s): %s", one.of, one.At, one.Why))
		}
	}
	return out
}

// modelLines say how accurate the model is.
func (r *Report) modelLines() []Line {
	c := r.Calibration
	if c == nil {
		return nil
	}
	out := []Line{{"model error", fmt.Sprintf("held out: rate %s; acquire p50 %s; p99 %s", c.Errors.Rate.words(), c.Errors.P50.words(), c.Errors.P99.words())}}
	for _, why := range c.Errors.causes() {
		out = append(out, Line{"", why})
	}
	for _, h := range c.HeldOut {
		out = append(out, Line{"", "predicted for " + h.line()})
	}
	for _, why := range c.Missing {
		out = append(out, Line{"", "not held out: " + why})
	}
	for i, p := range c.Asked {
		label := "what if"
		if i > 0 {
			label = ""
		}
		out = append(out, Line{label, p.Line()})
	}
	return out
}

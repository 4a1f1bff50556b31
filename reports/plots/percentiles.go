package plots

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locktorture/reports/stats"
	"locktorture/reports/unit"
)

// pointsPerDecade is how densely a percentile curve is sampled.
const pointsPerDecade = 24

// phaseLine is how a phase is drawn, by colour and by dashes.
func phaseLine(p stats.Phase, points float64) draw.LineStyle {
	switch p {
	case stats.Quiet:
		return line(blue, points)
	case stats.Faulted:
		return line(orange, points, 7, 2)
	default:
		return line(green, points, 1.6, 1.6)
	}
}

// Percentiles shows the latency of acquires by percentile, x = 1/(1−q), per
// phase: thick from the intended start, and thin from the invocation.
func Percentiles(s *stats.Summary, subject string) *Figure {
	f := &Figure{
		Name: "percentiles", Title: "Acquire latency by percentile – " + subject, Alt: percentileAlt(s),
		width: 11 * vg.Inch, height: 4.2 * vg.Inch,
	}
	p := panel()
	p.Title.Text = f.Title
	p.X.Label.Text = "percentile"
	p.Y.Label.Text = "latency (log)"
	p.Add(grid())
	lines, lo, hi := percentileLines(s)
	right := 100.0
	for _, l := range lines {
		right = max(right, l.xs[len(l.xs)-1])
		p.Add(l)
	}
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = percentTicks{}
	limits(&p.X, 1, right)
	if len(lines) == 0 {
		p.Add(notice("nothing was acquired"))
	}
	p.Add(lines)
	logTime(&p.Y, lo*0.6, math.Pow(10, math.Ceil(math.Log10(max(hi, lo*2))+0.2)))
	f.rows = []row{{p, 0, 1}}
	return f
}

// percentileLines draws a curve for every series and phase that has values, and
// says between which latencies they lie.
func percentileLines(s *stats.Summary) (lines legend, lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, one := range []struct {
		series stats.Series
		name   string
		points float64
	}{{stats.Acquire, "response", 1.8}, {stats.AcquireService, "service", 0.8}} {
		for _, phase := range stats.Phases {
			h := s.Hist(one.series, phase)
			if h == nil || h.TotalCount() == 0 {
				continue
			}
			l := curve{name: phase.String() + " " + one.name, style: phaseLine(phase, one.points)}
			l.xs, l.ys = percentileCurve(h)
			lo, hi = min(lo, l.ys[0]), max(hi, l.ys[len(l.ys)-1])
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return nil, float64(time.Millisecond), float64(time.Second)
	}
	return lines, lo, hi
}

// percentileCurve samples h from the median of nothing (x = 1) to the
// percentile that its last value stands for (x = count).
func percentileCurve(h *stats.Hist) (xs, ys []float64) {
	n := float64(h.TotalCount())
	last := math.Log10(max(n, 2))
	for i := 0.0; ; i++ {
		e := min(i/pointsPerDecade, last)
		x := math.Pow(10, e)
		q := 100 * (1 - 1/x)
		if e == last {
			q = 100
		}
		xs, ys = append(xs, x), append(ys, max(float64(h.ValueAtPercentile(q)), 1))
		if e == last {
			return xs, ys
		}
	}
}

// percentTicks labels x = 1/(1−q) with the percentile q.
type percentTicks struct{}

// Ticks implements plot.Ticker.
func (percentTicks) Ticks(lo, hi float64) []plot.Tick {
	out := []plot.Tick{{Value: 1, Label: "0"}, {Value: 2, Label: "50 %"}, {Value: 4, Label: "75 %"}}
	nines := "90 %"
	for v := 10.0; v <= hi*1.001; v *= 10 {
		out = append(out, plot.Tick{Value: v, Label: nines})
		switch nines {
		case "90 %":
			nines = "99 %"
		case "99 %":
			nines = "99.9 %"
		default:
			nines = nines[:len(nines)-2] + "9 %"
		}
	}
	kept := out[:0]
	for _, t := range out {
		if t.Value >= lo && t.Value <= hi*1.001 {
			kept = append(kept, t)
		}
	}
	return kept
}

func percentileAlt(s *stats.Summary) string {
	text := "Percentile curves of acquires."
	for _, l := range s.Latency {
		if l.Phase != stats.All && (l.Series == stats.Acquire || l.Series == stats.AcquireService) {
			text += fmt.Sprintf(" %s, %s: p50 %s, p99 %s, max %s.", l.Series, l.Phase, unit.Latency(l.P50), unit.Latency(l.P99), unit.Latency(l.Max))
		}
	}
	return text
}

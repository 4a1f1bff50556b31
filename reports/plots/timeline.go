package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locktorture/reports/stats"
	"locktorture/reports/unit"
)

// Timeline shows a run over time: the faults in force, the latency of acquires
// in windows, and how attempts ended. slo is the bound on the p99, or 0.
func Timeline(s *stats.Summary, subject string, slo time.Duration) *Figure {
	end := s.Duration.Seconds()
	if end <= 0 {
		end = 1
	}
	all, lanes := marks(s.Faults, end)
	f := &Figure{
		Name:  "timeline",
		Title: "Acquire latency (from intended start), " + decimal(s.Width.Seconds()) + " s windows – " + subject,
		Alt:   timelineAlt(s, slo),
		width: 11 * vg.Inch,
	}
	inches := 5.2 + 0.21*float64(lanes)
	f.height = vg.Length(inches) * vg.Inch
	top := 1 - (0.42+0.21*float64(lanes))/inches
	c := clockOf(end)
	f.rows = []row{
		{faultPanel(f.Title, all, lanes), top, 1},
		{latencyPanel(s, all, c, slo), 0.31 * top / 0.83, top + 0.005},
		{outcomePanel(s, all, c), 0, 0.30 * top / 0.83},
	}
	for _, r := range f.rows {
		limits(&r.plot.X, 0, end)
	}
	return f
}

func faultPanel(title string, all []mark, lanes int) *plot.Plot {
	p := panel()
	p.Title.Text = title
	p.Y.Label.Text = "faults"
	p.Add(strip(all, lanes))
	if len(all) == 0 {
		p.Y.Label.Text = ""
		p.Add(notice("no fault was injected"))
	}
	bare(&p.X)
	bare(&p.Y)
	limits(&p.Y, 0, float64(lanes))
	return p
}

func latencyPanel(s *stats.Summary, all []mark, c clock, slo time.Duration) *plot.Plot {
	p := panel()
	p.Y.Label.Text = "latency (log)"
	ticks := c.ticks
	ticks.silent = true
	p.X.Tick.Marker = ticks
	p.Add(grid(), bands(all))
	lo, hi := latencyRange(s, slo)
	lines := legend{
		latencyCurve(s, "max", line(alpha(ink, 0x90), 0.7), func(w stats.Window) time.Duration { return w.Max }),
		latencyCurve(s, "p99", line(orange, 1.5), func(w stats.Window) time.Duration { return w.P99 }),
		latencyCurve(s, "p50", line(blue, 1.5, 6, 1.5), func(w stats.Window) time.Duration { return w.P50 }),
	}
	for _, l := range lines {
		p.Add(l)
	}
	if slo > 0 {
		p.Add(threshold(float64(slo), "SLO: p99 < "+unit.Setting(slo)))
	}
	p.Add(silences(s), edges(s, true), lines)
	logTime(&p.Y, lo, hi)
	if s.Outcomes.Acquired == 0 {
		p.Add(notice("nothing was acquired"))
	}
	return p
}

// latencyCurve is one figure of every window in which something was acquired.
func latencyCurve(s *stats.Summary, name string, style draw.LineStyle, value func(stats.Window) time.Duration) curve {
	l := curve{name: name, style: style}
	for _, w := range s.Windows {
		y := math.NaN()
		if w.Outcomes.Acquired > 0 {
			y = float64(value(w))
		}
		l.xs = append(l.xs, (w.Start + s.Width/2).Seconds())
		l.ys = append(l.ys, y)
	}
	return l
}

// latencyRange is what the latency axis shows: all values, and the objective.
func latencyRange(s *stats.Summary, slo time.Duration) (lo, hi float64) {
	lo, hi = math.Inf(1), float64(slo)
	for _, w := range s.Windows {
		if w.Outcomes.Acquired > 0 {
			lo, hi = min(lo, float64(w.P50)), max(hi, float64(w.Max))
		}
	}
	if math.IsInf(lo, 1) {
		return float64(time.Millisecond), max(hi*2, float64(time.Second))
	}
	hi = max(hi, lo*10)
	// Half a decade above all values leaves room for the legend.
	return lo * 0.5, math.Pow(10, math.Ceil(math.Log10(hi)+0.25))
}

// edges marks where the main phase began and ended, when that is not where
// the run did: warm-up and final phase have loads of their own.
func edges(s *stats.Summary, named bool) layer {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, _ := p.Transforms(&c)
		mark := func(t time.Duration, name string, left bool) {
			x := tx(t.Seconds())
			c.StrokeLine2(line(muted, 0.7, 1, 2), x, c.Min.Y, x, c.Max.Y)
			if sty := words(8, muted); named && left {
				c.FillText(sty, vg.Point{X: x - sty.Width(name) - vg.Points(3), Y: c.Min.Y + vg.Points(6)}, name)
			} else if named {
				c.FillText(sty, vg.Point{X: x + vg.Points(3), Y: c.Min.Y + vg.Points(6)}, name)
			}
		}
		if s.From > s.Duration/50 {
			mark(s.From, "warm-up", true)
		}
		if s.To < s.Duration-s.Duration/50 {
			mark(s.To, "healed, final phase", false)
		}
	}
}

const maxSilences = 4

// silences says in words where nothing was acquired, since there the lines
// just stop.
func silences(s *stats.Summary) layer {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		sty := bold(centred(words(8, red)))
		for _, g := range Silences(s) {
			mid := tx((g.From + g.To).Seconds() / 2)
			text := "no acquire\nfor " + unit.Span(g.Length())
			half := sty.Width(text)/2 + vg.Points(2)
			mid = min(max(mid, c.Min.X+half), c.Max.X-half)
			y := ty(math.Sqrt(p.Y.Min * p.Y.Max))
			fill(&c, color.NRGBA{255, 255, 255, 0xc0}, mid-half, y-vg.Points(10), mid+half, y+vg.Points(10))
			c.FillText(sty, vg.Point{X: mid, Y: y}, text)
		}
	}
}

// Silences lists the gaps without a grant that are worth a word: at least a
// second and two windows long, and ten times the usual.
func Silences(s *stats.Summary) []stats.Gap {
	if s.Outcomes.Acquired == 0 {
		return nil
	}
	usual := s.Measured() / time.Duration(s.Outcomes.Acquired)
	var out []stats.Gap
	for _, g := range s.Gaps {
		if len(out) < maxSilences && g.Length() >= max(time.Second, 2*s.Width, 10*usual) {
			out = append(out, g)
		}
	}
	return out
}

func outcomePanel(s *stats.Summary, all []mark, c clock) *plot.Plot {
	p := panel()
	p.X.Label.Text = "time since the run began (" + c.unit + ")"
	p.Y.Label.Text = "attempts/s"
	p.X.Tick.Marker = c.ticks
	p.Add(grid(), bands(all))
	lines := legend{
		rateCurve(s, "acquired", line(green, 1.4), func(o stats.Outcomes) int64 { return o.Acquired }),
		rateCurve(s, "contended", line(sky, 1.2, 7, 1.5), func(o stats.Outcomes) int64 { return o.Contended }),
		rateCurve(s, "error", line(pink, 1.4, 1.5, 1.5), func(o stats.Outcomes) int64 { return o.Error }),
		rateCurve(s, "unknown", line(amber, 1.4, 4, 2), func(o stats.Outcomes) int64 { return o.Unknown }),
	}
	top := 0.0
	for _, l := range lines {
		top = max(top, slices.Max(append(l.ys, 0)))
		p.Add(l)
	}
	p.Add(edges(s, false), lines)
	limits(&p.Y, 0, top*1.35)
	p.Y.Tick.Marker = step{by: nice(max(top*1.35, 1), 4)}
	return p
}

// rateCurve is how often something happened per second, window by window.
func rateCurve(s *stats.Summary, name string, style draw.LineStyle, count func(stats.Outcomes) int64) curve {
	l := curve{name: name, style: style}
	for _, w := range s.Windows {
		width := min(s.Width, s.Duration-w.Start)
		if width < s.Width/4 {
			continue // too short a stretch to speak of a rate
		}
		l.xs = append(l.xs, (w.Start + width/2).Seconds())
		l.ys = append(l.ys, float64(count(w.Outcomes))/width.Seconds())
	}
	return l
}

func timelineAlt(s *stats.Summary, slo time.Duration) string {
	q := s.Find(stats.Acquire, stats.All)
	acquired := "nothing was acquired"
	if s.Outcomes.Acquired > 0 {
		acquired = fmt.Sprintf("%s acquires with p50 %s, p99 %s, max %s", unit.Count(s.Outcomes.Acquired), unit.Latency(q.P50), unit.Latency(q.P99), unit.Latency(q.Max))
	}
	text := fmt.Sprintf("Timeline of %s: %s; in the main phase %s.", unit.Span(s.Duration), unit.Counted(len(s.Faults), "fault"), acquired)
	if slo > 0 {
		text += " The objective is a p99 below " + unit.Setting(slo) + "."
	}
	for _, g := range Silences(s) {
		text += fmt.Sprintf(" Nothing was acquired for %s from second %.1f.", unit.Span(g.Length()), g.From.Seconds())
	}
	return text
}

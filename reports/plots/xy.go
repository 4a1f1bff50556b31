package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locktorture/reports/unit"
)

// A Trace is a named sequence of points: a line, or dots.
type Trace struct {
	Name string
	X, Y []float64
	Dots bool
}

// An XY is a figure of traces over two axes.
type XY struct {
	Name, Title, Alt string
	XLabel, YLabel   string
	LogTime          bool    // y is nanoseconds, logarithmic
	Percentiles      bool    // x is 1/(1−q), logarithmic, and labelled by q
	Threshold        float64 // a line across at this y; 0 is none
	ThresholdName    string
	Traces           []Trace
	Marks            []Mark
	Shade            [2]float64 // x from, to: a tinted stretch
	ShadeName        string
}

var traceColors = []color.NRGBA{blue, orange, green, pink, sky, amber}

var traceDashes = [][]float64{nil, {7, 2}, {1.6, 1.6}, {5, 2, 1, 2}, {3, 3}, {9, 3}}

// Figure lays the traces out.
func (x XY) Figure() *Figure {
	f := &Figure{Name: x.Name, Title: x.Title, Alt: x.Alt, width: 11 * vg.Inch, height: 4.2 * vg.Inch}
	p := panel()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = x.Title, x.XLabel, x.YLabel
	lo, hi, left, right := x.bounds()
	if x.Shade[1] > x.Shade[0] {
		p.Add(stretch(x.Shade, x.ShadeName))
	}
	p.Add(grid())
	var names legend
	for i, t := range x.Traces {
		c := curve{name: t.Name, style: line(traceColors[i%len(traceColors)], 1.6, traceDashes[i%len(traceDashes)]...), xs: t.X, ys: t.Y, dots: t.Dots}
		names = append(names, c)
		if t.Dots {
			p.Add(dots(c))
			continue
		}
		p.Add(c)
	}
	if x.Threshold > 0 {
		p.Add(threshold(x.Threshold, x.ThresholdName))
	}
	for _, m := range x.Marks {
		p.Add(upright(m))
	}
	first := 0
	if x.ShadeName != "" {
		first = 1
	}
	for i, m := range x.Marks {
		p.Add(markName(m, first+i))
	}
	limits(&p.X, left, right)
	p.X.Tick.Marker = step{by: nice(right-left, 12)}
	if x.Percentiles {
		limits(&p.X, 1, max(right, 10))
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, percentTicks{}
	}
	if x.LogTime {
		bottom := lo * 0.6
		logTime(&p.Y, bottom, bottom*math.Pow(max(hi, lo*2)/bottom, 1/(1-x.head())))
	} else {
		bottom := min(lo, 0)
		top := bottom + (hi-bottom)/(1-x.head())
		limits(&p.Y, bottom, top)
		p.Y.Tick.Marker = step{by: nice(top-bottom, 8)}
	}
	if len(x.Traces) == 0 {
		p.Add(notice("nothing measured"))
	}
	p.Add(names)
	f.rows = []row{{p, 0, 1}}
	return f
}

// head is the share of the height that is kept free above the data for the
// legend and, line by line below it, the names of stretch and marks.
func (x XY) head() float64 {
	lines := 1 + len(x.Marks)
	if x.ShadeName != "" {
		lines++
	}
	return 0.04 + 0.055*float64(lines)
}

// bounds are the ranges of all traces and marks.
func (x XY) bounds() (lo, hi, left, right float64) {
	lo, hi, left, right = math.Inf(1), 0, math.Inf(1), math.Inf(-1)
	for _, t := range x.Traces {
		for i, v := range t.Y {
			left, right = min(left, t.X[i]), max(right, t.X[i])
			if math.IsNaN(v) || x.LogTime && v <= 0 {
				continue
			}
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if x.Threshold > 0 {
		lo, hi = min(lo, x.Threshold), max(hi, x.Threshold)
	}
	for _, m := range x.Marks {
		left, right = min(left, m.At), max(right, m.At)
	}
	if math.IsInf(left, 0) {
		left, right = 0, 1
	}
	if left > 0 && left < right/2 {
		left = 0
	}
	if math.IsInf(lo, 0) {
		lo = 1
	}
	return lo, max(hi, lo), left, right
}

// dots paints a disc at every point.
type dots curve

// Plot implements plot.Plotter.
func (d dots) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for i, v := range d.ys {
		if math.IsNaN(v) {
			continue
		}
		at := vg.Point{X: tx(d.xs[i]), Y: ty(min(max(v, p.Y.Min), p.Y.Max))}
		if c.Contains(at) {
			disc(&c, alpha(d.style.Color.(color.NRGBA), 0xb0), at, vg.Points(2.2))
		}
	}
}

// stretch tints a part of the x axis.
func stretch(x [2]float64, name string) layer {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, _ := p.Transforms(&c)
		x0, x1 := max(tx(x[0]), c.Min.X), min(tx(x[1]), c.Max.X)
		if x1 <= x0 {
			return
		}
		fill(&c, alpha(orange, 0x24), x0, c.Min.Y, x1, c.Max.Y)
		sty := words(8.5, orange)
		left := min(max((x0+x1-sty.Width(name))/2, c.Min.X), c.Max.X-sty.Width(name))
		c.FillText(sty, vg.Point{X: left, Y: nameLine(&c, 0)}, name)
	}
}

// A Change is one bar of a figure of changes, in per cent with its interval.
type Change struct {
	Name             string
	Value, Low, High float64
}

// Changes draws a horizontal bar for every change of a figure, which the title names, whiskers for intervals.
func Changes(name, title, alt string, all []Change) *Figure {
	f := &Figure{Name: name, Title: title, Alt: alt, width: 11 * vg.Inch, height: vg.Length(1.3+0.42*float64(max(len(all), 1))) * vg.Inch}
	p := panel()
	p.Title.Text, p.X.Label.Text = title, "difference (%)"
	lo, hi := -10.0, 10.0
	var ticks plot.ConstantTicks
	for i, c := range all {
		lo, hi = min(lo, c.Low, c.Value), max(hi, c.High, c.Value)
		ticks = append(ticks, plot.Tick{Value: float64(len(all) - 1 - i), Label: c.Name})
	}
	p.Add(grid(), changes(all))
	margin := (hi - lo) * 0.14
	limits(&p.X, lo-margin, hi+margin)
	limits(&p.Y, -0.6, float64(len(all))-0.4)
	p.X.Tick.Marker = step{by: nice(hi-lo+2*margin, 10)}
	p.Y.Tick.Marker = ticks
	p.Y.Tick.Label.Color = ink
	if len(all) == 0 {
		p.Add(notice("nothing measured"))
	}
	f.rows = []row{{p, 0, 1}}
	return f
}

func changes(all []Change) layer {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		c.StrokeLine2(line(muted, 1), tx(0), c.Min.Y, tx(0), c.Max.Y)
		for i, one := range all {
			y, col := ty(float64(len(all)-1-i)), blue
			if one.Value < 0 {
				col = orange
			}
			fill(&c, col, min(tx(0), tx(one.Value)), y-vg.Points(6), max(tx(0), tx(one.Value)), y+vg.Points(6))
			c.StrokeLine2(line(ink, 1), tx(one.Low), y, tx(one.High), y)
			for _, end := range []float64{one.Low, one.High} {
				c.StrokeLine2(line(ink, 1), tx(end), y-vg.Points(3), tx(end), y+vg.Points(3))
			}
			label := unit.Change(one.Value / 100)
			sty, x := words(8.5, ink), tx(max(one.High, one.Value, 0))+vg.Points(4)
			if one.Value < 0 {
				x, sty.XAlign = tx(min(one.Low, one.Value))-vg.Points(4), text.XAlignment(-1)
			}
			c.FillText(sty, vg.Point{X: x, Y: y}, label)
		}
	}
}

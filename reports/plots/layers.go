package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A curve is a line through points; it stops where a value is NaN, and a value
// alone is a dot.
type curve struct {
	name  string
	style draw.LineStyle
	xs    []float64
	ys    []float64
	dots  bool // points without a line between them
}

// Plot implements plot.Plotter.
func (l curve) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	var run []vg.Point
	flush := func() {
		if len(run) == 1 {
			disc(&c, l.style.Color, run[0], max(l.style.Width, vg.Points(1.4)))
		} else if len(run) > 1 {
			c.StrokeLines(l.style, c.ClipLinesXY(run)...)
		}
		run = nil
	}
	for i := range l.xs {
		y := l.ys[i]
		if math.IsNaN(y) {
			flush()
			continue
		}
		y = min(max(y, p.Y.Min), p.Y.Max)
		run = append(run, vg.Point{X: tx(l.xs[i]), Y: ty(y)})
	}
	flush()
}

// legend is one row of names on a white plate, top left inside the data area.
type legend []curve

// Plot implements plot.Plotter.
func (l legend) Plot(c draw.Canvas, p *plot.Plot) {
	sty := words(9, ink)
	const sample, gap = 18, 12
	w := vg.Points(4)
	for _, one := range l {
		w += vg.Points(sample+4+gap) + sty.Width(one.name)
	}
	x, y := c.Min.X+vg.Points(4), c.Max.Y-vg.Points(10)
	fill(&c, color.NRGBA{255, 255, 255, 0xe0}, x, y-vg.Points(7), x+w, y+vg.Points(7))
	x += vg.Points(4)
	for _, one := range l {
		ls := one.style
		if one.dots {
			disc(&c, ls.Color, vg.Point{X: x + vg.Points(sample/2), Y: y}, vg.Points(2.2))
		} else {
			c.StrokeLine2(ls, x, y, x+vg.Points(sample), y)
		}
		x += vg.Points(sample + 4)
		c.FillText(sty, vg.Point{X: x, Y: y}, one.name)
		x += sty.Width(one.name) + vg.Points(gap)
	}
}

// grid draws a line at every labelled tick.
func grid() plot.Plotter {
	g := plotter.NewGrid()
	g.Vertical = line(faint, 0.5)
	g.Horizontal = line(faint, 0.5)
	return g
}

// threshold is a labelled dashed line across the figure.
func threshold(y float64, label string) layer {
	return func(c draw.Canvas, p *plot.Plot) {
		_, ty := p.Transforms(&c)
		at := ty(y)
		if at < c.Min.Y || at > c.Max.Y {
			return
		}
		c.StrokeLine2(line(red, 0.9, 5, 3), c.Min.X, at, c.Max.X, at)
		sty := words(8, red)
		x, y := c.Min.X+vg.Points(4), at+vg.Points(7)
		if y > c.Max.Y-vg.Points(24) { // the legend is there
			y = at - vg.Points(7)
		}
		fill(&c, color.NRGBA{255, 255, 255, 0xe0}, x, y-vg.Points(5), x+sty.Width(label), y+vg.Points(5))
		c.FillText(sty, vg.Point{X: x, Y: y}, label)
	}
}

// notice says something in the middle of a figure that has nothing to show.
func notice(text string) layer {
	return func(c draw.Canvas, _ *plot.Plot) {
		c.FillText(centred(words(11, muted)), c.Center(), text)
	}
}

// A bar is one column of a histogram or bar chart.
type bar struct {
	x0, x1, y float64
	color     color.NRGBA
}

// bars paints columns from the bottom of the figure.
func bars(all []bar) layer {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		for _, b := range all {
			if b.y <= 0 {
				continue
			}
			x0, x1 := max(tx(b.x0), c.Min.X), min(tx(b.x1), c.Max.X)
			if gap := (x1 - x0) / 8; gap > vg.Points(0.3) {
				x0, x1 = x0+gap, x1-gap
			}
			fill(&c, b.color, x0, c.Min.Y, max(x1, x0+vg.Points(0.4)), min(ty(b.y), c.Max.Y))
		}
	}
}

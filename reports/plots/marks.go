package plots

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Mark is a labelled position on the x axis, with its interval when Low and
// High differ.
type Mark struct {
	Name          string
	At, Low, High float64
}

// nameLine is where the nth line of names below the legend lies.
func nameLine(c *draw.Canvas, nth int) vg.Length { return c.Max.Y - vg.Points(24+12*float64(nth)) }

// upright draws a vertical line, with its interval as a band.
func upright(m Mark) layer {
	return func(c draw.Canvas, p *plot.Plot) {
		if m.High > m.Low {
			fill(&c, alpha(sky, 0x38), across(&c, p, m.Low), c.Min.Y, across(&c, p, m.High), c.Max.Y)
		}
		at := across(&c, p, m.At)
		c.StrokeLine2(line(muted, 1, 4, 2), at, c.Min.Y, at, c.Max.Y)
	}
}

// across is where x lies, at the edge when it lies outside.
func across(c *draw.Canvas, p *plot.Plot, x float64) vg.Length {
	tx, _ := p.Transforms(c)
	return min(max(tx(x), c.Min.X), c.Max.X)
}

// markName writes a mark's name in the nth line below the legend, over the lines
// of other marks.
func markName(m Mark, nth int) layer {
	return func(c draw.Canvas, p *plot.Plot) {
		sty, at, y := words(8.5, ink), across(&c, p, m.At), nameLine(&c, nth)
		left := at + vg.Points(3)
		if left+sty.Width(m.Name) > c.Max.X {
			left = at - vg.Points(3) - sty.Width(m.Name)
		}
		fill(&c, color.NRGBA{255, 255, 255, 0xe0}, left, y-vg.Points(5), left+sty.Width(m.Name), y+vg.Points(5))
		c.FillText(sty, vg.Point{X: left, Y: y}, m.Name)
	}
}

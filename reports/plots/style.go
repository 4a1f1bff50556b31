package plots

import (
	"image/color"
	"math"
	"sort"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The colours of Okabe and Ito, told apart by colour-blind readers too; a line
// style goes with each, so that figures survive grey print.
var (
	blue   = color.NRGBA{0x00, 0x72, 0xb2, 0xff}
	orange = color.NRGBA{0xd5, 0x5e, 0x00, 0xff}
	green  = color.NRGBA{0x00, 0x9e, 0x73, 0xff}
	sky    = color.NRGBA{0x56, 0xb4, 0xe9, 0xff}
	pink   = color.NRGBA{0xcc, 0x79, 0xa7, 0xff}
	amber  = color.NRGBA{0xe6, 0x9f, 0x00, 0xff}

	ink   = color.NRGBA{0x1f, 0x29, 0x37, 0xff}
	muted = color.NRGBA{0x6b, 0x72, 0x80, 0xff}
	faint = color.NRGBA{0xe5, 0xe7, 0xeb, 0xff}
	grey  = color.NRGBA{0x9c, 0xa3, 0xaf, 0xff}
	red   = color.NRGBA{0xc8, 0x1e, 0x1e, 0xff}
)

func alpha(c color.NRGBA, a uint8) color.NRGBA {
	c.A = a
	return c
}

func sans(points float64, bold bool) font.Font {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(points)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return f
}

// words is the style of text of that size and colour, from (x, y) rightwards
// and centred in height.
func words(points float64, c color.Color) text.Style {
	return text.Style{
		Font: sans(points, false), Color: c, XAlign: draw.XLeft, YAlign: draw.YCenter, Handler: plot.DefaultTextHandler,
	}
}

func bold(s text.Style) text.Style {
	s.Font.Weight = xfont.WeightBold
	return s
}

func centred(s text.Style) text.Style {
	s.XAlign = draw.XCenter
	return s
}

func line(c color.Color, points float64, dashes ...float64) draw.LineStyle {
	s := draw.LineStyle{Color: c, Width: vg.Points(points)}
	for _, d := range dashes {
		s.Dashes = append(s.Dashes, vg.Points(d))
	}
	return s
}

// fill paints the rectangle between two corners.
func fill(c *draw.Canvas, col color.Color, x0, y0, x1, y1 vg.Length) {
	c.FillPolygon(col, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
}

// disc paints a filled circle.
func disc(c *draw.Canvas, col color.Color, at vg.Point, radius vg.Length) {
	c.SetColor(col)
	var p vg.Path
	p.Move(vg.Point{X: at.X + radius, Y: at.Y})
	p.Arc(at, radius, 0, 2*math.Pi)
	p.Close()
	c.Fill(p)
}

// shorten cuts s until it is no wider than w, with an ellipsis; it gives up
// with an empty text.
func shorten(sty text.Style, s string, w vg.Length) string {
	if sty.Width(s) <= w {
		return s
	}
	runes := []rune(s)
	head := func(n int) string { return string(runes[:n]) + "…" }
	n := sort.Search(len(runes), func(n int) bool { return sty.Width(head(n)) > w }) - 1
	if n < 2 {
		return ""
	}
	return head(n)
}

// A layer is a plot.Plotter made of a function.
type layer func(c draw.Canvas, p *plot.Plot)

// Plot implements plot.Plotter.
func (l layer) Plot(c draw.Canvas, p *plot.Plot) { l(c, p) }

// panel is an empty plot in the style of all figures.
func panel() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.TextStyle.Font = sans(11, true)
	p.Title.TextStyle.Color = ink
	p.Title.Padding = vg.Points(6)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = line(muted, 0.7)
		a.Tick.LineStyle = line(muted, 0.6)
		a.Tick.Label.Font = sans(9, false)
		a.Tick.Label.Color = muted
		a.Label.TextStyle.Font = sans(9.5, false)
		a.Label.TextStyle.Color = ink
		a.Padding = vg.Points(2)
	}
	return p
}

// bare hides an axis, labels apart.
func bare(a *plot.Axis) {
	a.LineStyle.Width = 0
	a.Tick.Length = 0
	a.Tick.Marker = plot.ConstantTicks{}
}

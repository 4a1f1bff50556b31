package plots

import (
	"fmt"
	"image/color"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locktorture/reports/story"
)

// Heights of bars, as shares of half a row.
const (
	clientBar = 0.27
	otherBar  = 0.20
	dotRadius = 6.5 // points
)

func (g *gantt) separators(c draw.Canvas, p *plot.Plot) {
	_, ty := p.Transforms(&c)
	for i := range len(g.rows) + 1 {
		c.StrokeLine2(line(faint, 0.6), c.Min.X, ty(float64(i)), c.Max.X, ty(float64(i)))
	}
}

// faults tints the stretches in which faults were in force, named on top.
func (g *gantt) faults(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	top := ty(float64(len(g.rows)))
	sty := words(8.5, color.NRGBA{0x92, 0x40, 0x0e, 0xff})
	taken := c.Min.X
	for _, f := range g.Faults {
		if f.To < g.From || f.From > g.To {
			continue
		}
		x0, x1 := tx(g.x(f.From)), tx(g.x(f.To))
		x1 = max(x1, x0+vg.Points(1.5))
		fill(&c, alpha(amber, 0x2b), x0, c.Min.Y, x1, top)
		text := f.Name + " " + f.Target
		x := max((x0+x1-sty.Width(text))/2, taken)
		if x+sty.Width(text) > c.Max.X || x > x1 {
			continue
		}
		c.FillText(sty, vg.Point{X: x, Y: top + vg.Points(7)}, text)
		taken = x + sty.Width(text) + vg.Points(8)
	}
}

// struck underlines the rows of the nodes that a fault hit.
func (g *gantt) struck(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for _, f := range g.Faults {
		for _, n := range f.Nodes {
			r := g.nodeRow(n)
			if r < 0 || f.To < g.From || f.From > g.To {
				continue
			}
			x0, x1 := tx(g.x(f.From)), tx(g.x(f.To))
			x1 = max(x1, x0+vg.Points(2))
			fill(&c, red, x0, ty(g.y(r)-otherBar-0.10), x1, ty(g.y(r)-otherBar-0.03))
			if n != storeNode && !slices.ContainsFunc(g.Stored, func(s story.Stored) bool { return s.Node == n }) {
				fill(&c, alpha(red, 0x30), x0, ty(g.y(r)-otherBar), x1, ty(g.y(r)+otherBar))
				span{x0, x1, ty(g.y(r))}.text(&c, red, f.Name)
			}
		}
	}
}

// overlap brackets the stretch that makes the violation.
func (g *gantt) overlap(c draw.Canvas, p *plot.Plot) {
	if g.Overlap.Length() == 0 {
		return
	}
	tx, ty := p.Transforms(&c)
	x0, x1 := tx(g.x(g.Overlap.From)), tx(g.x(g.Overlap.To))
	x1 = max(x1, x0+vg.Points(1))
	deep := 0
	for _, o := range g.Overlap.Owners {
		deep = max(deep, g.row("client "+o)+1)
	}
	if r := g.row(storeRow); g.Overlap.Late && r >= 0 {
		deep = r + 1
	}
	bottom, top := ty(float64(len(g.rows)-deep)), ty(float64(len(g.rows))+0.38)
	fill(&c, alpha(red, 0x1e), x0, bottom, x1, ty(float64(len(g.rows))))
	for _, x := range []vg.Length{x0, x1} {
		c.StrokeLine2(line(red, 1, 4, 2), x, bottom, x, top)
	}
	c.StrokeLine2(line(red, 1.4), x0, top, x1, top)
	text := g.Overlap.String()
	sty := bold(centred(words(10.5, red)))
	half := sty.Width(text) / 2
	x := min(max((x0+x1)/2, c.Min.X+half), c.Max.X-half)
	c.FillText(sty, vg.Point{X: x, Y: top + vg.Points(9)}, text)
}

// palette are the colours of clients, by their rows.
var palette = []color.NRGBA{blue, orange, green, pink, amber, sky}

// holds draws what clients believed: dark while the lease was theirs, light
// while they asked for it or gave it back.
func (g *gantt) holds(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for _, h := range g.Holds {
		r := g.row("client " + h.Owner)
		if r < 0 {
			continue
		}
		col := palette[r%len(palette)]
		y, y0, y1 := ty(g.y(r)), ty(g.y(r)-clientBar), ty(g.y(r)+clientBar)
		paint := func(from, to time.Duration, shade color.NRGBA) {
			if to > from && to > g.From && from < g.To {
				fill(&c, shade, tx(g.x(from)), y0, max(tx(g.x(to)), tx(g.x(from))+vg.Points(1)), y1)
			}
		}
		light := alpha(col, 0x55)
		paint(h.Invoked, h.From, light)
		paint(h.From, h.To, col)
		paint(h.To, h.Released, light)
		if h.From < g.To && h.To > g.From {
			span{tx(g.x(h.From)), tx(g.x(h.To)), y}.text(&c, color.White, g.held(h))
		}
	}
}

func (g *gantt) held(h story.Hold) string {
	text := "holds " + g.Finding.Key
	if h.Shared {
		text = "reads " + g.Finding.Key
	}
	if h.Fence == 0 {
		return text
	}
	text += fmt.Sprintf(" · token %d", h.Fence)
	if slices.ContainsFunc(g.Holds, func(o story.Hold) bool { return o.Fence == h.Fence && o.Owner != h.Owner && o.From < h.From }) {
		text += " (same token)"
	}
	return text
}

// A span is a stretch of a row, from x0 to x1, around the height y.
type span struct{ x0, x1, y vg.Length }

// text writes inside a bar the first of some texts that fits, or as much of
// the last as does.
func (s span) text(c *draw.Canvas, col color.Color, texts ...string) {
	sty := words(9, col)
	if col == color.White {
		sty = bold(sty)
	}
	room := s.x1 - s.x0 - vg.Points(2*dotRadius)
	for i, text := range texts {
		if i == len(texts)-1 {
			text = shorten(sty, text, room)
		}
		if text != "" && sty.Width(text) <= room {
			c.FillText(sty, vg.Point{X: s.x0 + vg.Points(dotRadius+4), Y: s.y}, text)
			return
		}
	}
}

// writes draws what the store took, each until the next one came.
func (g *gantt) writes(c draw.Canvas, p *plot.Plot) {
	r := g.row(storeRow)
	if r < 0 {
		return
	}
	tx, ty := p.Transforms(&c)
	for i, w := range g.Writes {
		to := g.To
		if i+1 < len(g.Writes) {
			to = g.Writes[i+1].Time
		}
		shade, col, text := alpha(green, 0x30), ink, w.Owner+" wrote"
		if w.Fence != 0 {
			text += fmt.Sprintf(", token %d", w.Fence)
		}
		switch {
		case !w.Accepted:
			shade, text = alpha(grey, 0x40), text+": rejected by the fence"
		case w.Late:
			shade, col, text = alpha(red, 0x30), red, text+": accepted, though another held or its own lease was over"
		}
		x0, x1 := tx(g.x(w.Time)), tx(g.x(to))
		fill(&c, shade, x0, ty(g.y(r)-otherBar), max(x1, x0+vg.Points(1)), ty(g.y(r)+otherBar))
		c.StrokeLine2(line(muted, 0.5), x0, ty(g.y(r)-otherBar), x0, ty(g.y(r)+otherBar))
		span{x0, x1, ty(g.y(r))}.text(&c, col, text)
	}
}

// stored draws what each node really had: a lease in its client's own colour, where it is
// known whose it is.
func (g *gantt) stored(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for _, s := range g.Stored {
		r := g.row("redis " + s.Node)
		if r < 0 || s.To < g.From || s.From > g.To {
			continue
		}
		shade, texts := g.truth(s)
		x0, x1 := tx(g.x(s.From)), tx(g.x(s.To))
		fill(&c, shade, x0, ty(g.y(r)-otherBar), max(x1, x0+vg.Points(1)), ty(g.y(r)+otherBar))
		span{x0, x1, ty(g.y(r))}.text(&c, ink, texts...)
	}
}

// truth is how a stretch of what a node stored is drawn, and what is written into it.
func (g *gantt) truth(s story.Stored) (shade color.Color, texts []string) {
	row := g.row("client " + s.Owner)
	switch {
	case s.Silent:
		return alpha(red, 0x18), []string{"did not answer", "?"}
	case s.Holder == "":
		return faint, []string{"nothing"}
	case s.Owner == "":
		return alpha(grey, 0xf0), []string{"stores " + s.Holder, s.Holder}
	case row < 0:
		return alpha(grey, 0xf0), []string{"stores " + s.Owner + "'s lease", s.Owner}
	}
	return alpha(palette[row%len(palette)], 0x70), []string{"stores " + s.Owner + "'s lease", s.Owner}
}

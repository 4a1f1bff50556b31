package plots

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locktorture/reports/stats"
	"locktorture/reports/story"
)

// reach is how long after a client began to ask a node may be seen to store
// its owner, for the arrow that joins the two.
const reach = 100 * time.Millisecond

// steps puts the numbers of the story on the rows where things happened, with
// arrows to the row that they reached.
func (g *gantt) steps(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	taken := map[int][]vg.Length{}
	dots := make([]vg.Point, len(g.Steps))
	for i, s := range g.Steps {
		r, y := g.stepRow(s), ty(float64(len(g.rows))+0.2)
		if r >= 0 {
			lift := clientBar
			if r >= g.clients {
				lift = otherBar
			}
			y = ty(g.y(r) + lift + 0.02)
		}
		x := tx(g.x(s.Time))
		for _, other := range taken[r] {
			if d := x - other; d > -vg.Points(2*dotRadius) && d < vg.Points(2*dotRadius) {
				x = other + vg.Points(2*dotRadius)
			}
		}
		taken[r] = append(taken[r], x)
		dots[i] = vg.Point{X: x, Y: y}
		if to := g.reaches(s); to >= 0 && r >= 0 {
			arrow(&c, tx(g.x(s.Time)), y, ty(g.y(to)+otherBar))
		}
	}
	sty := bold(centred(words(8.5, color.White)))
	for i, at := range dots {
		disc(&c, ink, at, vg.Points(dotRadius))
		c.FillText(sty, at, fmt.Sprint(g.Steps[i].N))
	}
}

func (g *gantt) stepRow(s story.Step) int {
	if s.Node != "" {
		return g.row("redis " + s.Node)
	}
	if r := g.row("client " + s.Client); s.Client != "" && r >= 0 {
		return r
	}
	for i, name := range g.rows[:g.clients] {
		if s.Client != "" && stats.ClientOf(strings.TrimPrefix(name, "client ")) == s.Client {
			return i
		}
	}
	return -1
}

// reaches is the row that a step's arrow points at: the store's for a write,
// a node's for an acquire that it stored; -1 for none.
func (g *gantt) reaches(s story.Step) int {
	if s.Writes {
		return g.row(storeRow)
	}
	for _, n := range g.Stored {
		if n.Holder != "" && (n.Holder == s.Who || n.Owner == s.Who) && n.From >= s.Time-reach && n.From <= s.Time+reach {
			return g.row("redis " + n.Node)
		}
	}
	return -1
}

func arrow(c *draw.Canvas, x, from, to vg.Length) {
	c.StrokeLine2(line(ink, 0.9), x, from, x, to)
	c.FillPolygon(ink, []vg.Point{{X: x, Y: to}, {X: x - vg.Points(2.6), Y: to + vg.Points(6)}, {X: x + vg.Points(2.6), Y: to + vg.Points(6)}})
}

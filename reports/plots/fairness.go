package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locktorture/reports/stats"
	"locktorture/reports/unit"
)

// named is up to how many clients have their names below their bars; more are
// shown by rank.
const named = 40

// Fairness shows how grants were shared between clients, and the longest wait
// of each.
func Fairness(s *stats.Summary, subject string) *Figure {
	f := &Figure{
		Name: "fairness", Title: "Grants and longest wait per client – " + subject,
		Alt: fmt.Sprintf("Bars of %d clients: between %s and %s grants each, Jain's index %.3f; the longest wait was %s.",
			len(s.Fairness.Clients), unit.Count(s.Fairness.LeastGrants), unit.Count(s.Fairness.MostGrants), s.Fairness.Jain, unit.Latency(s.Fairness.LongestWait)),
		width: 11 * vg.Inch, height: 4.2 * vg.Inch,
	}
	if len(s.Fairness.Clients) == 0 {
		f.Alt = "No client tried."
	}
	all := slices.Clone(s.Fairness.Clients)
	ranked := len(all) > named
	if ranked {
		slices.SortStableFunc(all, func(a, b stats.Client) int { return cmp.Compare(b.Grants, a.Grants) })
	}
	grants := clientPanel(all, func(c stats.Client) float64 { return float64(c.Grants) }, blue)
	grants.Title.Text = f.Title
	grants.Y.Label.Text = "grants"
	wait := clientPanel(all, func(c stats.Client) float64 { return c.LongestWait.Seconds() }, amber)
	wait.Y.Label.Text = "longest wait (s)"
	wait.X.Label.Text = "client"
	if ranked {
		wait.X.Label.Text = "clients, by number of grants"
	} else {
		wait.X.Tick.Marker = clientTicks(all)
	}
	if len(all) == 0 {
		grants.Add(notice("no client tried"))
	} else {
		grants.Add(mean(all))
	}
	f.rows = []row{{grants, 0.46, 1}, {wait, 0, 0.44}}
	return f
}

// clientPanel draws one bar per client.
func clientPanel(all []stats.Client, value func(stats.Client) float64, col color.NRGBA) *plot.Plot {
	p := panel()
	bare(&p.X)
	p.X.Tick.Marker = plot.ConstantTicks{{Label: " "}} // keeps the room in which the axis ends
	p.Add(grid())
	var cols []bar
	top := 0.0
	for i, c := range all {
		x, y := float64(i), value(c)
		top = max(top, y)
		cols = append(cols, bar{x - 0.5, x + 0.5, y, col})
	}
	p.Add(bars(cols))
	limits(&p.X, -0.5, max(float64(len(all)), 1)-0.5)
	limits(&p.Y, 0, top*1.15)
	p.Y.Tick.Marker = step{by: nice(p.Y.Max, 4)}
	return p
}

// mean marks the even share.
func mean(all []stats.Client) layer {
	total := int64(0)
	for _, c := range all {
		total += c.Grants
	}
	share := float64(total) / float64(len(all))
	return func(c draw.Canvas, p *plot.Plot) {
		_, ty := p.Transforms(&c)
		c.StrokeLine2(line(ink, 0.9, 5, 3), c.Min.X, ty(share), c.Max.X, ty(share))
		sty := words(8, ink)
		text := "even share " + unit.Number(share)
		x, y := c.Max.X-sty.Width(text)-vg.Points(6), ty(share)+vg.Points(7)
		fill(&c, color.NRGBA{255, 255, 255, 0xd0}, x-vg.Points(2), y-vg.Points(5), c.Max.X, y+vg.Points(5))
		c.FillText(sty, vg.Point{X: x, Y: y}, text)
	}
}

func clientTicks(all []stats.Client) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, c := range all {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: c.Name})
	}
	return ticks
}

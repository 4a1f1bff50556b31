package plots

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locktorture/reports/stats"
)

const (
	maxLanes = 8 // with labels
	maxBands = 60
	laneText = 8.5  // points
	dataArea = 715. // points: about how wide the data area is
)

// A mark is one fault as the timeline shows it, in seconds.
type mark struct {
	label      string
	from, to   float64
	lane       int
	color      color.NRGBA
	tookEffect bool
	quiet      bool // no room for its label
}

// marks lays the faults out in lanes, so that neither bars nor labels collide;
// those that find no room share one more lane, without labels.
func marks(faults []stats.Fault, end float64) (all []mark, lanes int) {
	colors := map[string]color.NRGBA{}
	palette := []color.NRGBA{amber, pink, blue, green, red, sky, orange}
	var until []float64 // of each lane, label included
	perPoint := end / dataArea
	for _, f := range faults {
		if f.Started == stats.Never {
			continue
		}
		if _, ok := colors[f.Name]; !ok {
			colors[f.Name] = palette[len(colors)%len(palette)]
		}
		m := mark{label: label(f), from: f.Started.Seconds(), to: end, color: colors[f.Name], tookEffect: f.TookEffect}
		if e := f.End(); e != stats.Never {
			m.to = max(e.Seconds(), m.from)
		}
		m.lane, until = place(m, until, perPoint)
		m.quiet = m.lane == maxLanes
		lanes = max(lanes, m.lane+1)
		all = append(all, m)
	}
	return all, max(lanes, 1)
}

func label(f stats.Fault) string {
	text := f.Name
	if f.Target != "" {
		text += " " + f.Target
	}
	if !f.TookEffect {
		text += " (had no effect)"
	}
	return text
}

// place finds the first lane that is free for the bar and its label, or
// maxLanes when none is.
func place(m mark, until []float64, perPoint float64) (int, []float64) {
	w := float64(words(laneText, ink).Width(m.label)) * perPoint
	from, to := m.from, m.to
	if pad := 8 * perPoint; w+pad > to-from {
		if to+w+pad > dataArea*perPoint {
			from -= w + pad // the label stands left of the bar
		} else {
			to += w + pad
		}
	}
	for i := range until {
		if until[i] <= from {
			until[i] = to
			return i, until
		}
	}
	if len(until) == maxLanes {
		return maxLanes, until
	}
	return len(until), append(until, to)
}

// strip draws the lanes: one bar per fault, its label inside or beside.
func strip(all []mark, lanes int) layer {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, ty := p.Transforms(&c)
		for _, m := range all {
			y := float64(lanes-1-m.lane) + 0.5
			x0, x1 := tx(m.from), tx(m.to)
			x1 = max(x1, x0+vg.Points(2))
			y0, y1 := ty(y-0.36), ty(y+0.36)
			if m.tookEffect {
				fill(&c, alpha(m.color, 0xdd), x0, y0, x1, y1)
			} else {
				c.StrokeLines(line(m.color, 0.8, 2, 1.5), []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}, {X: x0, Y: y0}})
			}
			if !m.quiet {
				strokeLabel(&c, m, x0, x1, (y0+y1)/2)
			}
		}
	}
}

func strokeLabel(c *draw.Canvas, m mark, x0, x1, y vg.Length) {
	sty := words(laneText, ink)
	w := sty.Width(m.label)
	switch {
	case w < x1-x0-vg.Points(6):
		x0 += vg.Points(4)
		if m.tookEffect && m.color != amber && m.color != sky {
			sty.Color = color.White
		}
	case x1+w+vg.Points(4) > c.Max.X:
		x0 -= w + vg.Points(4)
	default:
		x0 = x1 + vg.Points(4)
	}
	c.FillText(sty, vg.Point{X: x0, Y: y}, m.label)
}

// bands tints the stretches in which faults were in force.
func bands(all []mark) layer {
	return func(c draw.Canvas, p *plot.Plot) {
		tx, _ := p.Transforms(&c)
		for _, m := range all[:min(len(all), maxBands)] {
			x0, x1 := max(tx(m.from), c.Min.X), min(tx(m.to), c.Max.X)
			fill(&c, alpha(m.color, 0x22), x0, c.Min.Y, x1, c.Max.Y)
			for _, x := range []vg.Length{x0, x1} {
				c.StrokeLine2(line(alpha(m.color, 0x99), 0.6, 3, 2), x, c.Min.Y, x, c.Max.Y)
			}
		}
	}
}

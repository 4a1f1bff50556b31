package plots

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"locktorture/reports/stats"
	"locktorture/reports/unit"
)

const columns = 60

// Margin shows how close holders came to the end of their leases: what was
// left at the last write, and the gap until the next owner's grant. What is
// below zero stands in a red column of its own, on the left.
func Margin(s *stats.Summary, ttl time.Duration) *Figure {
	m := s.Margin
	f := &Figure{
		Name: "margin", Title: "Safety margin: lease left at the last write, and gap between holders", Alt: marginAlt(m),
		width: 11 * vg.Inch, height: 4.6 * vg.Inch,
	}
	left := validityPanel(m.Validity, ttl)
	left.Title.Text = f.Title
	f.rows = []row{{left, 0.485, 1}, {gapPanel(m.Gap), 0, 0.465}}
	return f
}

// validityPanel counts linearly, up to the TTL or to what was seen.
func validityPanel(v stats.Signed, ttl time.Duration) *plot.Plot {
	p := panel()
	p.X.Label.Text = "lease left at the last write"
	p.Y.Label.Text = "holds (log)"
	top := float64(max(ttl, v.Max))
	if top <= 0 {
		top = float64(time.Second)
	}
	width := top / columns
	counts := make([]float64, columns)
	each(v.Hist, func(d time.Duration, n float64) { counts[min(int(float64(d)/width), columns-1)] += n })
	var cols []bar
	for i, n := range counts {
		cols = append(cols, bar{float64(i) * width, float64(i+1) * width, n, blue})
	}
	cols = append(cols, bar{-4 * width, -2 * width, float64(v.Negative), red})
	by := nice(top/1e6, 8) * 1e6
	p.X.Tick.Marker = durations{by: by, below: -3 * width}
	finish(p, cols, v)
	limits(&p.X, -5*width, top)
	return p
}

// gapPanel counts by decades: gaps span many orders of magnitude.
func gapPanel(v stats.Signed) *plot.Plot {
	p := panel()
	p.X.Label.Text = "gap between the end of a hold and the next owner's grant (log)"
	p.Y.Label.Text = "hand-overs (log)"
	lo, hi := 4.0, 10.0 // 10 µs to 10 s
	if v.Count > 0 {
		hi = max(math.Ceil(math.Log10(float64(v.Quantiles.Max))), lo+1)
	}
	width := (hi - lo) / columns
	counts := make([]float64, columns)
	each(v.Hist, func(d time.Duration, n float64) {
		i := int((math.Log10(float64(max(d, 1))) - lo) / width)
		counts[min(max(i, 0), columns-1)] += n
	})
	var cols []bar
	for i, n := range counts {
		cols = append(cols, bar{lo + float64(i)*width, lo + float64(i+1)*width, n, green})
	}
	cols = append(cols, bar{lo - 4*width, lo - 2*width, float64(v.Negative), red})
	p.X.Tick.Marker = decades{below: lo - 3*width, from: lo}
	finish(p, cols, v)
	limits(&p.X, lo-5*width, hi)
	return p
}

// few is the height of a column of one: holds that were nearly too late are
// rare, and must show beside thousands that were not.
const few = 0.5

// finish draws the columns with their heights as logarithms.
func finish(p *plot.Plot, cols []bar, v stats.Signed) {
	top := 1.0
	for i, b := range cols {
		if b.y > 0 {
			cols[i].y = few + math.Log10(b.y)
		}
		top = max(top, cols[i].y)
	}
	p.Add(grid(), bars(cols))
	if v.Count+v.Negative == 0 {
		p.Add(notice("nothing measured"))
	}
	limits(&p.Y, 0, top*1.1)
	ticks := plot.ConstantTicks{{Value: 0, Label: "0"}}
	for e := 0.0; few+e <= top*1.1; e++ {
		ticks = append(ticks, plot.Tick{Value: few + e, Label: unit.Count(int64(math.Pow(10, e)))})
	}
	p.Y.Tick.Marker = ticks
}

// each calls f for every value of h and how often it came.
func each(h *stats.Hist, f func(d time.Duration, n float64)) {
	if h == nil {
		return
	}
	for _, b := range h.Distribution() {
		if b.Count > 0 {
			f(time.Duration(b.From), float64(b.Count))
		}
	}
}

// durations is a linear axis of nanoseconds, with a tick for what is below 0.
type durations struct{ by, below float64 }

// Ticks implements plot.Ticker.
func (d durations) Ticks(_, hi float64) []plot.Tick {
	out := []plot.Tick{{Value: d.below, Label: "< 0"}}
	for i := 0.0; i*d.by <= hi*1.0001 && i < 1000; i++ {
		out = append(out, plot.Tick{Value: i * d.by, Label: unit.Setting(time.Duration(i * d.by))})
	}
	return out
}

// decades is an axis of logarithms of nanoseconds, with a tick for what is
// below 0.
type decades struct{ below, from float64 }

// Ticks implements plot.Ticker.
func (d decades) Ticks(_, hi float64) []plot.Tick {
	out := []plot.Tick{{Value: d.below, Label: "< 0"}}
	for e := d.from; e <= hi+1e-9; e++ {
		out = append(out, plot.Tick{Value: e, Label: unit.Setting(time.Duration(math.Pow(10, e)))})
	}
	return out
}

func marginAlt(m stats.Margin) string {
	of := func(s stats.Signed, what, none string) string {
		n := s.Count + s.Negative
		if n == 0 {
			return " " + none
		}
		return fmt.Sprintf(" "+what+": median %s, least %s, %s below zero.", unit.Count(n), unit.Latency(s.P50), unit.Latency(s.Min), unit.Count(s.Negative))
	}
	return "Histograms." + of(m.Validity, "Lease left at the last write of %s holds", "No hold wrote within a lease whose end is known.") +
		of(m.Gap, "Gap to the next owner in %s hand-overs", "No key changed hands.")
}

package plots

import (
	"math"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"

	"locktorture/reports/unit"
)

// limits sets the range of an axis; an empty range is widened, since a plot
// cannot scale by nothing.
func limits(a *plot.Axis, lo, hi float64) {
	if !(hi > lo) || math.IsInf(hi, 0) {
		hi = lo + 1
	}
	a.Min, a.Max = lo, hi
}

// logTime makes a an axis of latencies in nanoseconds that shows lo to hi.
func logTime(a *plot.Axis, lo, hi float64) {
	lo = max(lo, 1)
	if !(hi > lo*2) {
		hi = lo * 10
	}
	a.Scale = plot.LogScale{}
	a.Tick.Marker = logTicks(func(v float64) string { return unit.Setting(time.Duration(v)) })
	a.Min, a.Max = lo, hi
}

// logTicks marks 1 to 9 of every decade and labels the decades.
type logTicks func(v float64) string

// Ticks implements plot.Ticker.
func (label logTicks) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, e)
			if v < lo*0.999 || v > hi*1.001 {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 {
				t.Label = label(math.Round(v))
			}
			out = append(out, t)
		}
	}
	return out
}

// A step is a linear axis with a tick at every multiple.
type step struct {
	by      float64
	silent  bool    // ticks without labels
	divisor float64 // what a label is divided by; 0 is 1
}

// Ticks implements plot.Ticker.
func (s step) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	by := max(s.by, (hi-lo)/1000)
	for i := math.Ceil(lo/by - 1e-9); i*by <= hi+by*1e-9; i++ {
		t := plot.Tick{Value: i * by, Label: s.label(i * by)}
		if s.silent {
			t.Label = " " // an empty one would make it a minor tick, which the grid skips
		}
		out = append(out, t)
	}
	return out
}

func (s step) label(v float64) string {
	if s.divisor > 0 {
		v /= s.divisor
	}
	if math.Abs(v) >= 10000 && v == math.Trunc(v) {
		return unit.Count(int64(v))
	}
	return decimal(v)
}

// decimal writes v with as few digits as it needs.
func decimal(v float64) string {
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 6, 64), "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// nice is the smallest of 1, 2, 5 times a power of ten that cuts span into at
// most n parts.
func nice(span float64, n int) float64 {
	if !(span > 0) || n < 1 {
		return 1
	}
	raw := span / float64(n)
	base := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*base >= raw*0.9999 {
			return m * base
		}
	}
	return 10 * base
}

// A clock is how a figure counts the time of a run.
type clock struct {
	unit  string
	ticks step
}

// clockOf picks seconds, minutes or hours for a run that lasts that many
// seconds.
func clockOf(seconds float64) clock {
	switch {
	case seconds <= 600:
		return clock{"s", step{by: nice(seconds, 12)}}
	case seconds <= 4*3600:
		return clock{"min", step{by: 60 * nice(seconds/60, 12), divisor: 60}}
	default:
		return clock{"h", step{by: 3600 * nice(seconds/3600, 12), divisor: 3600}}
	}
}

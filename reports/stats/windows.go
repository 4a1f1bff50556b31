package stats

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"locktorture/workload/history"
)

const (
	firstWidth = 500 * time.Millisecond
	maxWindows = 600 // then pairs of windows become one
)

// A Window is what happened in one stretch of a run. Latencies are those of
// the acquires granted in it, and zero when there was none.
type Window struct {
	Start    time.Duration
	Outcomes Outcomes
	P50      time.Duration
	P99      time.Duration
	Max      time.Duration
}

type windows struct {
	width time.Duration
	list  []window
}

// A window keeps a sparse histogram: few latencies differ within half a second.
type window struct {
	outcomes Outcomes
	hist     *hdrhistogram.PackedHistogram
}

func (w *windows) attempt(e *history.Event, response time.Duration) {
	one := w.at(e.Time)
	one.outcomes.add(e)
	if e.Kind != history.OK {
		return
	}
	if one.hist == nil {
		one.hist = hdrhistogram.NewPacked(lowest, highest, 2)
	}
	_ = one.hist.RecordValue(min(max(int64(response), 1), highest))
}

// at returns the window of time t, widening all of them when there would be
// too many.
func (w *windows) at(t time.Duration) *window {
	for t/w.width >= maxWindows {
		w.widen()
	}
	i := int(max(t, 0) / w.width)
	for len(w.list) <= i {
		w.list = append(w.list, window{})
	}
	return &w.list[i]
}

func (w *windows) widen() {
	w.width *= 2
	half := w.list[:0]
	for i := 0; i < len(w.list); i += 2 {
		one := w.list[i]
		if i+1 < len(w.list) {
			one = one.join(w.list[i+1])
		}
		half = append(half, one)
	}
	clear(w.list[len(half):])
	w.list = half
}

func (w window) join(next window) window {
	w.outcomes.merge(next.outcomes)
	switch {
	case w.hist == nil:
		w.hist = next.hist
	case next.hist != nil:
		w.hist.Merge(next.hist)
	}
	return w
}

// summary lists the windows up to end, those without an event included.
func (w *windows) summary(end time.Duration) []Window {
	w.at(end)
	out := make([]Window, len(w.list))
	for i, one := range w.list {
		out[i] = Window{Start: time.Duration(i) * w.width, Outcomes: one.outcomes}
		if one.hist != nil {
			out[i].P50 = time.Duration(one.hist.ValueAtPercentile(50))
			out[i].P99 = time.Duration(one.hist.ValueAtPercentile(99))
			out[i].Max = time.Duration(one.hist.Max())
		}
	}
	return out
}

// A Gap is a stretch of a run in which nobody was granted anything.
type Gap struct {
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"`
}

// Length returns how long the gap lasted.
func (g Gap) Length() time.Duration { return g.To - g.From }

const maxGaps = 8

// gaps keeps the longest stretches without a grant.
type gaps struct {
	last    time.Duration
	longest []Gap
	grants  int64
}

func (g *gaps) grant(t time.Duration) {
	g.grants++
	g.add(Gap{g.last, t})
	g.last = t
}

func (g *gaps) add(one Gap) {
	if len(g.longest) < maxGaps {
		g.longest = append(g.longest, one)
		return
	}
	least := 0
	for i := range g.longest {
		if g.longest[i].Length() < g.longest[least].Length() {
			least = i
		}
	}
	if one.Length() > g.longest[least].Length() {
		g.longest[least] = one
	}
}

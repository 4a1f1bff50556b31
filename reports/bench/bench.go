// Package bench turns repeated measurements of several locks into rows and
// paired ratios with intervals, and writes them for people and machines. The
// unit of replication is a whole run of a lock, never a single operation.
package bench

import (
	"cmp"
	"slices"
	"time"

	"locktorture/reports/stats"
)

// A Report is what one bench measured.
type Report struct {
	Schema  int       `json:"schema"`
	Command string    `json:"command"`
	Version string    `json:"version"`
	Redis   string    `json:"redis"`
	Host    string    `json:"host"`
	Began   time.Time `json:"began"`
	Seed    uint64    `json:"seed"`
	Repeats int       `json:"repeats"`
	Slice   float64   `json:"measured_s"` // seconds measured of one lock in one repeat
	Notes   []string  `json:"notes"`
	Missing int       `json:"incomplete,omitempty"` // cells that an interrupted bench did not come to
	Locks   []Lock    `json:"locks"`

	Cells []Cell `json:"cells"`
	Rows  []Row  `json:"rows"`
}

// A Lock is one that was measured, and how it was set.
type Lock struct {
	ID    string `json:"id"`
	About string `json:"about"`
}

// A Cell is one lock in one scenario, as a whole run.
type Cell struct {
	Scenario string `json:"scenario"`
	Nodes    int    `json:"nodes"`
	Workers  int    `json:"workers"`
	Lock     string `json:"lock"`
	Repeat   int    `json:"repeat"`

	Rate     float64         `json:"pairs_per_s"` // acquire and release
	HandOffs float64         `json:"handoffs_per_s"`
	Acquire  stats.Quantiles `json:"acquire"`
	Release  stats.Quantiles `json:"release"`
	HandOff  stats.Quantiles `json:"handoff"`
	Extend   stats.Quantiles `json:"extend"`
	Jain     float64         `json:"jain"`
	Least    int64           `json:"least_grants"`
	Most     int64           `json:"most_grants"`

	Commands   float64 `json:"commands_per_pair"`    // INFO commandstats, those within scripts too
	RoundTrips float64 `json:"round_trips_per_pair"` // packets of requests per pair and node
	Allocs     float64 `json:"allocs_per_pair"`      // -1: not told apart from the testbed's
	ServerCPU  float64 `json:"server_cpu_us_per_pair"`
	ClientCPU  float64 `json:"client_cpu_us_per_pair"`
	Goroutines int     `json:"goroutines"` // of the lock, at most
	Leftovers  int     `json:"leftovers"`  // keys that bear a lease, after quiescence; -1: a server did not tell
	Errors     int64   `json:"errors"`
	CutOff     int64   `json:"cut_off"` // requests that the end of the run cut off
	Error      string  `json:"error,omitempty"`
	Disturbed  string  `json:"disturbed,omitempty"` // by what, to the last try: it is in no figure
}

// A Setting is what locks are compared in.
type Setting struct {
	Scenario string `json:"scenario"`
	Nodes    int    `json:"nodes"`
	Workers  int    `json:"workers"`
}

// A Row sums up one lock in one setting.
type Row struct {
	Setting
	Lock    string                `json:"lock"`
	Figures map[string]Interval   `json:"figures"`
	Ratios  map[string]Comparison `json:"ratios"` // of the setting's first lock to this one, by metric
}

// A Comparison is the first lock's figure as a multiple of this lock's.
type Comparison struct {
	Against string `json:"against"`
	Interval
}

// A metric reads one figure off a cell; ok is false when there is none.
type metric struct {
	name  string
	ratio bool // it is compared between locks
	of    func(c Cell) (v float64, ok bool)
}

func latency(of func(Cell) stats.Quantiles, pick func(stats.Quantiles) time.Duration) func(Cell) (float64, bool) {
	return func(c Cell) (float64, bool) { q := of(c); return float64(pick(q)), q.Count > 0 }
}

func acquire(c Cell) stats.Quantiles          { return c.Acquire }
func release(c Cell) stats.Quantiles          { return c.Release }
func handoff(c Cell) stats.Quantiles          { return c.HandOff }
func extend(c Cell) stats.Quantiles           { return c.Extend }
func p50(q stats.Quantiles) time.Duration     { return q.P50 }
func p99(q stats.Quantiles) time.Duration     { return q.P99 }
func p999(q stats.Quantiles) time.Duration    { return q.P999 }
func longest(q stats.Quantiles) time.Duration { return q.Max }

func positive(of func(Cell) float64) func(Cell) (float64, bool) {
	return func(c Cell) (float64, bool) { v := of(c); return v, v > 0 }
}

// metrics lists every figure of a row.
var metrics = []metric{
	{"rate", true, func(c Cell) (float64, bool) { return c.Rate, true }},
	{"handoffs", true, func(c Cell) (float64, bool) { return c.HandOffs, c.HandOffs > 0 }},
	{"acquire.p50", true, latency(acquire, p50)},
	{"acquire.p99", true, latency(acquire, p99)},
	{"acquire.p99.9", true, latency(acquire, p999)},
	{"acquire.max", true, latency(acquire, longest)},
	{"handoff.p50", true, latency(handoff, p50)},
	{"handoff.p99", true, latency(handoff, p99)},
	{"release.p50", true, latency(release, p50)},
	{"release.p99", true, latency(release, p99)},
	{"extend.p50", true, latency(extend, p50)},
	{"extend.p99", true, latency(extend, p99)},
	{"jain", false, positive(func(c Cell) float64 { return c.Jain })},
	{"max/min", false, func(c Cell) (float64, bool) { return float64(c.Most) / float64(max(c.Least, 1)), c.Most > 0 }},
	{"commands", false, positive(func(c Cell) float64 { return c.Commands })},
	{"round trips", false, positive(func(c Cell) float64 { return c.RoundTrips })},
	{"allocs", false, func(c Cell) (float64, bool) { return c.Allocs, c.Allocs >= 0 }},
	{"server cpu", false, positive(func(c Cell) float64 { return c.ServerCPU })},
	{"client cpu", false, positive(func(c Cell) float64 { return c.ClientCPU })},
	{"goroutines", false, func(c Cell) (float64, bool) { return float64(c.Goroutines), c.Goroutines >= 0 }},
	{"leftovers", false, func(c Cell) (float64, bool) { return float64(c.Leftovers), c.Leftovers >= 0 }},
	{"errors", false, func(c Cell) (float64, bool) { return float64(c.Errors), true }},
}

// Summarize computes the rows from the cells: figures over repeats, and ratios
// paired within a repeat. A cell that other programs disturbed is in none of them. Locks
// of a setting keep the order in which they come in order; the first is the one that the
// others are compared with.
func (r *Report) Summarize(order []string) {
	r.Rows = nil
	by := map[Setting]map[string][]Cell{}
	var settings []Setting
	for _, c := range r.Cells {
		s := Setting{c.Scenario, c.Nodes, c.Workers}
		if by[s] == nil {
			by[s] = map[string][]Cell{}
			settings = append(settings, s)
		}
		by[s][c.Lock] = append(by[s][c.Lock], c)
	}
	for _, s := range settings {
		r.Rows = append(r.Rows, rows(s, by[s], order)...)
	}
}

func rows(s Setting, locks map[string][]Cell, order []string) []Row {
	var ids []string
	for id, cells := range locks {
		ids = append(ids, id)
		slices.SortFunc(cells, func(a, b Cell) int { return cmp.Compare(a.Repeat, b.Repeat) })
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a), slices.Index(order, b)), cmp.Compare(a, b))
	})
	var out []Row
	for i, id := range ids {
		row := Row{Setting: s, Lock: id, Figures: map[string]Interval{}, Ratios: map[string]Comparison{}}
		for _, m := range metrics {
			if v := figures(m, locks[id]); len(v) > 0 {
				row.Figures[m.name] = Median(v)
			}
			if ratios := paired(m, locks[ids[0]], locks[id]); i > 0 && len(ratios) > 0 {
				row.Ratios[m.name] = Comparison{ids[0], Median(ratios)}
			}
		}
		out = append(out, row)
	}
	return out
}

func figures(m metric, cells []Cell) []float64 {
	var out []float64
	for _, c := range cells {
		if v, ok := m.read(c); ok {
			out = append(out, v)
		}
	}
	return out
}

// read is the figure of a cell that nothing disturbed.
func (m metric) read(c Cell) (float64, bool) {
	v, ok := m.of(c)
	return v, ok && c.Disturbed == ""
}

// Measured reports whether any cell was undisturbed, so that there are figures.
func (r *Report) Measured() bool {
	return slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Disturbed == "" })
}

// paired divides a's figure by b's of the same repeat.
func paired(m metric, a, b []Cell) []float64 {
	var out []float64
	for _, x := range a {
		for _, y := range b {
			vx, okx := m.read(x)
			vy, oky := m.read(y)
			if m.ratio && x.Repeat == y.Repeat && okx && oky && vy > 0 {
				out = append(out, vx/vy)
			}
		}
	}
	return out
}

// Across compares one lock with itself between two settings, paired within a
// repeat: the figure in setting a as a multiple of that in b.
func (r *Report) Across(name, lock string, a, b Setting) (Interval, bool) {
	i := slices.IndexFunc(metrics, func(m metric) bool { return m.name == name })
	if i < 0 {
		return Interval{}, false
	}
	of := func(s Setting) (out []Cell) {
		for _, c := range r.Cells {
			if (Setting{c.Scenario, c.Nodes, c.Workers}) == s && c.Lock == lock {
				out = append(out, c)
			}
		}
		return out
	}
	v := paired(metrics[i], of(a), of(b))
	if len(v) == 0 {
		return Interval{}, false
	}
	return Median(v), true
}

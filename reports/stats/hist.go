package stats

import (
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Series names a kind of duration that is measured.
type Series string

// The series. Acquire counts from the intended start of open-loop load, the
// others from the invocation.
const (
	Acquire        Series = "acquire"
	AcquireService Series = "service"
	Refused        Series = "refused"
	Unknown        Series = "unknown"
	Release        Series = "release"
	Extend         Series = "extend"
	Write          Series = "write"
)

// AllSeries lists the series in the order in which reports show them.
var AllSeries = []Series{Acquire, AcquireService, Release, Extend, Write, Refused, Unknown}

// A Phase says what the nemesis was doing while an operation ran.
type Phase int

// The phases. An operation during which any fault was in force is Faulted; one
// that began within a TTL (at least a second) of the last heal is Recovering.
const (
	Quiet Phase = iota
	Faulted
	Recovering
	phases
)

func (p Phase) String() string { return [...]string{"quiet", "faulted", "recovering"}[p] }

// Phases lists the phases.
var Phases = []Phase{Quiet, Faulted, Recovering}

const (
	lowest  = 100                  // ns told apart
	highest = int64(2 * time.Hour) // what lasts longer counts as this
	digits  = 3
)

// A Hist is a latency histogram; a nil Hist is empty.
type Hist = hdrhistogram.Histogram

type histograms map[Series]*[phases]*Hist

func (h *histograms) record(s Series, p Phase, d time.Duration) {
	if *h == nil {
		*h = histograms{}
	}
	byPhase := (*h)[s]
	if byPhase == nil {
		byPhase = new([phases]*Hist)
		(*h)[s] = byPhase
	}
	if byPhase[p] == nil {
		byPhase[p] = newHist()
	}
	record(byPhase[p], d)
}

// all merges the phases of one series; nil when there is nothing.
func (h histograms) all(s Series) *Hist {
	byPhase := h[s]
	if byPhase == nil {
		return nil
	}
	sum := newHist()
	for _, one := range byPhase {
		if one != nil {
			sum.Merge(one)
		}
	}
	return sum
}

func newHist() *Hist { return hdrhistogram.New(lowest, highest, digits) }

// record adds d, moved into the histogram's range, where recording cannot fail.
func record(h *Hist, d time.Duration) {
	_ = h.RecordValue(min(max(int64(d), 1), highest))
}

// Quantiles sums up a histogram.
type Quantiles struct {
	Count int64         `json:"count"`
	Mean  time.Duration `json:"mean_ns"`
	P50   time.Duration `json:"p50_ns"`
	P90   time.Duration `json:"p90_ns"`
	P99   time.Duration `json:"p99_ns"`
	P999  time.Duration `json:"p999_ns"`
	P9999 time.Duration `json:"p9999_ns"`
	Max   time.Duration `json:"max_ns"`
}

// QuantilesOf sums up h, which may be nil.
func QuantilesOf(h *Hist) Quantiles {
	if h == nil || h.TotalCount() == 0 {
		return Quantiles{}
	}
	v := h.ValueAtPercentilesSlice([]float64{50, 90, 99, 99.9, 99.99, 100})
	at := func(i int) time.Duration { return time.Duration(v[i]) }
	return Quantiles{
		Count: h.TotalCount(), Mean: time.Duration(h.Mean()),
		P50: at(0), P90: at(1), P99: at(2), P999: at(3), P9999: at(4), Max: at(5),
	}
}

// QuantilesOfAll sums up durations exactly. It sorts them in place.
func QuantilesOfAll(all []time.Duration) Quantiles {
	n := len(all)
	if n == 0 {
		return Quantiles{}
	}
	slices.Sort(all)
	var sum float64
	for _, d := range all {
		sum += float64(d)
	}
	at := func(q float64) time.Duration { return all[max(int(math.Ceil(q*float64(n)))-1, 0)] }
	return Quantiles{
		Count: int64(n), Mean: time.Duration(sum / float64(n)),
		P50: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999), P9999: at(0.9999), Max: all[n-1],
	}
}

package capacity

import (
	"cmp"
	"strings"
	"time"

	"locktorture/reports/slo"
	"locktorture/reports/stats"
)

// A Report is the answer, with everything that it rests on.
type Report struct {
	Schema   int           `json:"schema"`
	Command  string        `json:"command"`
	Version  string        `json:"version"`
	Redis    string        `json:"redis"`
	Host     string        `json:"host"`
	Began    time.Time     `json:"began"`
	Took     time.Duration `json:"took_ns"`
	Seed     uint64        `json:"seed"`
	Repeats  int           `json:"repeats"`
	Setup    Setup         `json:"setup"`
	Arrivals *Arrivals     `json:"arrivals,omitempty"` // that were played; none where rates were offered
	RTT      time.Duration `json:"rtt_ns"`             // median PING
	SLO      []string      `json:"slo"`
	Bound    time.Duration `json:"bound_ns,omitempty"` // on acquire.p99, which the figures show; 0 when no objective sets one
	Warning  []string      `json:"warnings"`
	Missing  []string      `json:"incomplete,omitempty"` // parts that an interrupted measurement did not come to the end of

	Recommended Estimate     `json:"recommended"` // pairs per second
	Limit       Estimate     `json:"limit"`       // highest rate that meets the objectives
	Knee        Estimate     `json:"knee"`
	Hot         Hot          `json:"hot_key"`
	USL         USL          `json:"usl"`
	Bottleneck  Bottleneck   `json:"bottleneck"`
	Effects     []Effect     `json:"sensitivity"`
	Lease       Lease        `json:"lease"`
	Recovery    Recovery     `json:"recovery"`
	LostMaster  *Failure     `json:"lost_master,omitempty"` // none where it was not measured
	Cost        Cost         `json:"cost"`
	Points      []Point      `json:"points"`
	Sweep       []Load       `json:"sweep"`
	Calibration *Calibration `json:"calibration,omitempty"` // of the model; none where it was not measured
	Discarded   int          `json:"discarded"`             // points with a lagging generator
	NotMeasured []string     `json:"not_measured"`
	Advice      []string     `json:"advice"`
}

// A Setup is what was loaded.
type Setup struct {
	Lock    string        `json:"lock"`
	Masters int           `json:"masters"`
	Clients int           `json:"clients"`
	Keys    int           `json:"keys"`
	Hold    time.Duration `json:"hold_ns"`
	TTL     time.Duration `json:"ttl_ns"`
	Step    time.Duration `json:"step_ns"` // measured of one rate in one repeat
}

// OpenWindow is how an open loop of that hold is measured: for how long at a rate, and
// after how long.
func (s Setup) OpenWindow(hold time.Duration) (warmup, measure time.Duration) {
	return max(s.Step/5, 4*hold), s.Step
}

// Arrivals are a trace that was played at its own pace, slower and faster. Rates are
// those of the trace on average, times the pace.
type Arrivals struct {
	File    string        `json:"file"`
	Count   int           `json:"count"`
	Span    time.Duration `json:"span_ns"`
	Rate    float64       `json:"rate"`          // per second, on average
	Peak    float64       `json:"peak"`          // in the busiest second
	Keys    int           `json:"keys"`          // that it names; 0: equally popular ones were drawn
	Hottest float64       `json:"hottest_share"` // of arrivals that want the most popular key
}

// Headroom is the share of the limit that is recommended: what is left is for
// bursts, retries after a fault, and growth until the next measurement.
const Headroom = 0.7

// A Point is one rate offered in an open loop, in one repeat.
type Point struct {
	Phase    string          `json:"phase"` // ramp or bisection
	Rate     float64         `json:"rate"`
	Window   time.Duration   `json:"window_ns,omitempty"` // that was measured
	Repeat   int             `json:"repeat"`
	Valid    bool            `json:"valid"` // the generator kept up, and the repeat was not broken off
	OK       bool            `json:"ok"`
	Why      string          `json:"why,omitempty"` // not valid, or not met
	Offered  int64           `json:"offered"`
	Done     int64           `json:"done"`
	Dropped  int64           `json:"dropped"`
	CutOff   int64           `json:"cut_off"`
	Response stats.Quantiles `json:"response"` // from the intended start
	Service  stats.Quantiles `json:"service"`
	Lag      stats.Quantiles `json:"lag"`
	SLO      []slo.Result    `json:"slo"`
	Busy     Busy            `json:"busy"`
}

// brokenOff is why the points of a repeat that was interrupted are not valid: a limit wants
// all of its rates.
const brokenOff = "left out: its repeat was interrupted"

// Interrupted keeps what was measured before an interruption, and marks what was not.
func (r *Report) Interrupted(missing []string, repeat int) {
	r.Missing = missing
	r.Warning = append([]string{"interrupted: this is not the whole measurement; missing: " + strings.Join(missing, ", ")}, r.Warning...)
	for i, p := range r.Points {
		if p.Repeat == repeat {
			r.Points[i].Valid, r.Points[i].Why = false, brokenOff
		}
	}
	for _, e := range []*Estimate{&r.Hot.HandOff, &r.Hot.Over, &r.Hot.Measured, &r.Hot.Predicted, &r.USL.Lambda, &r.Recovery.Capacity, &r.Recovery.Backlog, &r.Recovery.Back} {
		if !e.Known() && e.Suppressed == "" {
			*e = suppressed("interrupted before it was measured")
		}
	}
	if r.Cost.Missing == "" && !r.Cost.Commands.Known() {
		r.Cost.Missing = "interrupted before it was"
	}
}

// Lagged is how many points are not valid, those of an interrupted repeat aside.
func (r *Report) Lagged() (n int) {
	for _, p := range r.Points {
		if !p.Valid && p.Why != brokenOff {
			n++
		}
	}
	return n
}

// Measured reports whether there is anything to keep.
func (r *Report) Measured() bool { return len(r.Sweep)+len(r.Points) > 0 }

// span is how long a point was measured; step where an earlier version did not write it.
func (p Point) span(step time.Duration) time.Duration { return cmp.Or(p.Window, step) }

// Busy is the share of a processor that something used; of the machine, of all
// its processors.
type Busy struct {
	Redis   []float64 `json:"redis"` // per server
	Harness float64   `json:"harness"`
	Machine float64   `json:"machine"`
	Others  float64   `json:"others"` // of all processors, by programs that are not measured, or taken by the host; the latter alone where nobody can tell
	CPUs    int       `json:"cpus"`
}

// supported is how many valid repeats a rate needs for the fits to use it.
const supported = 2

// Steps are the valid points as the fits need them. A rate of which only one
// repeat is valid says nothing.
func Steps(points []Point) []Step {
	valid := map[float64]int{}
	for _, p := range points {
		if p.Valid {
			valid[p.Rate]++
		}
	}
	var out []Step
	for _, p := range points {
		if p.Valid && valid[p.Rate] >= supported {
			out = append(out, Step{p.Rate, p.Repeat, p.Response.P99.Seconds(), p.OK})
		}
	}
	return out
}

// Hot is one key that everybody wants: at most 1 / (hold + what the hold takes longer
// than asked for + hand-off).
type Hot struct {
	HandOff   Estimate      `json:"handoff_s"`
	Hold      time.Duration `json:"hold_ns"`
	Over      Estimate      `json:"overhold_s"` // by how much holds outlasted what was asked for
	Measured  Estimate      `json:"measured"`   // pairs per second
	Predicted Estimate      `json:"predicted"`  // from the hand-off without any hold
	Pairs     int64         `json:"pairs"`      // that Measured counts, in all repeats
}

// An Effect is what one change does to a throughput.
type Effect struct {
	Name   string   `json:"name"`
	Of     string   `json:"of"`              // the load that is compared
	Change Estimate `json:"change"`          // −0.46 is 46 % less
	Pairs  int64    `json:"pairs,omitempty"` // of the load that had fewer, in all repeats
}

// A Lease is the TTL that covers what was measured; the parts are the largest
// of the repeats' Tails.
type Lease struct {
	TTL     Estimate      `json:"ttl_s"`
	Hold    time.Duration `json:"hold_ns"`
	Pause   time.Duration `json:"pause_ns"`
	Acquire time.Duration `json:"acquire_ns"`
	Samples int64         `json:"samples"` // holds
}

// Recovery is what a lost majority leaves behind at the recommended rate.
type Recovery struct {
	Outage    time.Duration `json:"outage_ns"`
	Rate      float64       `json:"rate"`
	Capacity  Estimate      `json:"capacity"` // on the same links, saturated
	Backlog   Estimate      `json:"backlog"`
	Predicted struct {
		Backlog float64 `json:"backlog"`
		Drain   float64 `json:"drain_s"`
	} `json:"predicted"`
	Felt     *Failure `json:"felt,omitempty"`
	Back     Estimate `json:"back_s"` // until arrivals meet the objective again
	Timeline []Moment `json:"timeline"`
}

// A Moment is a slice of a recovery: the requests that were due in it.
type Moment struct {
	At    float64 `json:"at_s"` // since the majority was lost
	P99   float64 `json:"p99_s"`
	Count int     `json:"count"`
}

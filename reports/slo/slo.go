// Package slo reads service level objectives such as "acquire.p99<50ms" and
// holds them against what a run measured.
package slo

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locktorture/reports/stats"
	"locktorture/reports/unit"
)

// An Objective is one demand on a run.
type Objective struct {
	metric metric
	name   string
	op     string
	bound  float64 // nanoseconds, a ratio, or a plain number
}

// A Result is an objective held against a run.
type Result struct {
	SLO      string  `json:"slo"`
	OK       bool    `json:"ok"`
	Observed string  `json:"observed"`
	Value    float64 `json:"value"` // nanoseconds, a ratio, or a plain number
}

// Parse reads one objective: a metric, one of < <= > >=, and a bound in the
// metric's unit.
func Parse(text string) (Objective, error) {
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return Objective{}, fmt.Errorf("slo %q: want METRIC < BOUND, with one of < <= > >=", text)
	}
	op := text[at : at+1]
	rest := text[at+1:]
	if strings.HasPrefix(rest, "=") {
		op, rest = op+"=", rest[1:]
	}
	name := strings.TrimSpace(text[:at])
	m, err := find(name)
	if err != nil {
		return Objective{}, fmt.Errorf("slo %q: %w", text, err)
	}
	bound, err := m.kind.parse(strings.TrimSpace(rest))
	if err != nil {
		return Objective{}, fmt.Errorf("slo %q: %w", text, err)
	}
	return Objective{metric: m, name: name, op: op, bound: bound}, nil
}

// ParseAll reads several objectives and reports every error.
func ParseAll(texts []string) ([]Objective, error) {
	var out []Objective
	var errs []error
	for _, text := range texts {
		o, err := Parse(text)
		out, errs = append(out, o), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return out, nil
}

// String writes the objective in the form in which results show it.
func (o Objective) String() string {
	return fmt.Sprintf("%s %s %s", o.name, o.op, o.metric.kind.format(o.bound))
}

// AcquireP99 returns the bound on the p99 of all acquires that o sets, or 0.
func (o Objective) AcquireP99() time.Duration {
	if o.name == "acquire.p99" && strings.HasPrefix(o.op, "<") {
		return time.Duration(o.bound)
	}
	return 0
}

// NothingMeasured is what is observed where nothing was measured of a metric.
const NothingMeasured = "nothing measured"

// Evaluate holds o against s. A metric of which nothing was measured misses
// its objective.
func (o Objective) Evaluate(s *stats.Summary) Result {
	value, ok := o.metric.value(s)
	if !ok {
		return Result{SLO: o.String(), Observed: NothingMeasured}
	}
	r := Result{SLO: o.String(), OK: o.holds(value), Observed: o.metric.kind.format(value), Value: value}
	if o.metric.atLeast != nil && o.metric.atLeast(s) {
		// Nobody knows how long what was never served would have taken.
		r.OK = r.OK && strings.HasPrefix(o.op, ">")
		r.Observed = "> " + r.Observed + ", with " + unit.Percent(1-float64(s.Response.Failed)/float64(s.Response.Count)) + " of the demand served"
	}
	return r
}

// EvaluateAll holds every objective against s.
func EvaluateAll(all []Objective, s *stats.Summary) []Result {
	var out []Result
	for _, o := range all {
		out = append(out, o.Evaluate(s))
	}
	return out
}

// Met reports whether every objective was met.
func Met(results []Result) bool {
	for _, r := range results {
		if !r.OK {
			return false
		}
	}
	return true
}

func (o Objective) holds(v float64) bool {
	switch o.op {
	case "<":
		return v < o.bound
	case "<=":
		return v <= o.bound
	case ">":
		return v > o.bound
	default:
		return v >= o.bound
	}
}

// A kind is what a metric counts in.
type kind int

const (
	duration kind = iota
	ratio
	number
)

func (k kind) parse(s string) (float64, error) {
	switch k {
	case duration:
		d, err := time.ParseDuration(strings.ReplaceAll(s, " ", ""))
		if err != nil || d < 0 {
			return 0, fmt.Errorf("bound %q is not a duration such as 50ms or 2s", s)
		}
		return float64(d), nil
	case ratio:
		text, percent := strings.CutSuffix(s, "%")
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if percent {
			x /= 100
		}
		if err != nil || !(x >= 0 && x <= 1) {
			return 0, fmt.Errorf("bound %q is not a share such as 0.1%% or 0.001", s)
		}
		return x, nil
	default:
		x, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSuffix(s, "/s"), " ", ""), 64)
		if err != nil || !(x >= 0 && x < 1e18) {
			return 0, fmt.Errorf("bound %q is not a number such as 100", s)
		}
		return x, nil
	}
}

func (k kind) format(v float64) string {
	switch k {
	case duration:
		if d := time.Duration(v); d%time.Millisecond == 0 {
			return unit.Setting(d)
		}
		return unit.Latency(time.Duration(v))
	case ratio:
		return unit.Percent(v)
	default:
		return unit.Number(v)
	}
}

package slo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locktorture/reports/stats"
)

// A metric reads one figure off a run; ok is false when nothing was measured.
type metric struct {
	kind  kind
	value func(s *stats.Summary) (v float64, ok bool)

	// atLeast says that the value is but a lower bound; nil: it never is.
	atLeast func(s *stats.Summary) bool
}

// Metrics names what an objective may speak of; the series among them take a
// phase and need a quantile.
func Metrics() []string {
	names := slices.Sorted(maps.Keys(plain))
	return append(names, "SERIES[.PHASE].QUANTILE with SERIES one of "+strings.Join(seriesNames(), " ")+
		", PHASE one of quiet faulted recovering, QUANTILE one of "+strings.Join(quantileNames, " "))
}

// served is the share of the demand that was served.
func served(s *stats.Summary) (float64, bool) {
	if s.Demand.Judged() == 0 {
		return 0, false
	}
	return float64(s.Demand.Served) / float64(s.Demand.Judged()), true
}

// plain are the metrics without a quantile.
var plain = map[string]metric{
	"error":     share(func(o stats.Outcomes) int64 { return o.Error }),
	"unknown":   share(func(o stats.Outcomes) int64 { return o.Unknown }),
	"contended": share(func(o stats.Outcomes) int64 { return o.Contended }),

	"served": {kind: ratio, value: served},

	"grants/s":   {kind: number, value: func(s *stats.Summary) (float64, bool) { return s.GrantsPerSecond(), s.Measured() > 0 }},
	"attempts/s": {kind: number, value: func(s *stats.Summary) (float64, bool) { return s.AttemptsPerSecond(), s.Measured() > 0 }},
	"grants":     {kind: number, value: func(s *stats.Summary) (float64, bool) { return float64(s.Outcomes.Acquired), true }},
	"dropped":    {kind: number, value: func(s *stats.Summary) (float64, bool) { return float64(s.Dropped), true }},
	"jain":       {kind: number, value: func(s *stats.Summary) (float64, bool) { return s.Fairness.Jain, s.Outcomes.Acquired > 0 }},

	"longest_wait": {kind: duration, value: func(s *stats.Summary) (float64, bool) {
		return float64(s.Fairness.LongestWait), s.Outcomes.Acquired > 0
	}},
	"gap": {kind: duration, value: func(s *stats.Summary) (float64, bool) {
		if len(s.Gaps) == 0 {
			return 0, false
		}
		return float64(s.Gaps[0].Length()), true
	}},
	"recovery": {kind: duration, value: recovery},
}

func share(of func(stats.Outcomes) int64) metric {
	return metric{kind: ratio, value: func(s *stats.Summary) (float64, bool) {
		if s.Outcomes.Attempts() == 0 {
			return 0, false
		}
		return float64(of(s.Outcomes)) / float64(s.Outcomes.Attempts()), true
	}}
}

// recovery is the longest time from a fault's end to the next grant. A fault
// after which nothing was granted counts the rest of the run.
func recovery(s *stats.Summary) (float64, bool) {
	worst, any := time.Duration(0), false
	for _, f := range s.Faults {
		end := f.End()
		if end == stats.Never {
			continue
		}
		any = true
		if f.FirstGrant == stats.Never {
			worst = max(worst, s.To-end)
		}
		worst = max(worst, f.FirstGrant)
	}
	return float64(worst), any
}

var quantileNames = []string{"p50", "p90", "p99", "p99.9", "p99.99", "max", "mean"}

func quantile(q stats.Quantiles, name string) (time.Duration, bool) {
	switch name {
	case "p50":
		return q.P50, true
	case "p90":
		return q.P90, true
	case "p99":
		return q.P99, true
	case "p99.9":
		return q.P999, true
	case "p99.99":
		return q.P9999, true
	case "max":
		return q.Max, true
	case "mean":
		return q.Mean, true
	}
	return 0, false
}

// ranks are where in the order the quantiles stand; the mean depends on all.
var ranks = map[string]float64{"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999, "max": 1, "mean": 1}

// response is a quantile of the acquires, over all that was asked for.
func response(name string) metric {
	return metric{
		kind: duration,
		value: func(s *stats.Summary) (float64, bool) {
			d, _ := quantile(s.Response.Quantiles, name)
			return float64(d), s.Response.Count > 0
		},
		atLeast: func(s *stats.Summary) bool { return s.Response.AtLeast(ranks[name]) },
	}
}

const lag = "lag"

func seriesNames() []string {
	var names []string
	for _, s := range stats.AllSeries {
		names = append(names, string(s))
	}
	return append(names, lag)
}

func find(name string) (metric, error) {
	if m, ok := plain[name]; ok {
		return m, nil
	}
	series, rest, dotted := strings.Cut(name, ".")
	if !slices.Contains(seriesNames(), series) {
		return metric{}, fmt.Errorf("metric %q is unknown: want one of %s", name, strings.Join(Metrics(), ", "))
	}
	phase := stats.All
	for _, p := range stats.Phases {
		if tail, ok := strings.CutPrefix(rest, p.String()+"."); ok {
			phase, rest = p.String(), tail
		}
	}
	if !dotted || !slices.Contains(quantileNames, rest) {
		return metric{}, fmt.Errorf("metric %q wants a quantile, such as %s.p99: one of %s", name, series, strings.Join(quantileNames, " "))
	}
	if series == lag && phase != stats.All {
		return metric{}, fmt.Errorf("metric %q: the lag is not told apart by phase", name)
	}
	if stats.Series(series) == stats.Acquire && phase == stats.All {
		return response(rest), nil
	}
	return metric{kind: duration, value: func(s *stats.Summary) (float64, bool) {
		q := s.Lag
		if series != lag {
			q = s.Find(stats.Series(series), phase)
		}
		d, _ := quantile(q, rest)
		return float64(d), q.Count > 0
	}}, nil
}

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
}

// Metrics names what an objective may speak of; the series among them take a
// phase and need a quantile.
func Metrics() []string {
	names := slices.Sorted(maps.Keys(plain))
	return append(names, "SERIES[.PHASE].QUANTILE with SERIES one of "+strings.Join(seriesNames(), " ")+
		", PHASE one of quiet faulted recovering, QUANTILE one of "+strings.Join(quantileNames, " "))
}

// plain are the metrics without a quantile.
var plain = map[string]metric{
	"error":     share(func(o stats.Outcomes) int64 { return o.Error }),
	"unknown":   share(func(o stats.Outcomes) int64 { return o.Unknown }),
	"contended": share(func(o stats.Outcomes) int64 { return o.Contended }),

	"grants/s":   {number, func(s *stats.Summary) (float64, bool) { return s.GrantsPerSecond(), s.Measured() > 0 }},
	"attempts/s": {number, func(s *stats.Summary) (float64, bool) { return s.AttemptsPerSecond(), s.Measured() > 0 }},
	"grants":     {number, func(s *stats.Summary) (float64, bool) { return float64(s.Outcomes.Acquired), true }},
	"dropped":    {number, func(s *stats.Summary) (float64, bool) { return float64(s.Dropped), true }},
	"jain":       {number, func(s *stats.Summary) (float64, bool) { return s.Fairness.Jain, s.Outcomes.Acquired > 0 }},

	"longest_wait": {duration, func(s *stats.Summary) (float64, bool) {
		return float64(s.Fairness.LongestWait), s.Outcomes.Acquired > 0
	}},
	"gap": {duration, func(s *stats.Summary) (float64, bool) {
		if len(s.Gaps) == 0 {
			return 0, false
		}
		return float64(s.Gaps[0].Length()), true
	}},
	"recovery": {duration, recovery},
}

func share(of func(stats.Outcomes) int64) metric {
	return metric{ratio, func(s *stats.Summary) (float64, bool) {
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
	return metric{duration, func(s *stats.Summary) (float64, bool) {
		q := s.Lag
		if series != lag {
			q = s.Find(stats.Series(series), phase)
		}
		d, _ := quantile(q, rest)
		return float64(d), q.Count > 0
	}}, nil
}

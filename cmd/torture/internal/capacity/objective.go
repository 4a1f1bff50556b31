package capacity

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/reports/slo"
	"locktorture/reports/stats"
	"locktorture/workload/history"
	"locktorture/workload/load"
)

// measured is a load's result as objectives read it.
func measured(r *load.Result) *stats.Summary {
	m := &stats.Summary{To: r.Window, Duration: r.Window, Dropped: r.Dropped, Lag: stats.QuantilesOfAll(slices.Clone(r.Lag))}
	for series, all := range map[stats.Series][]time.Duration{
		stats.AcquireService: r.Service, stats.Release: r.Release, stats.Extend: r.Extend,
	} {
		m.Latency = append(m.Latency, stats.Latency{Series: series, Phase: stats.All, Quantiles: stats.QuantilesOfAll(slices.Clone(all))})
	}
	unserved := r.CutOff - r.Pending
	m.Outcomes = stats.Outcomes{
		Acquired:  max(int64(len(r.Response))-r.Refused-unserved-r.Errors, 0),
		Contended: r.Refused + unserved, Error: r.Errors,
	}
	m.Demand = history.Demand{
		Offered: r.Offered, Served: m.Outcomes.Acquired, Dropped: r.Dropped, Abandoned: r.Refused + r.Errors, Unserved: unserved, Pending: r.Pending,
	}
	all := slices.Clone(r.Response)
	for range r.Dropped {
		all = append(all, r.Window) // nobody knows how long: beyond all that were served
	}
	m.Response = stats.Response{Quantiles: stats.QuantilesOfAll(all), Failed: m.Demand.Failed()}
	m.Fairness = stats.Fairness{Jain: stats.Jain(r.Grants), LongestWait: m.Response.Max}
	return m
}

// measurable refuses objectives that a load without faults, of acquires and releases
// alone, says nothing about: every rate would miss them.
func measurable(objectives []slo.Objective) error {
	some := []time.Duration{time.Millisecond}
	sample := measured(&load.Result{
		Window: time.Second, Response: some, Service: some, Release: some, Lag: some, Grants: []int64{1}, Pairs: 1, Offered: 1,
	})
	var errs []error
	for _, o := range objectives {
		toldApart := !strings.HasPrefix(o.String(), "unknown ") // a load counts these among the errors
		if r := o.Evaluate(sample); r.Observed == slo.NothingMeasured || !toldApart {
			errs = append(errs, fmt.Errorf("--slo %q: capacity measures no such thing: want an objective on acquire, service, release, lag, served, error, contended, grants/s, dropped, jain or longest_wait", o))
		}
	}
	return errors.Join(errs...)
}

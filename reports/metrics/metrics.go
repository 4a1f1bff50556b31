// Package metrics offers a run's live figures to Prometheus.
package metrics

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"locktorture/reports/stats"
)

// Dashboard is a Grafana dashboard of these metrics, as JSON to import.
//
//go:embed dashboard.json
var Dashboard []byte

// A collector reads the figures off a run whenever it is asked.
type collector struct {
	snap func() stats.Snapshot

	attempts, latency, lag, dropped, keys, held, faults, active, alarms, workers *prometheus.Desc
}

func newCollector(snap func() stats.Snapshot, run prometheus.Labels) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("torture_"+name, help, labels, run)
	}
	return &collector{
		snap:     snap,
		attempts: desc("acquire_attempts_total", "Acquire attempts by outcome.", "outcome"),
		latency:  desc("acquire_latency_seconds", "Latency of granted acquires in the main phase, from their intended start.", "quantile"),
		lag:      desc("lag_seconds", "The harness's own scheduling lag, 99th percentile."),
		dropped:  desc("dropped_arrivals_total", "Arrivals that found the backlog full."),
		keys:     desc("keys", "Keys seen so far."),
		held:     desc("keys_held", "Keys that somebody holds."),
		faults:   desc("faults_total", "Faults begun."),
		active:   desc("fault_active", "1 for every fault in force.", "fault", "target"),
		alarms:   desc("alarms_total", "What the judge has found while the run goes on, or the fence prevented.", "kind"),
		workers:  desc("worker_grants_total", "Locks granted to the clients of a worker.", "worker"),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.attempts, c.latency, c.lag, c.dropped, c.keys, c.held, c.faults, c.active, c.alarms, c.workers} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := c.snap()
	send := func(d *prometheus.Desc, t prometheus.ValueType, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, t, v, labels...)
	}
	count := func(d *prometheus.Desc, v int64, labels ...string) {
		send(d, prometheus.CounterValue, float64(v), labels...)
	}
	count(c.attempts, s.Outcomes.Acquired, "acquired")
	count(c.attempts, s.Outcomes.Contended, "contended")
	count(c.attempts, s.Outcomes.Error, "error")
	count(c.attempts, s.Outcomes.Unknown, "unknown")
	for quantile, d := range map[string]time.Duration{"0.5": s.P50, "0.99": s.P99, "1": s.Max} {
		send(c.latency, prometheus.GaugeValue, d.Seconds(), quantile)
	}
	send(c.lag, prometheus.GaugeValue, s.LagP99.Seconds())
	count(c.dropped, s.Dropped)
	send(c.keys, prometheus.GaugeValue, float64(s.Keys))
	send(c.held, prometheus.GaugeValue, float64(s.Held))
	count(c.faults, int64(s.Faults))
	for f := range distinct(s.Active) {
		send(c.active, prometheus.GaugeValue, 1, f.name, f.target)
	}
	for worker, n := range s.Grants {
		count(c.workers, n, worker)
	}
	if s.Later { // nobody looks for them yet
		return
	}
	count(c.alarms, int64(s.Found.DoubleGrants), "double_grant")
	count(c.alarms, int64(s.Found.StaleAccepted), "stale_write_accepted")
	count(c.alarms, int64(s.Found.TokenRegressions), "token_regression")
	count(c.alarms, int64(s.Found.FenceSaves), "fence_save")
}

type fault struct{ name, target string }

// distinct is the set of faults in force: two alike at once are one series.
func distinct(active []stats.Active) map[fault]bool {
	set := map[fault]bool{}
	for _, f := range active {
		set[fault{f.Name, f.Target}] = true
	}
	return set
}

// Handler answers /metrics with what snap says at that moment, and
// /dashboard.json with Dashboard. The labels (scenario, lock, seed) stand on
// every metric.
func Handler(snap func() stats.Snapshot, run map[string]string) (http.Handler, error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(newCollector(snap, run)); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /dashboard.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(Dashboard) // a reader may leave
	})
	return mux, nil
}

// closing bounds how long a scrape may take once the run has ended.
const closing = time.Second

// Serve answers on l until ctx ends, and closes it.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		err = server.Shutdown(stop)
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
	}
	if err != nil {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}

package redlock_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"locktorture/lockimpl/redlock"
)

// metrics is an Observer for Prometheus. A key is no label: there may be
// millions of them.
type metrics struct {
	took *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) metrics {
	m := metrics{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "lock_operation_seconds", Help: "What was asked of locks, and how long it took.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
	}, []string{"op", "result"})}
	r.MustRegister(m.took)
	return m
}

// Observe implements redlock.Observer.
func (m metrics) Observe(_ context.Context, e redlock.Event) {
	m.took.WithLabelValues(string(e.Op), result(e.Err)).Observe(e.Ended.Sub(e.Began).Seconds())
}

func result(err error) string {
	for of, name := range map[error]string{
		nil: "ok", redlock.ErrHeld: "held", redlock.ErrLost: "lost", redlock.ErrNoQuorum: "no quorum", redlock.ErrUnknown: "unknown",
	} {
		if errors.Is(err, of) {
			return name
		}
	}
	return "error"
}

func ExampleObserver() {
	clients, stop := exampleServers(1)
	defer stop()
	registry := prometheus.NewRegistry()
	lock, err := redlock.New(redlock.Config{Observer: newMetrics(registry)}, clients...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Close()
	err = lock.Do(context.Background(), "k", func(context.Context, uint64) error { return nil })
	families, gatherErr := registry.Gather()
	if err != nil || gatherErr != nil {
		fmt.Println(err, gatherErr)
		return
	}
	for _, series := range families[0].GetMetric() {
		fmt.Println(series.GetLabel()[0].GetValue(), series.GetLabel()[1].GetValue(), series.GetHistogram().GetSampleCount())
	}
	// Output:
	// acquire ok 1
	// release ok 1
}

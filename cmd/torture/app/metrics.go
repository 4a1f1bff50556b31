package app

import (
	"context"
	"fmt"
	"io"
	"net"

	"locktorture/cmd/torture/internal/run"
	"locktorture/reports/metrics"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/history/printable"
)

// listen opens the address for scrapes before the run begins; nil without one.
func (o output) listen(ctx context.Context) (net.Listener, error) {
	if o.metrics == "" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.metrics)
	if err != nil {
		return nil, fmt.Errorf("--metrics-addr %s: %w", o.metrics, err)
	}
	return l, nil
}

// offer answers scrapes until ctx ends. Its trouble ends no run.
func offer(ctx context.Context, l net.Listener, trouble io.Writer, b run.Beginning, snapshot func() stats.Snapshot) {
	h, err := metrics.Handler(snapshot, map[string]string{
		"scenario": printable.Line(b.Meta.Scenario), "lock": printable.Line(b.Meta.Lock), "seed": unit.Seed(b.Meta.Seed),
	})
	if err == nil {
		err = metrics.Serve(ctx, l, h)
	}
	if err != nil {
		fmt.Fprintln(trouble, "torture: --metrics-addr:", err)
	}
}

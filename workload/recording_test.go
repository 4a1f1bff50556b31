package workload

import (
	"context"
	"io"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload/history"
)

// BenchmarkCycle measures what the harness itself costs: cycles of acquire and
// release (four events) on a lock that costs nothing. Set beside a lock's own
// time per pair, the differences between the cases are the cost of recording.
func BenchmarkCycle(b *testing.B) {
	jsonLines, err := history.NewWriter(io.Discard, history.Header{})
	if err != nil {
		b.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		sinks []history.Sink
	}{
		{"no sink", nil},
		{"counting", []history.Sink{history.SinkFunc(func(*history.Event) {})}},
		{"in memory", []history.Sink{&ring{}}},
		{"JSON lines", []history.Sink{jsonLines}},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			cycles(b, history.NewRecorder(test.sinks...), b.N)
		})
	}
}

// A ring keeps the last events.
type ring struct {
	events [1 << 16]history.Event
	n      int
}

func (r *ring) Event(e *history.Event) {
	r.events[r.n%len(r.events)] = *e
	r.n++
}

func cycles(b *testing.B, rec *history.Recorder, n int) {
	ctx, cancel := context.WithCancel(b.Context())
	c := &Client{
		Name: "a",
		Connect: func(context.Context) (*Conn, error) {
			return &Conn{Locker: free{}, Close: func() error { return nil }}, nil
		},
	}
	gates := 0
	c.Pause = func(context.Context) error { // passed twice a cycle
		if gates++; gates > 2*n {
			cancel()
		}
		return nil
	}
	cfg := Config{Keys: 16, TTL: time.Minute, Writes: 1}.WithDefaults()
	if err := c.start(ctx); err != nil {
		b.Fatal(err)
	}
	p := &phase{name: history.PhaseMain, cfg: cfg, rec: rec, over: ctx.Done()}
	b.ResetTimer()
	if err := p.employ(ctx, []*Client{c}, cancel); err != nil {
		b.Fatal(err)
	}
}

// free is a lock that grants everything at no cost.
type free struct{}

func (free) Close() error { return nil }
func (free) Acquire(context.Context, string, time.Duration) (lockimpl.Lease, error) {
	return free{}, nil
}
func (free) Fence() uint64                               { return 1 }
func (free) ValidUntil() time.Time                       { return time.Time{} }
func (free) Extend(context.Context, time.Duration) error { return nil }
func (free) Release(context.Context) error               { return nil }

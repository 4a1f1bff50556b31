package faults

import (
	"context"
	"math/rand/v2"
	"time"

	"locktorture/faults/link"
)

// defaultDelay is the share of the TTL by which latency delays each packet.
const defaultDelay = 40

// latency delays every packet.
type latency struct{ roadFault }

func newLatency(name string) func(Params) Fault {
	return func(p Params) Fault { return latency{roadFault{Params: p, name: name, kind: link.Delay}} }
}

func (f latency) Inject(ctx context.Context, t *Target, rng *rand.Rand) (Injection, error) {
	if f.Delay == 0 {
		f.Delay = max(t.TTL/defaultDelay, time.Millisecond)
	}
	if f.Jitter == 0 {
		f.Jitter = f.Delay / 2
	}
	return f.roadFault.Inject(ctx, t, rng)
}
